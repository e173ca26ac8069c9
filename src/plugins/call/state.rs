//! What outlives one call: budgets and memory that all calls of a plugin in this process share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::sync::Semaphore;

use super::cache::Memory;
use super::figures::Figures;
use super::http::Allowance;
use super::log::Bucket;
use crate::app::App;
use model::PluginId;
use store::Engine;

/// What the calls of all plugins share. Empty until a plugin is called.
#[derive(Debug, Default)]
pub struct Calls {
    plugins: Mutex<HashMap<PluginId, Arc<State>>>,
    changing: OnceLock<Arc<Semaphore>>,
    /// The registry's generation whose schedules wait in the queue, and one: 0 for none.
    scheduled: AtomicU64,
}

/// What the calls of one plugin share.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) bucket: Mutex<Bucket>,
    pub(super) figures: Mutex<Figures>,
    pub(super) memory: Memory,
    pub(super) http: Allowance,
}

impl Calls {
    /// True when the schedules of this generation of plugins wait in the queue.
    pub(crate) fn is_scheduled(&self, generation: u64) -> bool {
        self.scheduled.load(Ordering::Acquire) == generation + 1
    }

    /// The schedules of this generation wait in the queue.
    pub(crate) fn scheduled(&self, generation: u64) {
        self.scheduled.store(generation + 1, Ordering::Release);
    }

    pub(super) fn state(&self, plugin: PluginId) -> Arc<State> {
        let mut plugins = self.plugins.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(plugins.entry(plugin).or_default())
    }

    /// Places for transactions that stay open while a plugin runs. Half of the connections at most: what such a call
    /// reads beside its transaction must find one.
    pub(super) fn changing(&self, app: &App) -> Arc<Semaphore> {
        let places = match app.db.engine() {
            Engine::Sqlite => 1,
            Engine::Postgres => usize::try_from(app.config.database.max_connections / 2).unwrap_or(1).max(1),
        };
        Arc::clone(self.changing.get_or_init(|| Arc::new(Semaphore::new(places))))
    }
}
