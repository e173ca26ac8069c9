//! Plugins whose tables are changed in a way that the generation before cannot live with (PLUGINS.md section 2.5): their
//! routes wait for a moment, what can be done later is, and hooks give no answer.
//!
//! The server that changes the tables says so in the database first, and gives the others time to see it: they pause as
//! well, until what they serve fits the tables again. One whose package was left behind stays paused and says why.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use chrono::TimeDelta;
use rookery_plugin_host::{CallError, Ended};
use tokio::sync::{Mutex, watch};
use tokio::time::Instant;

use super::life::DRAIN;
use super::{Active, PluginId, Registry, sql};
use crate::app::App;
use crate::error::{Error, Result as Done};
use model::Time;
use store::{Engine, plugin_schema};

/// How long a request waits before it is told to come again.
const PATIENCE: Duration = Duration::from_secs(2);
/// What other servers need to see that a plugin pauses, in milliseconds: they look twice a second. What they have begun by then
/// and does not end in time fails on the changed tables, takes back what it did, and is told to come again.
const NOTICE: u64 = 1_000;

/// The plugins that pause now.
#[derive(Debug)]
pub struct Pauses {
    held: watch::Sender<Held>,
    /// Held while it is looked which plugins pause: what was seen first must not be kept last.
    looking: Mutex<()>,
    /// The settings' generation of the last look; 0 when one is due.
    seen: AtomicI64,
    /// How long other servers have to see it, in milliseconds.
    notice: AtomicU64,
}

#[derive(Debug, Default)]
struct Held {
    /// This server changes their tables.
    here: BTreeSet<String>,
    /// By the database: some server changes their tables, or did.
    told: BTreeMap<String, Why>,
}

/// Why a plugin pauses that this server does not change.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Why {
    /// A server changes its tables; it has until then.
    Changing(Time),
    /// They were changed, and what serves here does not fit them: why, as a sentence, and since when that is known.
    Outlived(String, Instant),
}

impl Held {
    fn has(&self, plugin: &str) -> bool {
        self.here.contains(plugin) || self.told.contains_key(plugin)
    }
}

impl Default for Pauses {
    fn default() -> Self {
        let held = watch::Sender::new(Held::default());
        Self { held, looking: Mutex::default(), seen: AtomicI64::new(0), notice: AtomicU64::new(NOTICE) }
    }
}

/// A plugin pauses on this server until this is dropped.
#[derive(Debug)]
pub struct Paused<'a> {
    pauses: &'a Pauses,
    plugin: String,
    /// Under which number the other servers were told, if they were.
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
    /// Gives other servers so long to see that a plugin pauses.
    pub fn set_notice(&self, notice: Duration) {
        self.notice.store(u64::try_from(notice.as_millis()).unwrap_or(NOTICE), Ordering::Relaxed);
    }

    /// Has the plugin pause on this server until the answer is dropped.
    #[must_use]
    pub fn pause(&self, plugin: &str) -> Paused<'_> {
        self.held.send_modify(|held| {
            held.here.insert(plugin.to_owned());
        });
        Paused { pauses: self, plugin: plugin.to_owned(), told: None }
    }

    /// True while the plugin pauses.
    #[must_use]
    pub fn holds(&self, plugin: &str) -> bool {
        self.held.borrow().has(plugin)
    }

    /// True when this generation of it must not be called: it pauses, or its tables were changed under it.
    #[must_use]
    pub fn stops(&self, active: &Active) -> bool {
        active.is_over() || self.holds(active.name())
    }

    /// Why the plugin's package cannot serve here until it is replaced, if another server left it behind.
    #[must_use]
    pub fn outlived(&self, plugin: &str) -> Option<String> {
        match self.held.borrow().told.get(plugin)? {
            Why::Outlived(why, _) => Some(why.clone()),
            Why::Changing(_) => None,
        }
    }

    /// Refuses a call that must not be.
    ///
    /// # Errors
    /// [`Ended::Busy`].
    #[expect(clippy::result_large_err, reason = "errors are few, and handed on at once")]
    pub fn check(&self, active: &Active) -> Result<(), CallError> {
        if self.stops(active) { Err(self.busy(active)) } else { Ok(()) }
    }

    /// How a call ended that ran into a pause: what it failed on may have been the tables.
    #[must_use]
    pub fn excuse(&self, active: &Active, error: CallError) -> CallError {
        if self.stops(active) { self.busy(active) } else { error }
    }

    fn busy(&self, active: &Active) -> CallError {
        let message = self.outlived(active.name()).unwrap_or_else(|| "its tables are being changed".to_owned());
        CallError { ended: Ended::Busy, message, failure: None, backtrace: Vec::new() }
    }

    /// Waits for its pause to end; false when that takes too long. What another server left behind is waited for while it may
    /// be about to be replaced, and no longer.
    pub async fn ended(&self, plugin: &str) -> bool {
        let since = match self.held.borrow().told.get(plugin) {
            Some(Why::Outlived(_, since)) => *since,
            Some(Why::Changing(_)) | None => Instant::now(),
        };
        let mut held = self.held.subscribe();
        let ended = held.wait_for(|held| !held.has(plugin));
        tokio::time::timeout_at(since + PATIENCE, ended).await.is_ok()
    }

    /// True when there may be something new: the settings' generation is another, or a server that changes tables should be
    /// done by now, and is perhaps no more.
    fn is_due(&self, app: &App) -> bool {
        let (now, held) = (app.clock.now(), self.held.borrow());
        let over = held.told.values().any(|why| matches!(why, Why::Changing(until) if *until <= now));
        over || self.seen.load(Ordering::Relaxed) != app.generation()
    }

    fn tell(&self, told: BTreeMap<String, Why>) {
        self.held.send_if_modified(|held| {
            let mut told = told;
            for (plugin, why) in &mut told {
                if let (Why::Outlived(_, since), Some(Why::Outlived(_, before))) = (why, held.told.get(plugin)) {
                    *since = *before;
                }
            }
            let changed = held.told != told;
            held.told = told;
            changed
        });
    }
}

