//! The plugins that are paused on this server, and requests that wait for the end of a pause. Pausing itself is
//! [`pause`](super::pause).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use rookery_plugin_host::{CallError, CallErrorKind};
use tokio::sync::{Mutex, Notify, watch};
use tokio::time::Instant;

use crate::active::Active;
use model::Time;

/// How long a request waits before it is answered with 503.
const MAX_WAIT: Duration = Duration::from_secs(2);
/// Milliseconds that other servers need to notice a pause: they poll twice a second. Calls that they began before and
/// that do not finish in time fail on the changed tables, are rolled back, and are answered with 503.
const NOTICE: u64 = 1_000;

/// The plugins that are paused now.
#[derive(Debug)]
pub struct Pauses {
    pub(super) held: watch::Sender<Held>,
    /// Held while the database is read and the result applied, so that an older result never replaces a newer one.
    pub(super) refreshing: Mutex<()>,
    /// The settings' generation at the last read; 0 when one is due.
    pub(super) seen: AtomicI64,
    /// How long other servers have to notice a pause, in milliseconds.
    pub(super) notice: AtomicU64,
    /// All other servers are known to have noticed.
    pub(super) noticed: Notify,
}

#[derive(Debug, Default)]
pub(super) struct Held {
    /// Plugins whose tables this server migrates.
    here: BTreeSet<String>,
    /// By the database: plugins whose tables some server migrates, or migrated.
    pub(super) announced: BTreeMap<String, Why>,
}

/// Why a plugin is paused whose tables another server changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// A server migrates its tables; deadline.
    Changing(Time),
    /// They were migrated, and the package that runs here does not fit them: why, as a sentence, and when that was
    /// noticed.
    Incompatible(String, Instant),
}

impl Held {
    fn has(&self, plugin: &str) -> bool {
        self.here.contains(plugin) || self.announced.contains_key(plugin)
    }
}

impl Default for Pauses {
    fn default() -> Self {
        let held = watch::Sender::new(Held::default());
        Self {
            held,
            refreshing: Mutex::default(),
            seen: AtomicI64::new(0),
            notice: AtomicU64::new(NOTICE),
            noticed: Notify::new(),
        }
    }
}

/// A guard: the plugin is paused on this server until it is dropped.
#[derive(Debug)]
pub struct Paused<'a> {
    pauses: &'a Pauses,
    plugin: String,
    /// The id of the announcement to the other servers, if there was one.
    pub(super) announced: Option<i64>,
}

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        self.pauses.held.send_modify(|held| {
            held.here.remove(&self.plugin);
        });
    }
}

impl Pauses {
    /// Sets how long other servers have to notice a pause.
    pub fn set_notice(&self, notice: Duration) {
        self.notice.store(u64::try_from(notice.as_millis()).unwrap_or(NOTICE), Ordering::Relaxed);
    }

    /// Ends the time that other servers have to notice the next pause, or the present one, early: they are known to have
    /// noticed.
    pub fn end_notice(&self) {
        self.noticed.notify_one();
    }

    /// Pauses the plugin on this server until the guard is dropped.
    #[must_use]
    pub fn pause(&self, plugin: &str) -> Paused<'_> {
        self.held.send_modify(|held| {
            held.here.insert(plugin.to_owned());
        });
        Paused { pauses: self, plugin: plugin.to_owned(), announced: None }
    }

    /// True while the plugin is paused.
    #[must_use]
    pub fn holds(&self, plugin: &str) -> bool {
        self.held.borrow().has(plugin)
    }

    /// True when this generation must not be called: the plugin is paused, or its tables changed under it.
    #[must_use]
    pub fn stops(&self, active: &Active) -> bool {
        active.has_ended() || self.holds(active.name())
    }

    /// Why the package that runs here no longer fits its tables, if another server migrated them.
    #[must_use]
    pub fn incompatible(&self, plugin: &str) -> Option<String> {
        match self.held.borrow().announced.get(plugin)? {
            Why::Incompatible(why, _) => Some(why.clone()),
            Why::Changing(_) => None,
        }
    }

    /// Refuses a call while the plugin is paused.
    ///
    /// # Errors
    /// [`CallErrorKind::Busy`].
    #[expect(clippy::result_large_err, reason = "errors are few, and returned immediately")]
    pub fn check(&self, active: &Active) -> Result<(), CallError> {
        if self.stops(active) { Err(self.busy(active)) } else { Ok(()) }
    }

    /// The error of a call that a pause overlapped: [`CallErrorKind::Busy`] instead of `error`, whose cause may have been the
    /// tables.
    #[must_use]
    pub fn as_busy_if_paused(&self, active: &Active, error: CallError) -> CallError {
        if self.stops(active) { self.busy(active) } else { error }
    }

    fn busy(&self, active: &Active) -> CallError {
        let message = self.incompatible(active.name()).unwrap_or_else(|| "its tables are being changed".to_owned());
        CallError { kind: CallErrorKind::Busy, message, failure: None, backtrace: Vec::new(), person: None }
    }

    /// Waits for the pause to end; false when that takes too long. Where the package no longer fits, the wait is
    /// counted from when that was noticed: a replacement may be on its way, but not for long.
    pub async fn ended(&self, plugin: &str) -> bool {
        let since = match self.held.borrow().announced.get(plugin) {
            Some(Why::Incompatible(_, since)) => *since,
            Some(Why::Changing(_)) | None => Instant::now(),
        };
        let mut held = self.held.subscribe();
        let ended = held.wait_for(|held| !held.has(plugin));
        tokio::time::timeout_at(since + MAX_WAIT, ended).await.is_ok()
    }

    /// True when the database may hold something new: the settings' generation changed, or a migrating server has
    /// passed its deadline and may have died.
    pub(super) fn is_due(&self, now: Time, generation: i64) -> bool {
        let held = self.held.borrow();
        let over = held.announced.values().any(|why| matches!(why, Why::Changing(until) if *until <= now));
        over || self.seen.load(Ordering::Relaxed) != generation
    }

    pub(super) fn tell(&self, announced: BTreeMap<String, Why>) {
        self.held.send_if_modified(|held| {
            let mut announced = announced;
            for (plugin, why) in &mut announced {
                if let (Why::Incompatible(_, since), Some(Why::Incompatible(_, before))) =
                    (why, held.announced.get(plugin))
                {
                    *since = *before;
                }
            }
            let changed = held.announced != announced;
            held.announced = announced;
            changed
        });
    }
}
