//! Notification requests: senders whose mentions the policy filtered, until the receiver accepts or dismisses them.
//!
//! Reached from `/api/v1/notifications/requests`. Accepting a request permits the sender from now on, and a job shows
//! their filtered notifications ([`merge_notifications`]). Dismissing it deletes the filtered notifications, and the
//! policy applies to later ones.
//!
//! Spec: docs/contract/rules.md#13-notifications.

use crate::conversation;
use crate::visibility::{self, Place, Seen};
use context::change::{self, Change};
use context::error::{Error, Result};
use context::queue::{self, DeleteFiltered, MergeNotifications};
use context::{Cx, job};
use database::Tx;
use model::status::Visibility;
use model::{AccountId, Actor, Cursor, RowId, StatusId};
use store::notification::requests::{self, RequestRow};

/// Notifications shown or deleted in one transaction.
const BATCH: i64 = 500;

/// A request with its last status.
#[derive(Clone, Debug)]
pub struct VisibleRequest {
    pub row: RequestRow,
    /// The status of its newest mention; `None` when the receiver may not see it.
    pub last_status: Option<Seen>,
}

/// A page of the requests to the viewer, newest first.
#[model::use_case]
pub async fn list(cx: &Cx, viewer: &Actor, cursor: &Cursor) -> Result<Vec<VisibleRequest>> {
    if cursor.limit == 0 {
        return Ok(Vec::new());
    }
    let rows = requests::page(&cx.db, viewer.id, cursor).await?;
    with_statuses(cx, viewer, rows).await
}

/// One of the requests to the viewer.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or someone else's.
#[model::use_case]
pub async fn show(cx: &Cx, viewer: &Actor, id: RowId) -> Result<VisibleRequest> {
    let row = requests::find(&cx.db, viewer.id, id).await?.ok_or(Error::NotFound)?;
    with_statuses(cx, viewer, vec![row]).await?.pop().ok_or(Error::NotFound)
}

/// Permits the senders of the requests to the actor among `ids`. Returns the number of these requests.
#[model::use_case]
pub async fn accept(cx: &Cx, actor: &Actor, ids: &[RowId]) -> Result<usize> {
    let mut tx = cx.db.begin().await?;
    // Takes the requests first, which serialises it with a concurrent renewal of one.
    let senders = requests::take(&mut tx, actor.id, ids).await?;
    requests::permit(&mut tx, actor.id, &senders).await?;
    for from in &senders {
        queue::enqueue(cx, &mut tx, &MergeNotifications { account: actor.id, from: *from }).await?;
    }
    tx.commit().await?;
    Ok(senders.len())
}

/// Deletes the requests to the actor among `ids`, with all filtered notifications of their senders. Returns the
/// number of these requests. A job deletes the rest when there are many.
#[model::use_case]
pub async fn dismiss(cx: &Cx, actor: &Actor, ids: &[RowId]) -> Result<usize> {
    let mut tx = cx.db.begin().await?;
    let senders = requests::take(&mut tx, actor.id, ids).await?;
    let last = cx.ids.next();
    for from in &senders {
        let job = DeleteFiltered { account: actor.id, from: *from, last };
        if let Some(rest) = delete_filtered(cx, &mut tx, job).await? {
            queue::enqueue(cx, &mut tx, &rest).await?;
        }
    }
    tx.commit().await?;
    Ok(senders.len())
}

/// True unless notifications of accepted requests are still filtered.
#[model::use_case]
pub async fn is_merged(cx: &Cx, viewer: &Actor) -> Result<bool> {
    Ok(requests::is_merged(&cx.db, viewer.id).await?)
}

/// Shows the next notifications that were filtered before their sender was permitted.
#[model::use_case]
#[job]
async fn merge_notifications(cx: &Cx, tx: &mut Tx, job: MergeNotifications) -> Result<Option<MergeNotifications>> {
    let MergeNotifications { account, from } = job;
    let shown = requests::unfilter(tx, account, from, BATCH).await?;
    receive_direct(cx, tx, account, &shown).await?;
    if shown.len() as u64 == BATCH.unsigned_abs() {
        return Ok(Some(job));
    }
    if requests::set_merged(tx, account, from).await? && requests::is_merged(&mut *tx, account).await? {
        change::record(cx, tx, Change::NotificationsMerged { receiver: account }).await?;
    }
    Ok(None)
}

/// Adds the direct statuses among `statuses` to the conversations of `account`.
async fn receive_direct(cx: &Cx, tx: &mut Tx, account: AccountId, statuses: &[Option<StatusId>]) -> Result<()> {
    let statuses: Vec<StatusId> = statuses.iter().copied().flatten().collect();
    if statuses.is_empty() {
        return Ok(());
    }
    for status in store::status::list(&mut *tx, &statuses).await? {
        if status.visibility == Visibility::Direct {
            conversation::receive_late(cx, tx, status.id, &[account]).await?;
        }
    }
    Ok(())
}

/// Deletes the next filtered notifications of a dismissed request.
#[model::use_case]
#[job]
async fn delete_filtered(_: &Cx, tx: &mut Tx, job: DeleteFiltered) -> Result<Option<DeleteFiltered>> {
    let deleted = requests::delete_filtered(tx, job.account, job.from, job.last, BATCH).await?;
    Ok((deleted == BATCH.unsigned_abs()).then_some(job))
}

async fn with_statuses(cx: &Cx, viewer: &Actor, rows: Vec<RequestRow>) -> Result<Vec<VisibleRequest>> {
    let mut ids: Vec<StatusId> = rows.iter().filter_map(|row| row.last_status_id).collect();
    ids.sort_unstable();
    ids.dedup();
    let seen = visibility::statuses(cx, Some(viewer), Place::Notification, &ids).await?;
    let find = |id: StatusId| seen.binary_search_by_key(&id, |seen| seen.head().id).ok().map(|index| seen[index]);
    let request = |row: RequestRow| VisibleRequest { last_status: row.last_status_id.and_then(find), row };
    Ok(rows.into_iter().map(request).collect())
}
