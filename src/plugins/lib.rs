//! The server's side of the plugin boundary: which plugins are installed, where they attach and what they may reach.
//!
//! Implements the core's extension port ([`context::extension`]): events arrive through the core's change log, and
//! requests no core route matches arrive through the router's fallback. Everything that runs belongs to one immutable
//! [`Registry`], pinned for the length of a request or job ([`Cx::registry`]), so that a response never mixes two
//! generations. The sandbox is the crate `rookery-plugin-host`; nothing here names wasmtime. Follows docs/plugins.md.

// That the future of loading a plugin is `Send` follows through more of wasmtime's types than the compiler looks at by default.
#![recursion_limit = "256"]

pub mod admin;
pub mod call;
mod cx;
pub mod error;
pub mod hooks;
pub mod install;
mod jobs;
pub mod life;
mod mount;
pub mod quota;
pub mod routes;
pub mod settings;
pub mod sql;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use rookery_plugin_host::{CallError, Engine, LoadError};
use serde_json::Value;
use tokio::sync::{Mutex, OnceCell};
use tokio::time::Instant;

pub use cx::{Cx, Session};
pub use life::{reload, start};
pub use mount::{administration, extra_routes};
pub use quota::{Quota, Quotas};

use crypto::Secret;
use database::Db;
use model::clock::Clock;
use plugin_package::Manifest;

/// The plugins of this process.
#[derive(Debug)]
pub struct Plugins {
    clock: Clock,
    /// The latest log lines of each plugin.
    pub logs: call::logs::Logs,
    /// State that the calls of each plugin share.
    pub calls: call::Calls,
    /// The latest requests; in development.
    pub requests: routes::RecentRequests,
    /// Responses name the plugin and generation that answered; true in development.
    pub shows_generations: AtomicBool,
    registry: ArcSwap<Registry>,
    /// Cached answers of the hook `instance-info`.
    pub said: hooks::instance::InstanceCache,
    /// Cached decorations of statuses.
    pub kept: hooks::DecorationCache,
    /// The time limits of hooks on this machine.
    pub hook_limits: hooks::budget::HookLimits,
    /// The observed state of each plugin, on this node.
    pub observed: life::observed::Observations,
    /// Plugins that are paused while their tables are migrated.
    pub pauses: life::pause::Pauses,
    /// Created when the first plugin is loaded.
    engine: OnceCell<Engine>,
    /// The settings' generation that was last reconciled.
    followed: AtomicI64,
    /// Some plugins are enabled, and another process runs them.
    elsewhere: AtomicBool,
    /// Held while plugins are loaded or unloaded.
    works: Mutex<()>,
}

impl Plugins {
    /// Without any plugin yet.
    #[must_use]
    pub fn new(clock: Clock, development: bool) -> Self {
        Self {
            clock,
            logs: call::logs::Logs::default(),
            calls: call::Calls::default(),
            requests: routes::RecentRequests::default(),
            shows_generations: AtomicBool::new(development),
            registry: ArcSwap::default(),
            said: hooks::instance::InstanceCache::default(),
            kept: hooks::DecorationCache::default(),
            hook_limits: hooks::budget::HookLimits::default(),
            observed: life::observed::Observations::default(),
            pauses: life::pause::Pauses::default(),
            engine: OnceCell::new(),
            followed: AtomicI64::new(0),
            elsewhere: AtomicBool::new(false),
            works: Mutex::new(()),
        }
    }

    /// True for a command that runs beside a server, while plugins are enabled.
    #[must_use]
    pub fn run_elsewhere(&self) -> bool {
        self.elsewhere.load(Ordering::Relaxed)
    }

    /// The current registry, even if a request pinned an older one: for code that changes it or reports on a change.
    #[must_use]
    pub fn latest(&self) -> Arc<Registry> {
        self.registry.load_full()
    }

    /// Makes `next` the current registry. Requests that have begun keep theirs.
    pub fn swap(&self, next: Registry) {
        self.registry.store(Arc::new(next));
    }

    /// Records that a call of `plugin` failed: its `kind` (`route`, `events` …) and the `name` of what was called; the
    /// plugin's log has a line of it. A call that was not admitted (breaker open, plugin busy) is only logged by the
    /// server: the failures before it are what an admin looks for.
    pub fn report(&self, plugin: &Active, kind: &str, name: &str, cause: &CallError) {
        if !cause.reached_guest() {
            tracing::debug!(plugin = plugin.name(), kind, name, %cause, "a plugin was not called");
            return;
        }
        tracing::warn!(plugin = plugin.name(), kind, name, %cause, "a plugin gave no answer");
        let failed = life::observed::FailedCall::new(self.clock.now(), kind, name, plugin.generation, cause);
        self.logs.push(plugin.name(), failed.at, call::logs::Level::Error, failed.line(), plugin.limits.log_size);
        self.observed.failed(plugin.name(), failed);
    }
}

