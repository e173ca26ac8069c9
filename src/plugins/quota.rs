//! Quotas on the data of a plugin in the server's database: bytes in its own tables, and rows in the server's tables.
//!
//! Each is measured before the plugin's first change and periodically, and accumulated in between, so that a change
//! costs an addition. A statement of SQL is charged before it runs as far as its parameters tell, and for the rest
//! afterwards, in the same transaction. Rolled back and deleted data counts until the next measurement, which begins
//! at the latest when a quota looks exceeded.
//!
//! Jobs are counted exactly when they are queued ([`crate::call`]); log lines are kept in memory
//! ([`logs`](crate::call::logs)).

use crate::call::job_kind::kind_of;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::Mutex;
use tracing::warn;

use database::Db;
use model::PluginId;
use plugin_package::manifest::{Manifest, Resolved};
use store::{plugin_event, plugin_feed, plugin_schema};

/// Bytes written after which the size is measured again, at least.
const STEP_BYTES: u64 = 1 << 20;
/// The same in rows.
const STEP_ROWS: u64 = 1_000;

/// The assumed overhead of each row, in bytes.
pub const ROW: u64 = 64;

/// The resource that a quota limits.
#[derive(Clone, Debug)]
pub enum Resource {
    /// Bytes: its tables with their indexes, key-value items, settings of accounts, payloads of waiting jobs.
    Storage,
    /// Entries in its own feeds.
    FeedEntries,
    /// Notifications of its types, for all accounts together.
    Notifications(Vec<String>),
    /// Events in its outbox, waiting or parked.
    Events,
}

impl Resource {
    /// The key in `[limits]`, and the name in errors and metrics.
    fn key(&self) -> &'static str {
        match self {
            Self::Storage => "db-size",
            Self::FeedEntries => "feed-entries",
            Self::Notifications(_) => "notifications",
            Self::Events => "events",
        }
    }

    fn step(&self) -> u64 {
        match self {
            Self::Storage => STEP_BYTES,
            Self::FeedEntries | Self::Notifications(_) | Self::Events => STEP_ROWS,
        }
    }

    /// The present use; rows are counted up to `most`.
    async fn measure(&self, db: &Db, plugin: PluginId, name: &str, most: u64) -> Result<i64, database::Error> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        match self {
            Self::Storage => plugin_schema::size(db, plugin, name, &kind_of(name)).await,
            Self::FeedEntries => plugin_feed::count(db, plugin, most).await,
            Self::Notifications(types) => store::notification::count_of_types(db, types, most).await,
            Self::Events => plugin_event::count_up_to(db, plugin, most).await,
        }
    }
}

/// One quota of one plugin.
#[derive(Clone, Debug)]
pub struct Quota(Arc<State>);

#[derive(Debug)]
struct State {
    db: Db,
    plugin: PluginId,
    name: String,
    kept: Resource,
    most: u64,
    measured: AtomicU64,
    since: AtomicU64,
    refused: AtomicU64,
    fresh: AtomicBool,
    measuring: AtomicBool,
    first: Mutex<()>,
}

/// The quotas of a generation of a plugin.
#[derive(Clone, Debug)]
pub struct Quotas {
    pub storage: Quota,
    pub feed_entries: Quota,
    pub notifications: Quota,
    pub events: Quota,
}

