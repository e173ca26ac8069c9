//! Entities of the plugin admin API: desired state, observed state on this node, and metrics.

mod declared;
mod observed;

use std::collections::BTreeMap;
use std::path::Path;

use rookery_plugin_host::LoadError;
use serde::Serialize;
use serde_json::{Map, Value};

use self::declared::statements;
use self::observed::{breakers, quotas};
use crate::admin::installed::InstalledPlugin;
use crate::admin::outbox::Outbox;
use crate::life::State;
use crate::life::observed::Observed;
use crate::{Active, Cx};
use plugin_package::Package;
use plugin_package::manifest::Manifest;
use store::plugin::Install;

pub(crate) use self::declared::schedules;
pub use self::declared::{CleanupRow, HookRow, PageRow, RouteRow, ScheduleRow, SearchRow, StatementRow};
pub use self::observed::{Breaker, EventRow, FailureRow, LimitRow, LogLine, OrderRow, ParkedRow, QuotaRow, Usage};

/// One row of the list.
#[derive(Debug, Serialize)]
pub struct Plugin {
    pub name: String,
    pub title: Option<String>,
    pub version: Option<String>,
    pub enabled: bool,
    /// State on this node: `active`, `disabled`, `failed` …; `unknown` before the first reconciliation.
    pub state: &'static str,
    pub since: Option<String>,
    /// The registry's generation since which it is active.
    pub generation: Option<u64>,
    /// SHA-256 of the component.
    pub sha256: Option<String>,
    /// SHA-256 of the package.
    pub digest: Option<String>,
    pub origin: Option<String>,
    /// An admin accepted a package of it before.
    pub accepted: bool,
    /// The public key that its packages must be signed with.
    pub key: Option<String>,
    /// Where it was installed from.
    pub source: Option<String>,
    pub granted: Vec<String>,
    /// Permissions that the newest package asks for and that were not granted.
    pub missing: Vec<String>,
    /// The newest package, where it waits for an admin to accept it.
    pub waiting: Option<Waiting>,
    /// Why it is not loaded.
    pub error: Option<Problem>,
    /// The package that it was rolled back from, or that failed: it is not tried again by itself.
    pub rolled_back: Option<RolledBack>,
}

/// A package that was rolled back from.
#[derive(Debug, Serialize)]
pub struct RolledBack {
    /// Its version, if its package is still there or this process rolled it back.
    pub version: Option<String>,
    /// Its SHA-256.
    pub digest: String,
    /// Why, if this process rolled it back by itself.
    pub sentence: Option<String>,
}

impl RolledBack {
    fn of(known: &InstalledPlugin, observed: &Observed) -> Option<Self> {
        let digest = known.plugin.refused.clone()?;
        known.plugin.sha256.as_ref().filter(|accepted| **accepted != digest)?;
        let event = observed.history.iter().rev().find(|event| event.digest == digest);
        let reason = event.filter(|event| event.what == "rolled back").and_then(|event| event.sentence.clone());
        let version = event.map(|event| event.version.clone()).or_else(|| known.refused.clone());
        Some(Self { version, digest, sentence: reason })
    }
}

/// A package that waits to be accepted.
#[derive(Debug, Serialize)]
pub struct Waiting {
    pub version: String,
    /// Its SHA-256.
    pub digest: String,
}

/// The stage that failed, and why.
#[derive(Debug, Serialize)]
pub struct Problem {
    pub stage: String,
    pub sentence: String,
}

/// All details of one plugin.
#[derive(Debug, Serialize)]
pub struct Detail {
    #[serde(flatten)]
    pub plugin: Plugin,
    pub description: Option<String>,
    pub license: Option<String>,
    pub routes: Vec<RouteRow>,
    pub pages: Vec<PageRow>,
    pub hooks: Vec<HookRow>,
    pub searches: Vec<SearchRow>,
    pub cleanups: Vec<CleanupRow>,
    pub schedules: Vec<ScheduleRow>,
    pub commands: Vec<String>,
    pub statements: Vec<StatementRow>,
    pub limits: Option<LimitRow>,
    /// The limits that the admin set.
    pub limits_set: Value,
    pub usage: Option<Usage>,
    /// The storage that the plugin uses on the server, with its quota for each kind.
    pub quotas: Vec<QuotaRow>,
    pub breakers: Vec<Breaker>,
    pub config: Value,
    pub config_version: i64,
    /// Secrets that the manifest names, and whether each is set.
    pub secrets: BTreeMap<String, bool>,
    /// Events in the outbox that wait for delivery.
    pub events_waiting: i64,
    /// Dead letters: events parked until an admin has them retried.
    pub events_parked: i64,
    /// The first of the parked events.
    pub parked: Vec<ParkedRow>,
    pub failures_count: u64,
    /// Newest first.
    pub failures: Vec<FailureRow>,
    /// Newest first.
    pub history: Vec<EventRow>,
    /// The packages that were installed by a command, newest first.
    pub installs: Vec<Install>,
}

