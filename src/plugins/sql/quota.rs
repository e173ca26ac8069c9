//! How much a plugin keeps: measured now and then, added up in between.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tracing::warn;

use crate::plugins::PluginId;
use crate::store::{Db, plugin_schema};

/// Measured again after at least so many bytes were written.
const STEP: u64 = 1 << 20;

/// What each change is taken to cost beyond the bytes it brings.
const ROW: u64 = 64;

/// A plugin's share of the database.
#[derive(Clone, Debug)]
pub struct Quota(Arc<State>);

#[derive(Debug)]
struct State {
    db: Db,
    plugin: PluginId,
    name: String,
    most: u64,
    measured: AtomicU64,
    since: AtomicU64,
    fresh: AtomicBool,
    measuring: AtomicBool,
}

impl Quota {
    /// At most `most` bytes for the plugin called `name`.
    #[must_use]
    pub fn new(db: Db, plugin: PluginId, name: String, most: u64) -> Self {
        Self(Arc::new(State {
            db,
            plugin,
            name,
            most,
            measured: AtomicU64::new(0),
            since: AtomicU64::new(0),
            fresh: AtomicBool::new(false),
            measuring: AtomicBool::new(false),
        }))
    }

    /// Bytes that it may keep.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.0.most
    }

    /// Bytes that it keeps, as far as is known.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.0.measured.load(Ordering::Relaxed) + self.0.since.load(Ordering::Relaxed)
    }

    /// Whether `bytes` more may be written; they count from now on. Has it measured when that is due, meanwhile.
    #[must_use]
    pub fn take(&self, bytes: usize) -> bool {
        let state = &self.0;
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX >> 8) + ROW;
        let since = state.since.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let full = self.used() > state.most;
        let due = !state.fresh.load(Ordering::Relaxed) || full || since > STEP.max(state.most / 16);
        if due && !state.measuring.swap(true, Ordering::Relaxed) {
            let quota = self.clone();
            tokio::spawn(async move { quota.measure().await });
        }
        if full {
            state.since.fetch_sub(bytes, Ordering::Relaxed);
        }
        !full
    }

    /// Measures it now.
    pub async fn measure(&self) {
        let state = &self.0;
        let before = state.since.load(Ordering::Relaxed);
        match plugin_schema::size(&state.db, state.plugin, &state.name).await {
            Ok(size) => {
                state.measured.store(u64::try_from(size).unwrap_or(0), Ordering::Relaxed);
                state.since.fetch_sub(before.min(state.since.load(Ordering::Relaxed)), Ordering::Relaxed);
                state.fresh.store(true, Ordering::Relaxed);
            }
            Err(error) => warn!(plugin = %state.name, %error, "cannot measure the tables of a plugin"),
        }
        state.measuring.store(false, Ordering::Relaxed);
    }
}