/// All active plugins with their routes and hooks, and the absent ones that events are kept for; immutable.
#[derive(Debug, Default)]
pub struct Registry {
    /// Incremented by every load and unload.
    pub generation: u64,
    /// Sorted by name.
    pub plugins: Vec<Arc<Active>>,
    /// Enabled plugins that are not active here, sorted by id.
    pub absent: Vec<Absent>,
    /// Their routes: [`Table::build`](routes::Table::build) of `plugins`.
    pub routes: routes::Table,
    /// Their hooks: [`Hooks::build`](hooks::Hooks::build) of `plugins` and `absent`.
    pub hooks: hooks::Hooks,
}

impl Registry {
    /// The registry of `plugins`, with the tables built from all of them.
    ///
    /// # Errors
    /// At [`Stage::Conflict`](rookery_plugin_host::Stage) when two plugins claim the same route, field or name.
    pub fn build(generation: u64, mut plugins: Vec<Arc<Active>>, mut absent: Vec<Absent>) -> Result<Self, LoadError> {
        plugins.sort_by(|a, b| a.name().cmp(b.name()));
        absent.sort_by_key(|absent| absent.id);
        let routes = routes::Table::build(&plugins)?;
        let hooks = hooks::Hooks::build(&plugins, &absent)?;
        Ok(Self { generation, plugins, absent, routes, hooks })
    }

    /// The plugin called `name`, if it is active.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Arc<Active>> {
        self.plugins.iter().find(|active| active.name() == name)
    }
}

pub use model::PluginId;

/// A generation of a plugin that is active, or was when a request pinned it.
#[derive(Debug)]
pub struct Active {
    /// Its id in the database.
    pub id: PluginId,
    /// Its manifest.
    pub manifest: Manifest,
    /// SHA-256 of the component, hexadecimal.
    pub sha256: String,
    /// SHA-256 of the package, hexadecimal: differs when any file of it does.
    pub digest: String,
    /// Where the package was read.
    pub origin: plugin_package::package::Origin,
    /// The package's files by path, the manifest among them.
    pub files: BTreeMap<String, Arc<[u8]>>,
    /// The manifest's limits, overridden by the admin's.
    pub limits: plugin_package::manifest::Resolved,
    /// The secrets that the admin set, of those that the manifest names.
    pub secrets: BTreeMap<String, Secret>,
    /// The schema of each account's settings for it.
    pub settings: Option<settings::SettingsSchema>,
    /// The registry's generation that activated it.
    pub generation: u64,
    /// Its configuration, defaults filled in, and the version of that.
    pub config: (Value, u64),
    /// Its statements.
    pub sql: Option<sql::Statements>,
    /// Its quotas on what it keeps.
    pub quotas: Quotas,
    /// The compiled component.
    pub component: rookery_plugin_host::Plugin,
    /// Its tables changed in a way that it cannot run on.
    pub over: AtomicBool,
}

impl Active {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.manifest.plugin.name
    }

    /// Ends this generation: nothing calls it from now on, not even a request that pinned it, because its tables
    /// changed.
    pub fn end(&self) {
        self.over.store(true, Ordering::Release);
    }

    /// True after [`Active::end`].
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Waits for running calls to end, for [`life::DRAIN`] at most.
    pub async fn rest(&self) {
        let until = Instant::now() + life::DRAIN;
        while self.component.stats().running > 0 && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The text of its manifest.
    #[must_use]
    pub fn manifest_text(&self) -> &str {
        let file = self.files.get(plugin_package::package::MANIFEST);
        file.and_then(|file| std::str::from_utf8(file).ok()).unwrap_or_default()
    }
}

/// A plugin that is enabled and not active in this process: it failed, its package is missing, or it is in quarantine.
/// The outbox keeps the events it subscribes to.
#[derive(Clone, Debug)]
pub struct Absent {
    /// Its id in the database.
    pub id: PluginId,
    /// The manifest of the package that was active last, on any server.
    pub manifest: Arc<Manifest>,
    /// Its quota of events.
    pub events: Quota,
    text: String,
    /// The admin's limits.
    limits: Value,
}

impl PartialEq for Absent {
    fn eq(&self, other: &Self) -> bool {
        (self.id, &self.text, &self.limits) == (other.id, &other.text, &other.limits)
    }
}

impl Absent {
    /// The plugin with this id, by the `text` of its manifest and the limits that the admin set.
    ///
    /// # Errors
    /// When this version of the server does not accept the manifest.
    pub fn new(db: &Db, id: PluginId, text: String, limits: Value) -> Result<Self, LoadError> {
        let manifest = plugin_package::manifest::parse(&text)?;
        let set: plugin_package::manifest::Limits = serde_json::from_value(limits.clone()).unwrap_or_default();
        let resolved = set.over(&manifest.limits).resolve().unwrap_or_default();
        let quotas = Quotas::new(db, id, &manifest, &resolved);
        Ok(Self { id, manifest: Arc::new(manifest), events: quotas.events, text, limits })
    }

    /// A plugin that is about to be unloaded.
    #[must_use]
    pub fn of(active: &Active) -> Self {
        let manifest = Arc::new(active.manifest.clone());
        let (events, text) = (active.quotas.events.clone(), active.manifest_text().to_owned());
        // Unknown here: with the limits from the database it is another, and replaced at the next look.
        Self { id: active.id, manifest, events, text, limits: Value::Null }
    }
}
