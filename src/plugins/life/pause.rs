//! Pausing plugins while their tables are migrated in a way the previous generation cannot run on
//! (docs/plugins.md#25-contract-migrations): their routes wait for a moment, jobs and events are postponed, hooks fail as
//! their policies say.
//!
//! The server that migrates announces it in the database first and gives the others time to notice: they pause the
//! plugin as well, until the package they run fits the tables again. A server whose package no longer fits stays paused
//! and reports why.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use chrono::TimeDelta;
use tokio::time::Instant;

use crate::active::DRAIN;
use crate::life::pauses::{Paused, Why};
use crate::{Active, Cx, PluginId, Registry, sql};
use context::error::{Error, Result as Done};
use database::Engine;
use model::{Time, boxed};
use store::plugin_schema;

/// Pauses the plugin `name` everywhere, and drains its calls here. Other servers resume with what
/// [`pipeline::migrate`](super::pipeline::migrate) commits, with [`resume`], or after `most`; this one when the guard
/// is dropped.
pub(super) async fn begin<'a>(
    cx: &'a Cx,
    (plugin, name): (PluginId, &str),
    serving: Option<&Active>,
    most: Duration,
) -> Done<Paused<'a>> {
    let mut announced = None;
    // SQLite has a single server.
    if cx.db.engine() == Engine::Postgres {
        let (by, now) = (cx.ids.next::<i64>(), cx.clock.now());
        let notice = Duration::from_millis(cx.plugins.pauses.notice.load(Ordering::Relaxed));
        let most = TimeDelta::from_std(notice + DRAIN + most).map_err(Error::internal)?;
        let mut tx = cx.db.begin().await?;
        store::plugin::pause(&mut tx, plugin, by, now + most).await?;
        store::settings::bump_generation(&mut tx, now).await?;
        tx.commit().await?;
        announced = Some(by);
        let _ = tokio::time::timeout(notice, cx.plugins.pauses.noticed.notified()).await;
    }
    let mut paused = cx.plugins.pauses.pause(name);
    paused.announced = announced;
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
    if cx.plugins.pauses.is_due(cx.clock.now(), cx.generation()) { refresh(cx).await } else { Ok(()) }
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
        Ok(announced) => {
            let mut both = pauses.held.borrow().announced.clone();
            both.extend(announced.clone());
            pauses.tell(both);
            cx.plugins.swap(next);
            pauses.tell(announced);
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
    let mut announced = BTreeMap::new();
    if registry.plugins.iter().all(|active| active.sql.is_none()) {
        return Ok(announced);
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
        announced.extend(why.map(|why| (active.name().to_owned(), why)));
    }
    Ok(announced)
}
