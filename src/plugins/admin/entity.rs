//! Entities of the plugin admin API: desired state, observed state on this node, and metrics.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rookery_plugin_host::{BreakerState, LoadError, Stats};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::Cx;
use crate::admin::{HookPosition, InstalledPlugin, Outbox};
use crate::call::logs::Line;
use crate::life::State;
use crate::life::observed::{Event, FailedCall, Observed, milliseconds};
use crate::manifest::{Hook, Manifest, Resolved, Route};
use crate::sql::Statement;
use crate::{Active, Package, Quota};
use store::plugin::Install;
use store::plugin_event::Parked;

/// One row of the list.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "what the names say")]
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
}

/// A package that waits to be accepted.
#[derive(Debug, Serialize)]
pub struct Waiting {
    /// Its version.
    pub version: String,
    /// Its SHA-256.
    pub digest: String,
}

/// The stage that failed, and why.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "what the names say")]
pub struct Problem {
    pub stage: String,
    pub sentence: String,
}

/// All details of one plugin.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "what the names say")]
pub struct Detail {
    #[serde(flatten)]
    pub plugin: Plugin,
    pub description: Option<String>,
    pub license: Option<String>,
    pub routes: Vec<RouteRow>,
    pub hooks: Vec<HookRow>,
    pub schedules: Vec<ScheduleRow>,
    pub commands: Vec<String>,
    pub statements: Vec<StatementRow>,
    pub limits: Option<LimitRow>,
    /// The limits that the admin set.
    pub limits_set: Value,
    pub usage: Option<Usage>,
    /// What the server keeps for it, beside the quotas.
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

#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "what the names say")]
pub struct ParkedRow {
    pub seq: i64,
    pub stream: String,
    pub kind: String,
    pub subject_id: Option<String>,
    pub error: Option<String>,
    pub created_at: String,
}

#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "as in the manifest")]
pub struct RouteRow {
    pub id: String,
    pub methods: Vec<String>,
    pub path: String,
    pub auth: String,
    pub scopes: Vec<String>,
    pub native: bool,
}

#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "as in the manifest")]
pub struct HookRow {
    pub on: &'static str,
    pub kinds: Vec<String>,
    pub fields: Vec<String>,
    pub priority: i32,
    pub policy: &'static str,
}

#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "as in the manifest")]
pub struct ScheduleRow {
    pub job: String,
    pub cron: String,
}

#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "what the names say")]
pub struct StatementRow {
    pub name: String,
    pub writes: bool,
    pub reads: Vec<String>,
    pub changes: Vec<String>,
}

#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "PLUGINS.md section 2.6")]
pub struct LimitRow {
    pub memory_bytes: u64,
    pub route_cpu_ms: u64,
    pub route_wall_ms: u64,
    pub hook_cpu_ms: u64,
    pub hook_wall_ms: u64,
    pub instances: u32,
    pub host_calls: u32,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub rows: u32,
    pub db_size_bytes: u64,
    pub feed_entries: u32,
    pub notifications: u32,
    pub notifications_per_hour: u32,
    pub jobs: u32,
    pub events: u32,
    pub log_lines: u32,
    pub log_size_bytes: u64,
    pub db_time_ms: u64,
}

/// One quota of what the server keeps.
#[derive(Debug, Serialize)]
pub struct QuotaRow {
    /// Its key in `[limits]`.
    pub limit: &'static str,
    /// Bytes or rows in use, as measured last, and charged since.
    pub used: u64,
    /// Most bytes or rows.
    pub most: u64,
    /// How often something was refused or dropped, on this node.
    pub refused: Option<u64>,
}

#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "figures of the sandbox, peaks beside the limits they come near to")]
pub struct Usage {
    pub calls: u64,
    pub failures: u64,
    pub instantiated: u64,
    pub recycled: u64,
    pub discarded: u64,
    pub idle: u64,
    pub running: u64,
    pub waiting: u64,
    pub cpu_ms: u64,
    pub cpu_peak_us: u64,
    pub database_ms: u64,
    pub wall_peak_us: u64,
    pub memory_peak_bytes: u64,
    pub host_calls_peak: u64,
    pub bytes_out_peak: u64,
    pub bytes_in_peak: u64,
}

#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "what the names say")]
pub struct Breaker {
    pub kind: &'static str,
    pub name: String,
    /// `closed`, `open`, or `half-open` while one call tries it again.
    pub state: &'static str,
    pub openings: usize,
}

#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "what the names say")]
pub struct FailureRow {
    pub at: String,
    pub kind: String,
    pub name: String,
    pub ended: String,
    pub message: String,
    pub generation: u64,
    pub backtrace: Vec<String>,
}

#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "what the names say")]
pub struct EventRow {
    pub at: String,
    pub what: &'static str,
    pub version: String,
    pub digest: String,
    pub generation: u64,
    pub took_ms: u64,
    #[serde(flatten)]
    pub error: Option<Problem>,
}

#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "what the names say")]
pub struct LogLine {
    pub number: u64,
    pub at: String,
    pub level: &'static str,
    pub message: String,
}

#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "as in the manifest")]
pub struct OrderRow {
    pub plugin: String,
    pub priority: i32,
    pub kinds: Vec<String>,
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
        }
    }
}

