//! Pausing plugins while their tables are migrated in a way the previous generation cannot run on
//! (docs/plugins.md#25-contract-migrations): their routes wait for a moment, jobs and events are postponed, hooks fail as
//! their policies say.
//!
//! The server that migrates announces it in the database first and gives the others time to notice: they pause the
//! plugin as well, until the package they run fits the tables again. A server whose package no longer fits stays paused
//! and reports why.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use chrono::TimeDelta;
use rookery_plugin_host::{CallError, CallErrorKind};
use tokio::sync::{Mutex, Notify, watch};
use tokio::time::Instant;

use super::DRAIN;
use crate::{Active, Cx, PluginId, Registry, sql};
use context::error::{Error, Result as Done};
use database::Engine;
use model::{Time, boxed};
use store::plugin_schema;

/// How long a request waits before it is answered with 503.
const MAX_WAIT: Duration = Duration::from_secs(2);
/// Milliseconds that other servers need to notice a pause: they poll twice a second. Calls that they began before and
/// that do not finish in time fail on the changed tables, are rolled back, and are answered with 503.
const NOTICE: u64 = 1_000;

/// The plugins that are paused now.
#[derive(Debug)]
pub struct Pauses {
    held: watch::Sender<Held>,
    /// Held while the database is read and the result applied, so that an older result never replaces a newer one.
    refreshing: Mutex<()>,
    /// The settings' generation at the last read; 0 when one is due.
    seen: AtomicI64,
    /// How long other servers have to notice a pause, in milliseconds.
    notice: AtomicU64,
    /// All other servers are known to have noticed.
    noticed: Notify,
}

#[derive(Debug, Default)]
struct Held {
    /// Plugins whose tables this server migrates.
    here: BTreeSet<String>,
    /// By the database: plugins whose tables some server migrates, or migrated.
    told: BTreeMap<String, Why>,
}

/// Why a plugin is paused whose tables another server changed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Why {
    /// A server migrates its tables; deadline.
    Changing(Time),
    /// They were migrated, and the package that runs here does not fit them: why, as a sentence, and when that was
    /// noticed.
    Incompatible(String, Instant),
}

impl Held {
    fn has(&self, plugin: &str) -> bool {
        self.here.contains(plugin) || self.told.contains_key(plugin)
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
    pub(super) told: Option<i64>,
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
        Paused { pauses: self, plugin: plugin.to_owned(), told: None }
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
        match self.held.borrow().told.get(plugin)? {
            Why::Incompatible(why, _) => Some(why.clone()),
            Why::Changing(_) => None,
        }
    }

    /// Refuses a call while the plugin is paused.
    ///
    /// # Errors
    /// [`CallErrorKind::Busy`].
    #[expect(clippy::result_large_err, reason = "errors are few, and handed on at once")]
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
        let since = match self.held.borrow().told.get(plugin) {
            Some(Why::Incompatible(_, since)) => *since,
            Some(Why::Changing(_)) | None => Instant::now(),
        };
        let mut held = self.held.subscribe();
        let ended = held.wait_for(|held| !held.has(plugin));
        tokio::time::timeout_at(since + MAX_WAIT, ended).await.is_ok()
    }

    /// True when the database may hold something new: the settings' generation changed, or a migrating server has
    /// passed its deadline and may have died.
    fn is_due(&self, cx: &Cx) -> bool {
        let (now, held) = (cx.clock.now(), self.held.borrow());
        let over = held.told.values().any(|why| matches!(why, Why::Changing(until) if *until <= now));
        over || self.seen.load(Ordering::Relaxed) != cx.generation()
    }

    fn tell(&self, told: BTreeMap<String, Why>) {
        self.held.send_if_modified(|held| {
            let mut told = told;
            for (plugin, why) in &mut told {
                if let (Why::Incompatible(_, since), Some(Why::Incompatible(_, before))) = (why, held.told.get(plugin))
                {
                    *since = *before;
                }
            }
            let changed = held.told != told;
            held.told = told;
            changed
        });
    }
}

