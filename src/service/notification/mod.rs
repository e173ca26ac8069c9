//! Notifications: listing, counting and removing them. [`notify`](notify()) creates them, or the job `JudgeNotices`
//! for types that plugins may veto.
//!
//! [`groups`] shows them; a [`policy`] filters them into [`requests`].
//!
//! Reached from `/api/v1/notifications` and, through [`notify`](notify()) and [`retract`], from every use case that
//! notifies someone. Whether to notify is decided on creation (fan-out on write); reads only omit notifications whose
//! status has become invisible since.
//!
//! Spec: docs/contract/rules.md#13-notifications, and docs/contract/events.md#1-notification-types.

pub mod email;
pub mod push;

mod by_mail;
pub mod conversation;
mod decide;
pub mod groups;
mod judge;
mod notify;
pub mod policy;
pub mod requests;
mod retention;
mod staff;
pub mod title;

pub use by_mail::{Letter, letter, receiver_of_letters, stop_letters, unsubscribe_url};
pub use notify::notify;
pub use retention::delete_old;
pub use staff::{StaffNotice, notify_staff, staff_notifications};

pub use store::notification::NotificationFilter;

use std::sync::Arc;

use crate::visibility::{self, Place, Seen};
use context::Cx;
use context::error::{Error, Result};
use database::Tx;
use model::marker::MarkedTimeline;
use model::notification::NotificationKind;
use model::{AccountId, Actor, Cursor, NotificationId, NotificationType, StatusId};
use store::notification::NotificationRow;

/// A visible notification with its status.
#[derive(Clone, Debug)]
pub struct VisibleNotification {
    pub listed: NotificationRow,
    /// Its status, for types with one.
    pub status: Option<Seen>,
}

/// A page of the viewer's notifications, newest first: the ids before filtering, for the cursors, and the visible ones.
#[model::use_case]
pub async fn list(
    cx: &Cx,
    viewer: &Actor,
    wanted: &NotificationFilter,
    cursor: &Cursor,
) -> Result<(Vec<i64>, Vec<VisibleNotification>)> {
    if wanted.types.is_empty() || cursor.limit == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    let rows = store::notification::list::page(&cx.db, viewer.id, wanted, cursor).await?;
    let ids = rows.iter().map(|row| row.notification.id.into()).collect();
    Ok((ids, with_statuses(cx, viewer, rows).await?))
}

/// One of the viewer's notifications.
///
/// # Errors
/// [`Error::NotFound`] when it is missing, someone else's, or about something no longer visible.
#[model::use_case]
pub async fn show(cx: &Cx, viewer: &Actor, id: NotificationId) -> Result<VisibleNotification> {
    let row = store::notification::find(&cx.db, viewer.id, id, &types(cx)).await?.ok_or(Error::NotFound)?;
    with_statuses(cx, viewer, vec![row]).await?.pop().ok_or(Error::NotFound)
}

/// The notifications that their receivers may see, with their receivers. One statement for all of them, and as many
/// as [`visibility::seen_each`] for their statuses.
#[model::use_case]
pub async fn show_each(
    cx: &Cx,
    receivers: &[Arc<Actor>],
    ids: &[NotificationId],
) -> Result<Vec<(Arc<Actor>, VisibleNotification)>> {
    let rows = store::notification::list_each(&cx.db, ids, &types(cx)).await?;
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        let receiver = receivers.iter().find(|receiver| receiver.id == row.notification.account_id);
        if let Some(receiver) = receiver {
            found.push((Arc::clone(receiver), row));
        }
    }
    let wanted: Vec<_> =
        found.iter().filter_map(|(receiver, row)| Some((Arc::clone(receiver), row.notification.status_id?))).collect();
    let mut seen = visibility::seen_each(cx, Place::Notification, &wanted).await?.into_iter();
    let shown = found.into_iter().filter_map(|(receiver, listed)| {
        let status = listed.notification.status_id.and_then(|_| seen.next().flatten());
        Some((receiver, visible(listed, status)?))
    });
    Ok(shown.collect())
}