fn state(known: &InstalledPlugin, serves: bool, observed: &Observed) -> &'static str {
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
        // Of a plugin that was never accepted, what it would do is shown before someone agrees to it.
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
            hooks: manifest.map(|manifest| manifest.hooks.iter().map(HookRow::from).collect()).unwrap_or_default(),
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

impl From<&Parked> for ParkedRow {
    fn from(parked: &Parked) -> Self {
        Self {
            seq: parked.seq,
            stream: parked.stream.clone(),
            kind: parked.kind.clone(),
            subject_id: parked.subject_id.map(|id| id.to_string()),
            error: parked.last_error.clone(),
            created_at: parked.created_at.to_api(),
        }
    }
}

fn is_set(secrets: &Map<String, Value>, name: &str) -> bool {
    secrets.contains_key(name)
}

/// The quotas of a plugin; of one that is absent those of which the server keeps more meanwhile.
fn quotas(cx: &Cx, plugin: i64, active: Option<&Active>, outbox: &Outbox) -> Vec<QuotaRow> {
    let row = |quota: &Quota| QuotaRow {
        limit: quota.key(),
        used: quota.used(),
        most: quota.most(),
        refused: Some(quota.refused()),
    };
    let Some(active) = active else {
        return cx
            .plugins
            .latest()
            .absent
            .iter()
            .filter(|absent| absent.id == plugin)
            .map(|absent| row(&absent.events))
            .collect();
    };
    let (lines, dropped) = cx.plugins.logs.usage(active.name());
    let jobs = u64::try_from(outbox.jobs).unwrap_or_default();
    let counted = [
        QuotaRow { limit: "jobs", used: jobs, most: active.limits.jobs.into(), refused: None },
        QuotaRow { limit: "log-size", used: lines as u64, most: active.limits.log_size as u64, refused: Some(dropped) },
    ];
    active.quotas.all().map(row).into_iter().chain(counted).collect()
}

fn statements(active: &Active) -> Vec<StatementRow> {
    let row = |statement: &Statement| StatementRow {
        name: statement.name.clone(),
        writes: statement.writes,
        reads: statement.reads.clone(),
        changes: statement.changes.clone(),
    };
    active.sql.iter().flat_map(|sql| sql.all().into_iter().map(row)).collect()
}

pub(crate) fn schedules(manifest: &Manifest) -> Vec<ScheduleRow> {
    let row = |job: &str, cron: &str| ScheduleRow { job: job.to_owned(), cron: cron.to_owned() };
    manifest.schedules.iter().map(|schedule| row(&schedule.job, &schedule.cron)).collect()
}

fn breakers(component: &rookery_plugin_host::Plugin) -> Vec<Breaker> {
    let row = |report: rookery_plugin_host::BreakerReport| Breaker {
        kind: report.kind,
        name: report.name,
        state: breaker_state(report.state),
        openings: report.openings,
    };
    component.breakers().into_iter().map(row).collect()
}

fn breaker_state(state: BreakerState) -> &'static str {
    match state {
        BreakerState::Closed => "closed",
        BreakerState::HalfOpen => "half-open",
        BreakerState::Open => "open",
    }
}

impl From<&LoadError> for Problem {
    fn from(fault: &LoadError) -> Self {
        Self { stage: fault.stage.to_string(), sentence: fault.message.clone() }
    }
}