/// Pauses the plugin `name` everywhere, and drains its calls here. Other servers resume with what
/// [`pipeline::migrate`](super::pipeline::migrate) commits, with [`resume`], or after `most`; this one when the guard
/// is dropped.
pub(super) async fn begin<'a>(
    cx: &'a Cx,
    (plugin, name): (PluginId, &str),
    serving: Option<&Active>,
    most: Duration,
) -> Done<Paused<'a>> {
    let mut told = None;
    // SQLite has a single server.
    if cx.db.engine() == Engine::Postgres {
        let (by, now) = (cx.ids.next::<i64>(), cx.clock.now());
        let notice = Duration::from_millis(cx.plugins.pauses.notice.load(Ordering::Relaxed));
        let most = TimeDelta::from_std(notice + DRAIN + most).map_err(Error::internal)?;
        let mut tx = cx.db.begin().await?;
        store::plugin::pause(&mut tx, plugin, by, now + most).await?;
        store::settings::bump_generation(&mut tx, now).await?;
        tx.commit().await?;
        told = Some(by);
        let _ = tokio::time::timeout(notice, cx.plugins.pauses.noticed.notified()).await;
    }
    let mut paused = cx.plugins.pauses.pause(name);
    paused.told = told;
    if let Some(serving) = serving {
        serving.rest().await;
    }
    Ok(paused)
}

/// Tells every server that the tables of the plugin were not changed.
///
/// # Errors
/// When the database fails: the other servers resume by themselves, at the deadline.
pub(super) async fn resume(cx: &Cx, plugin: PluginId, by: i64) -> Done<()> {
    let mut tx = cx.db.begin().await?;
    store::plugin::resume(&mut tx, plugin, by).await?;
    store::settings::bump_generation(&mut tx, cx.clock.now()).await?;
    tx.commit().await?;
    refresh(cx).await
}

/// As [`refresh`], when there may be something new since the last successful read.
#[boxed]
pub async fn refresh_if_due(cx: &Cx) -> Done<()> {
    if cx.plugins.pauses.is_due(cx) { refresh(cx).await } else { Ok(()) }
}

/// Reads which plugins must be paused here, and pauses and resumes accordingly.
///
/// # Errors
/// When the database fails; nothing changed, and [`refresh_if_due`] tries again.
pub async fn refresh(cx: &Cx) -> Done<()> {
    let pauses = &cx.plugins.pauses;
    let _one_at_a_time = pauses.refreshing.lock().await;
    pauses.seen.store(0, Ordering::Relaxed);
    let seen = cx.generation();
    pauses.tell(read(cx, &cx.plugins.latest()).await?);
    pauses.seen.store(seen, Ordering::Relaxed);
    Ok(())
}

/// Makes `next` the current registry; plugins that have to pause are paused before the first call. A replaced
/// generation that no longer fits its tables is not called any more, not even by requests that began with it.
pub(super) async fn swap(cx: &Cx, next: Registry) {
    let pauses = &cx.plugins.pauses;
    let _one_at_a_time = pauses.refreshing.lock().await;
    let before = cx.plugins.latest();
    for old in before.plugins.iter().filter(|old| pauses.incompatible(old.name()).is_some()) {
        if next.find(old.name()).is_none_or(|new| !Arc::ptr_eq(new, old)) {
            old.end();
        }
    }
    match read(cx, &next).await {
        Ok(told) => {
            let mut both = pauses.held.borrow().told.clone();
            both.extend(told.clone());
            pauses.tell(both);
            cx.plugins.swap(next);
            pauses.tell(told);
        }
        Err(error) => {
            tracing::error!(%error, "whether plugins fit their tables is looked at later");
            pauses.seen.store(0, Ordering::Relaxed);
            cx.plugins.swap(next);
        }
    }
}

/// The plugins of `registry` that must be paused according to the database.
async fn read(cx: &Cx, registry: &Registry) -> Done<BTreeMap<String, Why>> {
    let mut told = BTreeMap::new();
    if registry.plugins.iter().all(|active| active.sql.is_none()) {
        return Ok(told);
    }
    let changing: BTreeMap<PluginId, Time> =
        store::plugin::list_paused(&cx.db, cx.clock.now()).await?.into_iter().collect();
    let applied = plugin_schema::list_all(&cx.db).await?;
    for active in &registry.plugins {
        let ran = applied.get(&active.id).map_or(&[][..], Vec::as_slice);
        let incompatible = || sql::incompatible(&active.manifest, &active.files, ran);
        let why = match changing.get(&active.id) {
            Some(until) => Some(Why::Changing(*until)),
            None => incompatible().map(|why| Why::Incompatible(why, Instant::now())),
        };
        told.extend(why.map(|why| (active.name().to_owned(), why)));
    }
    Ok(told)
}
