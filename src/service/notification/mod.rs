//! Notifications: reading, counting and removing them. Making them is [`notify`](notify()), and
//! [`judge_waiting`] where plugins have a say.
//!
//! Reached from `/api/v1/notifications` and, through [`notify`](notify()) and [`retract`], from every use case that
//! someone should hear of. Which of them exist is decided when they are made; when they are read, only what became
//! invisible since is left out.
//!
//! Spec: contract rules, section 13, and events, section 1.

mod judge;
mod notify;

pub use judge::judge_waiting;
pub use notify::{Notice, Notified, notify};

pub use store::notification::Wanted;

use std::collections::HashMap;

use crate::app::App;
use crate::error::{Error, Result};
use crate::service::visibility::{self, Place, Seen};
use model::marker::MarkedTimeline;
use model::notification::Kind;
use model::{AccountId, Actor, Cursor, NotificationId, NotificationType, StatusId};
use store::Tx;
use store::notification::Listed;

/// A notification that can be shown, with its status.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The notification.
    pub listed: Listed,
    /// What it is about, for the types that have a status.
    pub status: Option<Seen>,
}

/// A page of the actor's notifications, newest first: the ids it was cut from, and what can be shown of them.
///
/// # Errors
/// When the database does.
pub async fn list(app: &App, actor: &Actor, wanted: &Wanted, cursor: &Cursor) -> Result<(Vec<i64>, Vec<Shown>)> {
    if wanted.types.is_empty() || cursor.limit == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    let rows = store::notification::list::page(&app.db, actor.id, wanted, cursor).await?;
    let ids = rows.iter().map(|row| row.notification.id.into()).collect();
    Ok((ids, with_statuses(app, actor, rows).await?))
}

/// One of the actor's notifications.
///
/// # Errors
/// [`Error::NotFound`] when it is missing, someone else's, or about something that is not to be seen any more.
pub async fn show(app: &App, actor: &Actor, id: NotificationId) -> Result<Shown> {
    let row = store::notification::find(&app.db, actor.id, id, &types(app)).await?.ok_or(Error::NotFound)?;
    with_statuses(app, actor, vec![row]).await?.pop().ok_or(Error::NotFound)
}

/// Every type of notifications that there is now: the server's own, and those of plugins.
#[must_use]
pub fn types(app: &App) -> Vec<Kind> {
    let registry = app.plugins.current();
    let core = NotificationType::ALL.iter().map(|kind| Kind::Core(*kind));
    core.chain(registry.hooks.notification_names().map(Kind::from)).collect()
}

/// How many notifications came since the actor's marker, at most `limit`.
///
/// # Errors
/// When the database does.
pub async fn count_unread(app: &App, actor: &Actor, wanted: &Wanted, limit: i64) -> Result<usize> {
    if wanted.types.is_empty() || limit == 0 {
        return Ok(0);
    }
    let markers = store::marker::list(&app.db, actor.id).await?;
    let read = markers.iter().find(|marker| marker.timeline == MarkedTimeline::Notifications);
    let unread = Cursor { since_id: read.map(|marker| marker.last_read_id), ..Cursor::first(limit) };
    // Read as a page is, so that it costs what a page does however many there are.
    Ok(store::notification::list::page(&app.db, actor.id, wanted, &unread).await?.len())
}

/// Removes one of the actor's notifications.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or someone else's.
pub async fn dismiss(app: &App, actor: &Actor, id: NotificationId) -> Result<()> {
    let mut tx = app.db.begin().await?;
    if !store::notification::delete(&mut tx, actor.id, id).await? {
        return Err(Error::NotFound);
    }
    Ok(tx.commit().await?)
}

/// Removes all of the actor's notifications.
///
/// # Errors
/// When the database does.
pub async fn clear(app: &App, actor: &Actor) -> Result<()> {
    let mut tx = app.db.begin().await?;
    store::notification::delete_all(&mut tx, actor.id).await?;
    Ok(tx.commit().await?)
}

/// Takes back what anyone was told of `activity` (see [`Notice::activity`]): it was undone.
///
/// # Errors
/// When the database does.
pub async fn retract(tx: &mut Tx, kind: impl Into<Kind>, activity: impl Into<i64>) -> Result<()> {
    retract_all(tx, &kind.into(), &[activity.into()]).await.map(drop)
}

/// As [`retract`], of several activities of one type; says how many notifications there were.
///
/// # Errors
/// When the database does.
pub async fn retract_all(tx: &mut Tx, kind: &Kind, activities: &[i64]) -> Result<u64> {
    let waiting = store::notification::waiting::delete_activities(tx, kind, activities).await?;
    Ok(waiting + store::notification::delete_activities(tx, kind, activities).await?)
}

/// Takes back all that `receiver` was told of `from`: the two are done with each other.
///
/// # Errors
/// When the database does.
pub async fn retract_from(tx: &mut Tx, receiver: AccountId, from: AccountId) -> Result<()> {
    Ok(store::notification::delete_from(tx, receiver, from).await?)
}

/// Leaves out those whose status is gone or hidden from the actor.
async fn with_statuses(app: &App, actor: &Actor, rows: Vec<Listed>) -> Result<Vec<Shown>> {
    let mut ids: Vec<StatusId> = rows.iter().filter_map(|row| row.notification.status_id).collect();
    ids.sort_unstable();
    ids.dedup();
    let seen = visibility::statuses(app, Some(actor), Place::Notification, &ids).await?;
    let seen: HashMap<StatusId, Seen> = seen.into_iter().map(|seen| (seen.head().id, seen)).collect();
    let shown = rows.into_iter().filter_map(|listed| {
        let status = listed.notification.status_id.and_then(|id| seen.get(&id)).cloned();
        let notification = &listed.notification;
        let whole = status.is_some() || (notification.status_id.is_none() && !notification.kind.has_status());
        whole.then_some(Shown { listed, status })
    });
    Ok(shown.collect())
}
