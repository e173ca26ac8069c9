//! Favourites, bookmarks, pins and muted conversations.
//!
//! Reached from the statuses routes. On a reblog, the original is affected. All are idempotent.
//! Spec: docs/contract/rules.md#10-statuses.

use std::collections::HashSet;

use super::consent;
use crate::notification;
use crate::visibility::{self, Marked, Place, Seen};
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result};
use context::extension::Notice;
use database::Tx;
use model::interaction::RequestState;
use model::status::Visibility;
use model::{AccountId, Actor, InteractionKind, NotificationType, RowId, StatusId, urls};
use store::favourite::Mark;

/// Marks a status as a favourite of `actor`, or asks its author for approval.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or hidden, [`Error::Forbidden`] when `actor` blocks its author, or the author
/// does not allow it.
#[model::use_case]
pub async fn favourite(cx: &Cx, actor: &Actor, id: StatusId) -> Result<()> {
    favourite_as(cx, actor, id, None).await
}

/// As [`favourite()`]. `like`: the activity, if it came from another server.
pub(crate) async fn favourite_as(cx: &Cx, actor: &Actor, id: StatusId, like: Option<&str>) -> Result<()> {
    let seen = visibility::status(cx, Some(actor), id).await?;
    let head = seen.proper();
    refuse_blocked(&seen)?;
    let request = consent::needed(cx, actor, &seen, InteractionKind::Favourite).await?;
    let waits = request.as_ref().is_some_and(|request| request.state == RequestState::Pending);
    if waits && seen.marked().favourited {
        return Ok(());
    }
    let mut tx = cx.db.begin().await?;
    match request {
        Some(request) if waits => {
            let uri = like.map(str::to_owned);
            let uri = |id| uri.unwrap_or_else(|| urls::like(&actor.uri, id));
            consent::ask(cx, &mut tx, actor.id, uri, head.id, request).await?;
        }
        Some(_) | None => mark(cx, &mut tx, actor.id, head.id, head.account_id, cx.ids.next()).await?,
    }
    tx.commit().await?;
    Ok(())
}

/// Marks the status `status` of `author` as a favourite of `account`, as the row `row`.
///
/// # Errors
/// [`Error::NotFound`] when it was deleted meanwhile.
pub(super) async fn mark(
    cx: &Cx,
    tx: &mut Tx,
    account: AccountId,
    status: StatusId,
    author: AccountId,
    row: RowId,
) -> Result<()> {
    let inserted = store::favourite::insert(tx, Mark::Favourite, row, account, status, cx.clock.now());
    if !inserted.await.map_err(Error::of_insert)? {
        return Ok(());
    }
    store::status::add_counts(tx, status, 0, 0, 1).await?;
    let notice = Notice {
        receiver: author,
        from: account,
        kind: NotificationType::Favourite.into(),
        activity: i64::from(row),
        status: Some(status),
    };
    notification::notify(cx, tx, &[notice]).await?;
    change::record(cx, tx, Change::Favourited { account, status, favourite: Some(row) }).await
}

/// Removes the favourite, also when the author has blocked `actor` since. Returns the status after the change.
///
/// # Errors
/// [`Error::NotFound`] when the status is missing or hidden.
#[model::use_case]
pub async fn unfavourite(cx: &Cx, actor: &Actor, id: StatusId) -> Result<Seen> {
    let seen = unmarkable(cx, actor, id, |marked| marked.favourited).await?;
    let head = seen.proper();
    let mut tx = cx.db.begin().await?;
    if !head.interaction_policy.is_open() {
        consent::withdraw(&mut tx, InteractionKind::Favourite, actor.id, head.id).await?;
    }
    if let Some(row) = store::favourite::delete(&mut tx, Mark::Favourite, actor.id, head.id).await? {
        store::status::add_counts(&mut tx, head.id, 0, 0, -1).await?;
        notification::retract(&mut tx, NotificationType::Favourite, row).await?;
        change::record(cx, &mut tx, Change::Unfavourited { account: actor.id, status: head.id, favourite: Some(row) })
            .await?;
    }
    tx.commit().await?;
    unmarked(cx, actor, id).await
}

/// The status, for removing a mark: `actor` may see it, or can no longer see it but has `mark` on it.
async fn unmarkable(cx: &Cx, actor: &Actor, id: StatusId, mark: fn(Marked) -> bool) -> Result<Seen> {
    match visibility::status(cx, Some(actor), id).await {
        Err(Error::NotFound) => {
            let seen = unmarked(cx, actor, id).await?;
            if mark(seen.marked()) { Ok(seen) } else { Err(Error::NotFound) }
        }
        found => found,
    }
}

async fn unmarked(cx: &Cx, actor: &Actor, id: StatusId) -> Result<Seen> {
    visibility::statuses(cx, Some(actor), Place::Unmarked, &[id]).await?.pop().ok_or(Error::NotFound)
}

/// Refuses interaction with an account that the actor blocks.
pub(super) fn refuse_blocked(seen: &Seen) -> Result<()> {
    if seen.is_blocking() {
        return Err(Error::forbidden("You block the author of this status"));
    }
    Ok(())
}

/// Bookmarks a status.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or hidden.
#[model::use_case]
pub async fn bookmark(cx: &Cx, actor: &Actor, id: StatusId) -> Result<()> {
    let seen = bookmarkable(cx, actor, &[id]).await?;
    let mut tx = cx.db.begin().await?;
    bookmark_all(cx, &mut tx, actor, &seen).await?;
    tx.commit().await?;
    Ok(())
}