impl Quotas {
    /// The quotas of the plugin with this manifest.
    #[must_use]
    pub fn new(db: &Db, plugin: PluginId, manifest: &Manifest, limits: &Resolved) -> Self {
        let types = manifest.notifications.iter().map(|kind| kind.name.clone()).collect();
        let quota = |kept: Resource, most: u64| Quota::of(db.clone(), plugin, manifest.plugin.name.clone(), kept, most);
        Self {
            storage: quota(Resource::Storage, limits.db_size),
            feed_entries: quota(Resource::FeedEntries, limits.feed_entries.into()),
            notifications: quota(Resource::Notifications(types), limits.notifications.into()),
            events: quota(Resource::Events, limits.events.into()),
        }
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> [&Quota; 4] {
        [&self.storage, &self.feed_entries, &self.notifications, &self.events]
    }

    /// Starts measuring in the background: the first write waits for that.
    pub fn measure(&self) {
        for quota in self.all().map(Quota::clone) {
            tokio::spawn(async move { quota.ready().await });
        }
    }
}

impl Quota {
    /// A quota of `most` bytes of storage for the plugin called `name`.
    #[must_use]
    pub fn new(db: Db, plugin: PluginId, name: String, most: u64) -> Self {
        Self::of(db, plugin, name, Resource::Storage, most)
    }

    /// A quota of `most` bytes or rows of the resource `kept` for the plugin called `name`.
    #[must_use]
    pub fn of(db: Db, plugin: PluginId, name: String, kept: Resource, most: u64) -> Self {
        Self(Arc::new(State {
            db,
            plugin,
            name,
            kept,
            most,
            measured: AtomicU64::new(0),
            since: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            fresh: AtomicBool::new(false),
            measuring: AtomicBool::new(false),
            first: Mutex::new(()),
        }))
    }

    /// Its key in `[limits]`.
    #[must_use]
    pub fn key(&self) -> &'static str {
        self.0.kept.key()
    }

    /// The quota in bytes or rows.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.0.most
    }

    /// Bytes or rows in use: the last measurement and later charges.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.0.measured.load(Ordering::Relaxed) + self.0.since.load(Ordering::Relaxed)
    }

    /// How often something was refused, since the plugin was loaded here.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.0.refused.load(Ordering::Relaxed)
    }

    /// Measures unless that was done: to be awaited before the first write.
    pub async fn ready(&self) -> Result<(), database::Error> {
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

    /// Charges `count` bytes or rows alone; false, and not charged, when the quota is exceeded.
    #[must_use]
    pub fn add(&self, count: u64) -> bool {
        let state = &self.0;
        let since = state.since.fetch_add(count, Ordering::Relaxed) + count;
        let full = self.used() > state.most;
        let due = full || since > state.kept.step().max(state.most / 16);
        if due && !state.measuring.swap(true, Ordering::Relaxed) {
            let quota = self.clone();
            tokio::spawn(async move {
                if let Err(error) = quota.measure().await {
                    warn!(plugin = %quota.0.name, %error, "cannot measure the data of a plugin");
                }
            });
        }
        if full {
            self.give_back(count);
            state.refused.fetch_add(1, Ordering::Relaxed);
            count_reached(&state.name, self.key());
        }
        !full
    }

    /// Refunds the charge of a write that did not happen.
    pub fn give_back(&self, count: u64) {
        let less = |since: u64| Some(since.saturating_sub(count));
        // Some is always returned.
        let _ = self.0.since.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// Measures now.
    pub async fn measure(&self) -> Result<(), database::Error> {
        let state = &self.0;
        let before = state.since.load(Ordering::Relaxed);
        let size = state.kept.measure(&state.db, state.plugin, &state.name, state.most).await;
        if let Ok(size) = size {
            let size = u64::try_from(size).unwrap_or(0);
            state.measured.store(size, Ordering::Relaxed);
            self.give_back(before);
            state.fresh.store(true, Ordering::Release);
            #[expect(clippy::cast_precision_loss, reason = "a gauge")]
            metrics::gauge!("plugin_kept", "plugin" => state.name.clone(), "limit" => self.key()).set(size as f64);
        }
        state.measuring.store(false, Ordering::Relaxed);
        size.map(drop)
    }
}

/// Counts in the metrics that `plugin` reached a limit, named by its key in `[limits]`.
pub(crate) fn count_reached(plugin: &str, limit: &'static str) {
    metrics::counter!("plugin_limit_reached_total", "plugin" => plugin.to_owned(), "limit" => limit).increment(1);
}
