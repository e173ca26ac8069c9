//! Deleting a status with its reblogs, favourites, bookmarks, notifications and feed entries.
//!
//! Reached from `DELETE /api/v1/statuses/{id}` and from account removal.

use super::{insert, reference};
use crate::search::index;
use crate::{conversation, held_status, media};
use context::Cx;
use context::change::{self, Change, ChangeKind};
use context::error::{Error, Result};
use database::Tx;
use model::{AccountId, Actor, Status, StatusId, Visibility, boxed};

/// What happens to the media of a deleted status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaOfDeleted {
    /// They may be attached to another status for a day.
    Kept,
    /// They are deleted immediately.
    Deleted,
}

/// Deletes `actor`'s own status or reblog.
///
/// # Errors
/// [`Error::NotFound`] unless the status is the actor's own.
#[model::use_case]
pub async fn delete(cx: &Cx, actor: &Actor, id: StatusId, media: MediaOfDeleted) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let attached = match media {
        MediaOfDeleted::Kept => Vec::new(),
        MediaOfDeleted::Deleted => store::media::list_for_statuses(&mut tx, &[id]).await?,
    };
    remove(cx, &mut tx, actor.id, id).await?;
    media::delete_detached(cx, &mut tx, attached).await?;
    tx.commit().await?;
    Ok(())
}

/// Deletes a status of `author` in `tx` and updates all counters. Of concurrent requests, only one deletes it. A local
/// status that anyone could read, on other servers too, leaves a tombstone: its address answers that it was deleted. What
/// reports or strikes name stays for the staff.
///
/// # Errors
/// As [`delete`].
#[model::use_case]
pub async fn remove(cx: &Cx, tx: &mut Tx, author: AccountId, id: StatusId) -> Result<()> {
    held_status::hold(cx, tx, author, id).await?;
    let status = erase(cx, tx, author, id).await?;
    let had_document = status.local && !status.local_only && status.reblog_of_id.is_none();
    if had_document && status.visibility.is_anonymous() {
        store::tombstone::insert(tx, &status.uri, author, cx.clock.now()).await?;
    }
    Ok(())
}

/// As [`remove`], without a tombstone: the author is removed as well. Returns the former status.
///
/// # Errors
/// As [`delete`].
#[boxed]
pub(crate) async fn erase(cx: &Cx, tx: &mut Tx, author: AccountId, id: StatusId) -> Result<Status> {
    store::status::lock_for_deletion(tx, id).await?;
    let status = store::status::find(&mut *tx, id).await?;
    let status = status.filter(|status| status.account_id == author).ok_or(Error::NotFound)?;
    index::delete(tx, &status).await?;
    store::tag::clear_for_status(tx, id, author).await?;
    store::reblog::subtract(tx, id).await?;
    insert::uncount(tx, &status).await?;
    reference::uncount(tx, (&status).into()).await?;
    media::detach(cx, tx, id, &[]).await?;
    store::interaction_request::delete(tx, &status.uri).await?;
    record(cx, tx, &status).await?;
    if status.visibility == Visibility::Direct {
        conversation::remove_status(cx, tx, id).await?;
    }
    store::status::delete(tx, id).await?;
    Ok(status)
}

/// Records the deletion of the status and of its reblogs; reads nothing when there is no subscriber.
async fn record(cx: &Cx, tx: &mut Tx, status: &Status) -> Result<()> {
    if !status.local && !cx.live.has_subscribers() && !cx.extensions().listens_to(ChangeKind::StatusDeleted) {
        return Ok(());
    }
    let mentioned =
        if cx.live.has_subscribers() { store::mention::list(&mut *tx, status.id).await? } else { Vec::new() };
    let mentioned = mentioned.into_iter().map(|(_, account, _)| account).collect();
    let mut changes = vec![Change::status_deleted(status, mentioned)];
    if status.reblog_of_id.is_none() {
        let reblogs = store::reblog::list(&mut *tx, status.id).await?;
        changes.extend(reblogs.iter().map(|reblog| Change::status_deleted(reblog, Vec::new())));
    }
    change::record_all(cx, tx, &changes).await
}