/// The statuses that bookmarking `ids` would affect, in that order: for a reblog, the original.
///
/// # Errors
/// [`Error::NotFound`] when one of them is missing or hidden.
#[model::use_case]
pub async fn bookmarkable(cx: &Cx, actor: &Actor, ids: &[StatusId]) -> Result<Vec<StatusId>> {
    let seen = visibility::statuses(cx, Some(actor), Place::Single, ids).await?;
    if seen.len() < ids.len() {
        return Err(Error::NotFound);
    }
    Ok(seen.iter().map(|seen| seen.proper().id).collect())
}

/// Bookmarks statuses returned by [`bookmarkable`], in `tx`. Returns for each whether the bookmark is new.
#[model::use_case]
pub async fn bookmark_all(cx: &Cx, tx: &mut Tx, actor: &Actor, statuses: &[StatusId]) -> Result<Vec<bool>> {
    let rows = statuses.iter().map(|status| (cx.ids.next(), *status)).collect();
    let inserted = store::favourite::insert_bookmarks(tx, actor.id, rows, cx.clock.now());
    let mut new: HashSet<StatusId> = inserted.await.map_err(Error::of_insert)?.into_iter().collect();
    let changes: Vec<Change> =
        new.iter().map(|status| Change::Bookmarked { account: actor.id, status: *status }).collect();
    change::record_all(cx, tx, &changes).await?;
    Ok(statuses.iter().map(|status| new.remove(status)).collect())
}

/// Removes the bookmark, also of a status that is no longer visible, for which `None` is returned.
///
/// # Errors
/// [`Error::NotFound`] when there is neither a visible status nor a bookmark.
#[model::use_case]
pub async fn unbookmark(cx: &Cx, actor: &Actor, id: StatusId) -> Result<Option<Seen>> {
    let seen = match unmarkable(cx, actor, id, |marked| marked.bookmarked).await {
        Ok(seen) => Some(seen),
        Err(Error::NotFound) if store::favourite::has_bookmark(&cx.db, actor.id, id).await? => None,
        Err(error) => return Err(error),
    };
    let proper = seen.as_ref().map_or(id, |seen| seen.proper().id);
    let mut tx = cx.db.begin().await?;
    if store::favourite::delete(&mut tx, Mark::Bookmark, actor.id, proper).await?.is_some() {
        change::record(cx, &mut tx, Change::Unbookmarked { account: actor.id, status: proper }).await?;
    }
    tx.commit().await?;
    match seen {
        None => Ok(None),
        Some(_) => unmarked(cx, actor, id).await.map(Some),
    }
}

/// Pins `actor`'s own status to their profile.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or hidden; [`Error::Invalid`] when it is someone else's, a reblog, direct,
/// already pinned, or beyond the limit of pins.
#[model::use_case]
pub async fn pin(cx: &Cx, actor: &Actor, id: StatusId) -> Result<()> {
    let seen = visibility::status(cx, Some(actor), id).await?;
    let head = seen.head();
    let refused = |why: &'static str| Err(Error::invalid(format!("Validation failed: {why}")));
    if head.reblog_of_id.is_some() {
        return refused("A boost cannot be pinned");
    }
    if head.account_id != actor.id {
        return refused("Someone else's post cannot be pinned");
    }
    if matches!(head.visibility, Visibility::Direct | Visibility::Limited) {
        return refused("Posts that are only visible to mentioned users cannot be pinned");
    }
    let most = cx.settings().max_pinned_statuses;
    let mut tx = cx.db.begin().await?;
    // Serialises concurrent requests, so that each counts towards the limit.
    store::account::lock(&mut tx, &[actor.id]).await?;
    if store::favourite::count_pins(&mut tx, actor.id).await? >= most {
        return refused("You have already pinned the maximum number of posts");
    }
    let inserted = store::favourite::insert(&mut tx, Mark::Pin, cx.ids.next(), actor.id, head.id, cx.clock.now());
    if !inserted.await.map_err(Error::of_insert)? {
        return refused("The post is pinned already");
    }
    change::record(cx, &mut tx, Change::Pinned { account: actor.id, status: head.id }).await?;
    tx.commit().await?;
    Ok(())
}

/// Unpins the status.
///
/// # Errors
/// [`Error::NotFound`] when the status is missing or hidden.
#[model::use_case]
pub async fn unpin(cx: &Cx, actor: &Actor, id: StatusId) -> Result<()> {
    let seen = visibility::status(cx, Some(actor), id).await?;
    let mut tx = cx.db.begin().await?;
    let status = seen.head().id;
    if store::favourite::delete(&mut tx, Mark::Pin, actor.id, status).await?.is_some() {
        change::record(cx, &mut tx, Change::Unpinned { account: actor.id, status }).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// Mutes (or unmutes) the conversation of a status: no notifications from it.
///
/// # Errors
/// [`Error::NotFound`] when the status is missing or hidden, [`Error::Invalid`] when it belongs to no conversation.
#[model::use_case]
pub async fn mute_conversation(cx: &Cx, actor: &Actor, id: StatusId, muted: bool) -> Result<()> {
    let seen = visibility::status(cx, Some(actor), id).await?;
    let conversation = seen
        .proper()
        .conversation_id
        .ok_or_else(|| Error::invalid("Validation failed: The post belongs to no conversation"))?;
    let mut tx = cx.db.begin().await?;
    store::favourite::set_conversation_mute(&mut tx, actor.id, conversation, muted).await?;
    tx.commit().await?;
    Ok(())
}