impl Plugin {
    /// The list row of a plugin.
    #[must_use]
    pub fn new(cx: &Cx, known: &InstalledPlugin) -> Self {
        let name = &known.plugin.name;
        let active = cx.plugins.latest().find(name).cloned();
        let observed = cx.plugins.observed.of(name);
        let package = known.package.as_ref().ok().and_then(Option::as_ref);
        let manifest = manifest(active.as_deref(), package);
        let error = match (observed.state(), &known.package) {
            (Some(State::Failed(fault)), _) => Some(fault.into()),
            (None, Err(fault)) => Some(fault.into()),
            _ => None,
        };
        Self {
            name: name.clone(),
            title: manifest.map(|manifest| manifest.plugin.title.clone()),
            version: manifest.map(|manifest| manifest.plugin.version.clone()).or_else(|| known.plugin.version.clone()),
            enabled: known.plugin.enabled,
            state: state(known, active.is_some(), &observed),
            since: observed.since.map(|at| at.to_api()),
            generation: active.as_ref().map(|active| active.generation),
            sha256: active.as_ref().map(|active| active.sha256.clone()).or_else(|| package.map(|p| p.sha256.clone())),
            digest: active.as_ref().map(|active| active.digest.clone()).or_else(|| package.map(|p| p.digest.clone())),
            origin: active
                .as_ref()
                .map(|active| &active.origin)
                .or(package.map(|p| &p.origin))
                .map(ToString::to_string),
            accepted: known.plugin.sha256.is_some(),
            key: known.plugin.public_key.clone(),
            source: known.plugin.source.clone(),
            granted: known.plugin.granted.0.clone(),
            missing: known.missing.iter().cloned().collect(),
            waiting: known.waiting.as_ref().map(Waiting::from),
            error,
            rolled_back: RolledBack::of(known, &observed),
        }
    }
}

fn state(known: &InstalledPlugin, serves: bool, observed: &Observed) -> &'static str {
    if known.is_uninstalled() {
        return "uninstalled";
    }
    match observed.state() {
        Some(state) => state.as_str(),
        None if serves => State::Active.as_str(),
        None if !known.plugin.enabled => State::Disabled.as_str(),
        None => "unknown",
    }
}

/// The manifest of the active generation, else of the package that would be loaded.
fn manifest<'a>(active: Option<&'a Active>, package: Option<&'a Package>) -> Option<&'a Manifest> {
    active.map(|active| &active.manifest).or(package.map(|package| &package.manifest))
}

impl Detail {
    /// The details of a plugin.
    #[must_use]
    pub fn new(cx: &Cx, known: &InstalledPlugin, outbox: &Outbox) -> Self {
        let name = &known.plugin.name;
        let active = cx.plugins.latest().find(name).cloned();
        let observed = cx.plugins.observed.of(name);
        // For a plugin that was never accepted, the package in the folder is shown, so that an admin can review it.
        let package = known.package.as_ref().ok().and_then(Option::as_ref).or(known.waiting.as_ref());
        let manifest = manifest(active.as_deref(), package);
        let rows = |list: fn(&Manifest) -> Vec<String>| manifest.map(list).unwrap_or_default();
        let secrets = rows(|manifest| manifest.permissions.secrets.clone()).into_iter();
        let component = active.as_ref().map(|active| &active.component);
        Self {
            plugin: Plugin::new(cx, known),
            description: manifest.map(|manifest| manifest.plugin.description.clone()),
            license: manifest.map(|manifest| manifest.plugin.license.clone()),
            routes: manifest.map(|manifest| manifest.routes.iter().map(RouteRow::from).collect()).unwrap_or_default(),
            pages: manifest.map(|manifest| manifest.pages.iter().map(PageRow::from).collect()).unwrap_or_default(),
            hooks: manifest.map(|manifest| manifest.hooks.iter().map(HookRow::from).collect()).unwrap_or_default(),
            searches: manifest
                .map(|manifest| manifest.searches.iter().map(SearchRow::from).collect())
                .unwrap_or_default(),
            cleanups: manifest
                .map(|manifest| manifest.cleanups.iter().map(CleanupRow::from).collect())
                .unwrap_or_default(),
            schedules: manifest.map(schedules).unwrap_or_default(),
            commands: rows(|manifest| manifest.commands.iter().map(|command| command.name.clone()).collect()),
            statements: active.as_deref().map(statements).unwrap_or_default(),
            limits: active.as_ref().map(|active| LimitRow::from(&active.limits)),
            limits_set: known.plugin.limits.0.clone(),
            usage: component.map(|component| Usage::from(component.stats())),
            quotas: quotas(cx, known.plugin.id, active.as_deref(), outbox),
            breakers: component.map(breakers).unwrap_or_default(),
            config: active
                .as_ref()
                .map_or_else(|| Value::Object(known.plugin.config.0.clone()), |it| it.config.0.clone()),
            config_version: known.plugin.config_version,
            secrets: secrets.map(|name| (name.clone(), is_set(&known.plugin.secrets.0, &name))).collect(),
            events_waiting: outbox.waiting,
            events_parked: outbox.parked,
            parked: outbox.first.iter().map(ParkedRow::from).collect(),
            failures_count: observed.failed,
            failures: observed.failures.iter().rev().map(FailureRow::from).collect(),
            history: observed.history.iter().rev().map(EventRow::from).collect(),
            installs: known.plugin.installs.0.iter().rev().cloned().collect(),
        }
    }
}

impl From<&Package> for Waiting {
    fn from(package: &Package) -> Self {
        Self { version: package.manifest.plugin.version.clone(), digest: package.digest.clone() }
    }
}

fn is_set(secrets: &Map<String, Value>, name: &str) -> bool {
    secrets.contains_key(name)
}

impl From<&LoadError> for Problem {
    fn from(fault: &LoadError) -> Self {
        Self { stage: fault.stage.to_string(), sentence: fault.message.clone() }
    }
}

/// The result of uninstalling a plugin.
#[derive(Debug, Serialize)]
pub struct Uninstalled {
    pub name: String,
    /// Its data was purged …
    pub purged: bool,
    /// … after it was dumped to this file on the server.
    pub dump: Option<String>,
}

impl Uninstalled {
    #[must_use]
    pub fn new(name: String, purged: bool, dump: Option<&Path>) -> Self {
        Self { name, purged, dump: dump.map(|path| path.display().to_string()) }
    }
}