impl From<&Route> for RouteRow {
    fn from(route: &Route) -> Self {
        Self {
            id: route.id.clone(),
            methods: route.method.all().to_vec(),
            path: route.path.clone(),
            auth: format!("{:?}", route.auth).to_lowercase(),
            scopes: route.scopes.clone(),
            native: route.native.is_some(),
        }
    }
}

impl From<&Hook> for HookRow {
    fn from(hook: &Hook) -> Self {
        let default = crate::manifest::policies(hook.on)[0];
        Self {
            on: hook.on.as_str(),
            kinds: hook.kinds.clone(),
            fields: hook.fields.clone(),
            priority: hook.priority,
            policy: hook.policy.unwrap_or(default).as_str(),
        }
    }
}

impl From<&Resolved> for LimitRow {
    fn from(limits: &Resolved) -> Self {
        let host = &limits.host;
        Self {
            memory_bytes: host.memory as u64,
            route_cpu_ms: milliseconds(host.route_cpu),
            route_wall_ms: milliseconds(host.route_wall),
            hook_cpu_ms: milliseconds(host.hook_cpu),
            hook_wall_ms: milliseconds(host.hook_wall),
            instances: host.instances,
            host_calls: host.host_calls,
            bytes_in: host.bytes_in as u64,
            bytes_out: host.bytes_out as u64,
            rows: limits.rows,
            db_size_bytes: limits.db_size,
            feed_entries: limits.feed_entries,
            notifications: limits.notifications,
            notifications_per_hour: limits.notifications_per_hour,
            jobs: limits.jobs,
            events: limits.events,
            log_lines: limits.log_lines,
            log_size_bytes: limits.log_size as u64,
            db_time_ms: milliseconds(host.database),
        }
    }
}

impl From<Stats> for Usage {
    fn from(stats: Stats) -> Self {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        Self {
            calls: stats.calls,
            failures: stats.failures,
            instantiated: stats.instantiated,
            recycled: stats.recycled,
            discarded: stats.discarded,
            idle: stats.idle,
            running: stats.running,
            waiting: stats.waiting,
            cpu_ms: milliseconds(stats.cpu),
            cpu_peak_us: micros(stats.cpu_peak),
            database_ms: milliseconds(stats.database),
            wall_peak_us: micros(stats.wall_peak),
            memory_peak_bytes: stats.memory_peak,
            host_calls_peak: stats.host_calls_peak,
            bytes_out_peak: stats.bytes_out_peak,
            bytes_in_peak: stats.bytes_in_peak,
        }
    }
}

impl From<&FailedCall> for FailureRow {
    fn from(failed: &FailedCall) -> Self {
        Self {
            at: failed.at.to_api(),
            kind: failed.kind.clone(),
            name: failed.name.clone(),
            ended: failed.ended.clone(),
            message: failed.message.clone(),
            generation: failed.generation,
            backtrace: failed.backtrace.clone(),
        }
    }
}

impl From<&Event> for EventRow {
    fn from(event: &Event) -> Self {
        let problem =
            |(stage, sentence): (&String, &String)| Problem { stage: stage.clone(), sentence: sentence.clone() };
        Self {
            at: event.at.to_api(),
            what: event.what,
            version: event.version.clone(),
            digest: event.digest.clone(),
            generation: event.generation,
            took_ms: event.took_ms,
            error: event.stage.as_ref().zip(event.sentence.as_ref()).map(problem),
        }
    }
}

impl From<&Line> for LogLine {
    fn from(line: &Line) -> Self {
        Self { number: line.number, at: line.at.to_api(), level: line.level.as_str(), message: line.message.clone() }
    }
}

impl From<HookPosition> for OrderRow {
    fn from(placed: HookPosition) -> Self {
        let HookPosition { plugin, priority, kinds } = placed;
        Self { plugin, priority, kinds }
    }
}

/// The result of uninstalling a plugin.
#[derive(Debug, Serialize)]
pub struct Uninstalled {
    /// Its name.
    pub name: String,
    /// Its data was purged …
    pub purged: bool,
    /// … after it was dumped to this file on the server.
    pub dump: Option<String>,
}

impl Uninstalled {
    #[expect(missing_docs, reason = "its fields")]
    #[must_use]
    pub fn new(name: String, purged: bool, dump: Option<&Path>) -> Self {
        Self { name, purged, dump: dump.map(|path| path.display().to_string()) }
    }
}
