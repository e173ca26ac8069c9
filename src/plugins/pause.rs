//! Plugins whose tables are changed in a way that the generation before cannot live with (PLUGINS.md section 2.5): their
//! routes wait for a moment, what can be done later is, and hooks give no answer.
//!
//! The server that changes the tables says so in the database first, and gives the others time to see it: they pause as
//! well, until what they serve fits the tables again. One whose package was left behind stays paused and says why.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use chrono::TimeDelta;
use rookery_plugin_host::{CallError, Ended};
use tokio::sync::watch;
use tokio::time::Instant;

use super::life::DRAIN;
use super::{Active, PluginId, sql};
use crate::app::App;
use crate::error::{Error, Result as Done};
use crate::model::Time;
use crate::store::{self, Engine, plugin_schema};

/// How long a request waits before it is told to come again.
const PATIENCE: Duration = Duration::from_secs(2);
/// What other servers need to see that a plugin pauses, and their requests to end: they look twice a second.
const NOTICE: Duration = Duration::from_secs(1);

/// The plugins that pause now.
#[derive(Debug)]
pub struct Pauses(watch::Sender<Held>);

#[derive(Debug, Default)]
struct Held {
    /// This server changes their tables.
    here: BTreeSet<String>,
    /// Another does, or did.
    elsewhere: BTreeMap<String, Why>,
}

/// Why a plugin pauses that this server does not change.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Why {
    /// Another server changes its tables; it has until then.
    Changing(Time),
    /// They were changed, and what serves here does not fit them: why, as a sentence.
    Outlived(String),
}

impl Held {
    fn has(&self, plugin: &str) -> bool {
        self.here.contains(plugin) || self.elsewhere.contains_key(plugin)
    }
}

impl Default for Pauses {
    fn default() -> Self {
        Self(watch::Sender::new(Held::default()))
    }
}

/// A plugin pauses on this server until this is dropped.
#[derive(Debug)]
pub struct Paused<'a> {
    pauses: &'a Pauses,
    plugin: String,
}

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        self.pauses.0.send_modify(|held| {
            held.here.remove(&self.plugin);
        });
    }
}

impl Pauses {
    /// Has the plugin pause until the answer is dropped.
    #[must_use]
    pub fn pause(&self, plugin: &str) -> Paused<'_> {
        self.0.send_modify(|held| {
            held.here.insert(plugin.to_owned());
        });
        Paused { pauses: self, plugin: plugin.to_owned() }
    }

    /// True while the plugin pauses.
    #[must_use]
    pub fn holds(&self, plugin: &str) -> bool {
        self.0.borrow().has(plugin)
    }

    /// Why the plugin's package cannot serve here until it is replaced, if another server left it behind.
    #[must_use]
    pub fn outlived(&self, plugin: &str) -> Option<String> {
        match self.0.borrow().elsewhere.get(plugin)? {
            Why::Outlived(why) => Some(why.clone()),
            Why::Changing(_) => None,
        }
    }

    /// Refuses a call while the plugin pauses.
    ///
    /// # Errors
    /// [`Ended::Busy`].
    #[expect(clippy::result_large_err, reason = "errors are few, and handed on at once")]
    pub fn check(&self, plugin: &str) -> Result<(), CallError> {
        if !self.holds(plugin) {
            return Ok(());
        }
        let message = "its tables are being changed".to_owned();
        Err(CallError { ended: Ended::Busy, message, failure: None, backtrace: Vec::new() })
    }

    /// Waits for its pause to end; false when that takes too long.
    pub async fn ended(&self, plugin: &str) -> bool {
        let mut held = self.0.subscribe();
        let ended = held.wait_for(|held| !held.has(plugin));
        tokio::time::timeout(PATIENCE, ended).await.is_ok()
    }

    /// True when a server that changes tables should be done by now, and is perhaps no more.
    fn is_any_over(&self, now: Time) -> bool {
        self.0.borrow().elsewhere.values().any(|why| matches!(why, Why::Changing(until) if *until <= now))
    }

    fn hold(&self, elsewhere: BTreeMap<String, Why>) {
        self.0.send_if_modified(|held| {
            let changed = held.elsewhere != elsewhere;
            held.elsewhere = elsewhere;
            changed
        });
    }
}

/// Has the plugin pause everywhere, and waits for its calls here to end. Ends with [`resume`], or with what
/// [`pipeline::migrate`](super::pipeline::migrate) commits; and here, when the answer is dropped.
///
/// # Errors
/// When the database does.
pub(super) async fn begin<'a>(app: &'a App, serving: &Active, most: Duration) -> Done<Paused<'a>> {
    // SQLite has one server.
    if app.db.engine() == Engine::Postgres {
        let (now, mut tx) = (app.clock.now(), app.db.begin().await?);
        let most = TimeDelta::from_std(NOTICE + DRAIN + most).map_err(Error::internal)?;
        store::plugin::pause(&mut tx, serving.id, now + most).await?;
        store::settings::touch(&mut tx, now).await?;
        tx.commit().await?;
        tokio::time::sleep(NOTICE).await;
    }
    let paused = app.plugins.pauses.pause(serving.name());
    let until = Instant::now() + DRAIN;
    while serving.component.stats().running > 0 && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(paused)
}

/// Tells every server that the tables of the plugin stay as they are.
///
/// # Errors
/// When the database does: they go on by themselves, later.
pub(super) async fn resume(app: &App, plugin: PluginId) -> Done<()> {
    let mut tx = app.db.begin().await?;
    store::plugin::resume(&mut tx, plugin).await?;
    store::settings::touch(&mut tx, app.clock.now()).await?;
    Ok(tx.commit().await?)
}

/// As [`heed`], where a server that changed tables did not come back.
///
/// # Errors
/// When the database does.
pub async fn heed_overdue(app: &App) -> Done<()> {
    if app.plugins.pauses.is_any_over(app.clock.now()) { heed(app).await } else { Ok(()) }
}

/// Pauses what another server changes, and what does not fit the tables any more. To be asked when the settings' generation
/// has changed, and after a swap.
///
/// # Errors
/// When the database does; everything stays as it was.
pub async fn heed(app: &App) -> Done<()> {
    let registry = app.plugins.latest();
    let mut elsewhere = BTreeMap::new();
    if registry.plugins.iter().any(|active| active.sql.is_some()) {
        let changing: BTreeMap<PluginId, Time> =
            store::plugin::paused(&app.db, app.clock.now()).await?.into_iter().collect();
        let applied = plugin_schema::list_all(&app.db).await?;
        for active in &registry.plugins {
            let ran = applied.get(&active.id).map_or(&[][..], Vec::as_slice);
            let why = match changing.get(&active.id) {
                Some(until) => Why::Changing(*until),
                None => match sql::outlived(&active.manifest, &active.files, ran) {
                    Some(why) => Why::Outlived(why),
                    None => continue,
                },
            };
            elsewhere.insert(active.name().to_owned(), why);
        }
    }
    app.plugins.pauses.hold(elsewhere);
    Ok(())
}