/// All current notification types: the types of the server and of plugins.
#[must_use]
pub fn types(cx: &Cx) -> Vec<NotificationKind> {
    let core = NotificationType::ALL.iter().map(|kind| NotificationKind::Core(*kind));
    core.chain(cx.extensions().notification_types().into_iter().map(NotificationKind::from)).collect()
}

/// The number of notifications after the viewer's marker, capped at `limit`.
#[model::use_case]
pub async fn count_unread(cx: &Cx, viewer: &Actor, wanted: &NotificationFilter, limit: i64) -> Result<usize> {
    if wanted.types.is_empty() || limit == 0 {
        return Ok(0);
    }
    let unread = unread(cx, viewer, limit).await?;
    // Counted by reading a page, so that the cost is bounded.
    Ok(store::notification::list::page(&cx.db, viewer.id, wanted, &unread).await?.len())
}

/// The page of notifications after the viewer's marker.
async fn unread(cx: &Cx, viewer: &Actor, limit: i64) -> Result<Cursor> {
    let markers = store::marker::list(&cx.db, viewer.id).await?;
    let read = markers.iter().find(|marker| marker.timeline == MarkedTimeline::Notifications);
    Ok(Cursor { since_id: read.map(|marker| marker.last_read_id), ..Cursor::first(limit) })
}

/// Removes one of the actor's notifications.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or someone else's.
#[model::use_case]
pub async fn dismiss(cx: &Cx, actor: &Actor, id: NotificationId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    if !store::notification::delete(&mut tx, actor.id, id).await? {
        return Err(Error::NotFound);
    }
    Ok(tx.commit().await?)
}

/// Removes all of the actor's notifications.
#[model::use_case]
pub async fn clear(cx: &Cx, actor: &Actor) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    store::notification::delete_all(&mut tx, actor.id).await?;
    Ok(tx.commit().await?)
}

/// Deletes all notifications of `activity` (see [`Notice::activity`](context::extension::Notice::activity)), since it
/// was undone.
pub async fn retract(tx: &mut Tx, kind: impl Into<NotificationKind>, activity: impl Into<i64>) -> Result<()> {
    retract_all(tx, &kind.into(), &[activity.into()]).await.map(drop)
}

/// As [`retract`], for several activities of one type. Returns the number of deleted notifications.
#[model::use_case]
pub async fn retract_all(tx: &mut Tx, kind: &NotificationKind, activities: &[i64]) -> Result<u64> {
    let waiting = store::notification::waiting::delete_activities(tx, kind, activities).await?;
    Ok(waiting + store::notification::delete_activities(tx, kind, activities).await?)
}

/// Deletes all notifications of `receiver` that `from` caused, with the request and the permission of `from`.
pub async fn retract_from(tx: &mut Tx, receiver: AccountId, from: AccountId) -> Result<()> {
    store::notification::delete_from(tx, receiver, from).await?;
    Ok(store::notification::requests::forget(tx, receiver, from).await?)
}

/// Omits notifications whose status was deleted or is hidden from the viewer.
async fn with_statuses(cx: &Cx, viewer: &Actor, rows: Vec<NotificationRow>) -> Result<Vec<VisibleNotification>> {
    let mut ids: Vec<StatusId> = rows.iter().filter_map(|row| row.notification.status_id).collect();
    ids.sort_unstable();
    ids.dedup();
    let seen = visibility::statuses(cx, Some(viewer), Place::Notification, &ids).await?;
    let find = |id: StatusId| seen.binary_search_by_key(&id, |seen| seen.head().id).ok().map(|index| seen[index]);
    let shown = rows.into_iter().filter_map(|listed| {
        let status = listed.notification.status_id.and_then(find);
        visible(listed, status)
    });
    Ok(shown.collect())
}

/// A notification with its status: `None` when its status was deleted or is hidden.
fn visible(listed: NotificationRow, status: Option<Seen>) -> Option<VisibleNotification> {
    let notification = &listed.notification;
    let whole = status.is_some() || (notification.status_id.is_none() && !notification.kind.has_status());
    whole.then_some(VisibleNotification { listed, status })
}