/// Has the plugin `name` pause everywhere, and waits for its calls here to end. Other servers go on with what
/// [`pipeline::migrate`](super::pipeline::migrate) commits, with [`resume`], or after `most`; this one when the answer is
/// dropped.
///
/// # Errors
/// When the database does.
pub(super) async fn begin<'a>(
    app: &'a App,
    (plugin, name): (PluginId, &str),
    serving: Option<&Active>,
    most: Duration,
) -> Done<Paused<'a>> {
    let mut told = None;
    // SQLite has one server.
    if app.db.engine() == Engine::Postgres {
        let (by, now) = (app.ids.next::<i64>(), app.clock.now());
        let notice = Duration::from_millis(app.plugins.pauses.notice.load(Ordering::Relaxed));
        let most = TimeDelta::from_std(notice + DRAIN + most).map_err(Error::internal)?;
        let mut tx = app.db.begin().await?;
        store::plugin::pause(&mut tx, plugin, by, now + most).await?;
        store::settings::touch(&mut tx, now).await?;
        tx.commit().await?;
        told = Some(by);
        tokio::time::sleep(notice).await;
    }
    let mut paused = app.plugins.pauses.pause(name);
    paused.told = told;
    if let Some(serving) = serving {
        serving.rest().await;
    }
    Ok(paused)
}

/// Tells every server that the tables of the plugin stay as they are.
///
/// # Errors
/// When the database does: they go on by themselves, later.
pub(super) async fn resume(app: &App, plugin: PluginId, by: i64) -> Done<()> {
    let mut tx = app.db.begin().await?;
    store::plugin::resume(&mut tx, plugin, by).await?;
    store::settings::touch(&mut tx, app.clock.now()).await?;
    tx.commit().await?;
    heed(app).await
}

/// As [`heed`], when there may be something new since the last look that succeeded.
///
/// # Errors
/// When the database does.
pub async fn look(app: &App) -> Done<()> {
    if app.plugins.pauses.is_due(app) { heed(app).await } else { Ok(()) }
}

/// Pauses what some server changes, and what does not fit the tables any more.
///
/// # Errors
/// When the database does; everything stays as it was, and [`look`] tries again.
pub async fn heed(app: &App) -> Done<()> {
    let pauses = &app.plugins.pauses;
    let _one_at_a_time = pauses.looking.lock().await;
    pauses.seen.store(0, Ordering::Relaxed);
    let seen = app.generation();
    pauses.tell(read(app, &app.plugins.latest()).await?);
    pauses.seen.store(seen, Ordering::Relaxed);
    Ok(())
}

/// Makes `next` the registry of now, whose plugins pause from the first call on where they have to. What another server left
/// behind, and is replaced now, is not called any more by requests that began with it.
pub(super) async fn swap(app: &App, next: Registry) {
    let pauses = &app.plugins.pauses;
    let _one_at_a_time = pauses.looking.lock().await;
    let before = app.plugins.latest();
    for old in before.plugins.iter().filter(|old| pauses.outlived(old.name()).is_some()) {
        if next.find(old.name()).is_none_or(|new| !Arc::ptr_eq(new, old)) {
            old.end();
        }
    }
    match read(app, &next).await {
        Ok(told) => {
            let mut both = pauses.held.borrow().told.clone();
            both.extend(told.clone());
            pauses.tell(both);
            app.plugins.swap(next);
            pauses.tell(told);
        }
        Err(error) => {
            tracing::error!(%error, "whether plugins fit their tables is looked at later");
            pauses.seen.store(0, Ordering::Relaxed);
            app.plugins.swap(next);
        }
    }
}

/// The plugins of `registry` that pause by what the database says.
async fn read(app: &App, registry: &Registry) -> Done<BTreeMap<String, Why>> {
    let mut told = BTreeMap::new();
    if registry.plugins.iter().all(|active| active.sql.is_none()) {
        return Ok(told);
    }
    let changing: BTreeMap<PluginId, Time> =
        store::plugin::paused(&app.db, app.clock.now()).await?.into_iter().collect();
    let applied = plugin_schema::list_all(&app.db).await?;
    for active in &registry.plugins {
        let ran = applied.get(&active.id).map_or(&[][..], Vec::as_slice);
        let outlived = || sql::outlived(&active.manifest, &active.files, ran);
        let why = match changing.get(&active.id) {
            Some(until) => Some(Why::Changing(*until)),
            None => outlived().map(|why| Why::Outlived(why, Instant::now())),
        };
        told.extend(why.map(|why| (active.name().to_owned(), why)));
    }
    Ok(told)
}
