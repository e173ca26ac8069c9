//! The plugins of one process: the current registry, and the state of each room that outlives a registry.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use arc_swap::ArcSwap;
use rookery_plugin_host::{CallError, Engine};
use tokio::sync::{Mutex, OnceCell};

use crate::active::Active;
use crate::call::Calls;
use crate::call::logs::{Level, Logs};
use crate::hook_limits::HookLimits;
use crate::hooks::DecorationCache;
use crate::hooks::instance_cache::InstanceCache;
use crate::life::observed::{FailedCall, Observations};
use crate::life::pauses::Pauses;
use crate::registry::Registry;
use crate::routes::RecentRequests;
use crate::steps::Steps;
use model::clock::Clock;

/// The plugins of this process.
#[derive(Debug)]
pub struct Plugins {
    clock: Clock,
    /// The latest log lines of each plugin.
    pub logs: Logs,
    /// State that the calls of each plugin share.
    pub calls: Calls,
    /// The latest requests; in development.
    pub requests: RecentRequests,
    /// Responses name the plugin and generation that answered; true in development.
    pub shows_generations: AtomicBool,
    registry: ArcSwap<Registry>,
    /// Cached answers of the hook `instance-info`.
    pub instance_documents: InstanceCache,
    /// Cached decorations of statuses.
    pub decorations: DecorationCache,
    /// The time limits of hooks on this machine.
    pub hook_limits: HookLimits,
    /// The observed state of each plugin, on this node.
    pub observed: Observations,
    /// Further steps of commands that staff may ask for, which their first step logged.
    pub steps: Steps,
    /// Plugins that are paused while their tables are migrated.
    pub pauses: Pauses,
    /// Created when the first plugin is loaded.
    pub(crate) engine: OnceCell<Engine>,
    /// The settings' generation that was last reconciled.
    pub(crate) followed: AtomicI64,
    /// Some plugins are enabled, and another process runs them.
    pub(crate) elsewhere: AtomicBool,
    /// Held while plugins are loaded or unloaded.
    pub(crate) load_lock: Mutex<()>,
}

impl Plugins {
    /// Without any plugin yet.
    #[must_use]
    pub fn new(clock: Clock, development: bool) -> Self {
        Self {
            clock,
            logs: Logs::default(),
            calls: Calls::default(),
            requests: RecentRequests::default(),
            shows_generations: AtomicBool::new(development),
            registry: ArcSwap::default(),
            instance_documents: InstanceCache::default(),
            decorations: DecorationCache::default(),
            hook_limits: HookLimits::default(),
            observed: Observations::default(),
            steps: Steps::default(),
            pauses: Pauses::default(),
            engine: OnceCell::new(),
            followed: AtomicI64::new(0),
            elsewhere: AtomicBool::new(false),
            load_lock: Mutex::new(()),
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

    /// Records that a call of `plugin` failed: its `kind` (`route`, `events` …) and the `name` of the function; the
    /// plugin's log receives a line. A call that was not admitted (breaker open, plugin busy) is logged by the server
    /// only, since the earlier failures are the cause.
    pub fn report(&self, plugin: &Active, kind: &str, name: &str, cause: &CallError) {
        if !cause.reached_guest() {
            tracing::debug!(plugin = plugin.name(), kind, name, %cause, "a plugin was not called");
            return;
        }
        tracing::warn!(plugin = plugin.name(), kind, name, %cause, "a plugin gave no answer");
        let failed = FailedCall::new(self.clock.now(), kind, name, plugin.generation, cause);
        self.logs.push(plugin.name(), failed.at, Level::Error, failed.line(), plugin.limits.log_size);
        self.observed.failed(plugin.name(), failed);
    }
}
