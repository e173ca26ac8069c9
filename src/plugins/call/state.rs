//! State that outlives a call: budgets and caches shared by all calls of a plugin in this process.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rookery_plugin_host::Part;
use tokio::sync::Semaphore;

use super::budgets::{Allowance, Bucket, MetricTable};
use super::memory::Memory;
use super::notification_limit::Notified;
use model::PluginId;

/// The shared state of all plugins. Entries are created by the first call.
#[derive(Debug, Default)]
pub struct Calls {
    plugins: Mutex<HashMap<PluginId, Arc<State>>>,
    changing: OnceLock<Arc<Semaphore>>,
    /// The registry's generation whose schedules were queued, plus one; 0 for none.
    scheduled: AtomicU64,
}

/// The shared state of one plugin.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) bucket: Mutex<Bucket>,
    pub(super) metrics: Mutex<MetricTable>,
    pub(super) memory: Memory,
    pub(super) http: Allowance,
    pub(super) notified: Mutex<Notified>,
    /// Permits for this plugin's transactions: one set for its filters, one for all other parts.
    changing: [OnceLock<Arc<Semaphore>>; 2],
}

impl Calls {
    /// True when the schedules of this registry generation were queued.
    pub(crate) fn is_scheduled(&self, generation: u64) -> bool {
        self.scheduled.load(Ordering::Acquire) == generation + 1
    }

    /// Remembers that the schedules of this generation were queued.
    pub(crate) fn scheduled(&self, generation: u64) {
        self.scheduled.store(generation + 1, Ordering::Release);
    }

    pub(super) fn state(&self, plugin: PluginId) -> Arc<State> {
        let mut plugins = self.plugins.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(plugins.entry(plugin).or_default())
    }

    /// Permits for transactions that stay open while a plugin runs. At most half of the connections: what such a call
    /// reads outside of its transaction needs one as well.
    pub(super) fn changing(&self, places: usize) -> Arc<Semaphore> {
        Arc::clone(self.changing.get_or_init(|| Arc::new(Semaphore::new(places))))
    }

    /// The places of one plugin: half of all, or the only one, so that others wait for it at most once. Filters, which
    /// changes wait for, do not wait for the plugin's other transactions either.
    pub(super) fn changing_of(&self, places: usize, plugin: &State, part: Part) -> Arc<Semaphore> {
        let [others, filters] = &plugin.changing;
        let own = if part == Part::Filters { filters } else { others };
        Arc::clone(own.get_or_init(|| Arc::new(Semaphore::new((places / 2).max(1)))))
    }
}
