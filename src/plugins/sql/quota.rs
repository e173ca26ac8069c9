//! The storage quota of a plugin: measured before its first change and periodically, accumulated in between.
//!
//! A statement is charged before it runs as far as its parameters tell, and for the rest afterwards, in the same
//! transaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::Mutex;
use tracing::warn;

use model::PluginId;
use store::{Db, plugin_schema};

/// Bytes written after which the size is measured again, at least.
const STEP: u64 = 1 << 20;

/// The assumed overhead of each row, in bytes.
pub(super) const ROW: u64 = 64;

/// The storage quota of one plugin.
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
    first: Mutex<()>,
}

impl Quota {
    /// A quota of `most` bytes for the plugin called `name`.
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
            first: Mutex::new(()),
        }))
    }

    /// The quota in bytes.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.0.most
    }

    /// Bytes in use: the last measurement and what was charged since.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.0.measured.load(Ordering::Relaxed) + self.0.since.load(Ordering::Relaxed)
    }

    /// Measures the size unless that was done: to be awaited before the first write.
    ///
    /// # Errors
    /// When the database does not answer: nothing may be written then.
    pub async fn ready(&self) -> Result<(), store::Error> {
        if self.0.fresh.load(Ordering::Acquire) {
            return Ok(());
        }
        let _one = self.0.first.lock().await;
        if self.0.fresh.load(Ordering::Acquire) { Ok(()) } else { self.measure().await }
    }

    /// Charges `bytes` and the overhead of a row; false when the quota is exceeded. Starts a new measurement in the
    /// background when one is due.
    #[must_use]
    pub fn take(&self, bytes: usize) -> bool {
        self.add(u64::try_from(bytes).unwrap_or(u64::MAX >> 8) + ROW)
    }

    /// Charges `bytes` alone; false, and not charged, when the quota is exceeded.
    #[must_use]
    pub(super) fn add(&self, bytes: u64) -> bool {
        let state = &self.0;
        let since = state.since.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let full = self.used() > state.most;
        let due = full || since > STEP.max(state.most / 16);
        if due && !state.measuring.swap(true, Ordering::Relaxed) {
            let quota = self.clone();
            tokio::spawn(async move {
                if let Err(error) = quota.measure().await {
                    warn!(plugin = %quota.0.name, %error, "cannot measure the tables of a plugin");
                }
            });
        }
        if full {
            state.since.fetch_sub(bytes, Ordering::Relaxed);
        }
        !full
    }

    /// Measures the size now.
    pub async fn measure(&self) -> Result<(), store::Error> {
        let state = &self.0;
        let before = state.since.load(Ordering::Relaxed);
        let size = plugin_schema::size(&state.db, state.plugin, &state.name).await;
        if let Ok(size) = size {
            state.measured.store(u64::try_from(size).unwrap_or(0), Ordering::Relaxed);
            state.since.fetch_sub(before.min(state.since.load(Ordering::Relaxed)), Ordering::Relaxed);
            state.fresh.store(true, Ordering::Release);
        }
        state.measuring.store(false, Ordering::Relaxed);
        size.map(drop)
    }
}
