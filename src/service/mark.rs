//! Favouriting, bookmarking, pinning statuses and muting their threads.
//!
//! On a reblog all of it is about the original. Doing a thing twice is not an error. Spec: contract rules, section 10.

use std::collections::HashSet;

use crate::app::App;
use crate::error::{Error, Result};
use crate::plugins::hooks::{self, Change, Kind};
use crate::service::notification::{self, Notice, Notified};
use crate::service::visibility::{self, Place, Seen};
use model::status::Visibility;
use model::{Actor, NotificationType, RowId, StatusId};
use store::Tx;
use store::favourite::Mark;

/// Marks a status as a favourite of `actor`.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or hidden, [`Error::Forbidden`] when `actor` blocks its author.
pub async fn favourite(app: &App, actor: &Actor, id: StatusId) -> Result<()> {
    let seen = visibility::status(app, Some(actor), id).await?;
    let head = seen.proper();
    refuse_blocked(&seen)?;
    let row: RowId = app.ids.next();
    let mut tx = app.db.begin().await?;
    let mut notified = Notified::default();
    if store::favourite::insert(&mut tx, Mark::Favourite, row, actor.id, head.id, app.clock.now()).await? {
        store::status::add_counts(&mut tx, head.id, 0, 0, 1).await?;
        let notice = Notice {
            receiver: head.account_id,
            from: actor.id,
            kind: NotificationType::Favourite.into(),
            activity: i64::from(row),
            status: Some(head.id),
        };
        notified = notification::notify(app, &mut tx, &[notice]).await?;
        hooks::record(app, &mut tx, Change::mark(Kind::FavouriteCreated, actor.id, head.id)?).await?;
    }
    tx.commit().await?;
    notified.publish(app);
    Ok(())
}

/// Takes the favourite back.
///
/// # Errors
/// [`Error::NotFound`] when the status is missing or hidden.
pub async fn unfavourite(app: &App, actor: &Actor, id: StatusId) -> Result<()> {
    let seen = visibility::status(app, Some(actor), id).await?;
    let head = seen.proper();
    let mut tx = app.db.begin().await?;
    if let Some(row) = store::favourite::delete(&mut tx, Mark::Favourite, actor.id, head.id).await? {
        store::status::add_counts(&mut tx, head.id, 0, 0, -1).await?;
        notification::retract(&mut tx, NotificationType::Favourite, row).await?;
        hooks::record(app, &mut tx, Change::mark(Kind::FavouriteDeleted, actor.id, head.id)?).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// Refuses what one does to someone whom one blocks.
pub(super) fn refuse_blocked(seen: &Seen) -> Result<()> {
    if seen.head().blocking || seen.proper().blocking {
        return Err(Error::forbidden("You block the author of this status"));
    }
    Ok(())
}

/// Bookmarks a status.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or hidden.
pub async fn bookmark(app: &App, actor: &Actor, id: StatusId) -> Result<()> {
    let seen = bookmarkable(app, actor, &[id]).await?;
    let mut tx = app.db.begin().await?;
    bookmark_all(app, &mut tx, actor, &seen).await?;
    tx.commit().await?;
    Ok(())
}

/// What bookmarks of `ids` are about, in that order: the original of a reblog.
///
/// # Errors
/// [`Error::NotFound`] when one of them is missing or hidden.
pub async fn bookmarkable(app: &App, actor: &Actor, ids: &[StatusId]) -> Result<Vec<StatusId>> {
    let seen = visibility::statuses(app, Some(actor), Place::Single, ids).await?;
    if seen.len() < ids.len() {
        return Err(Error::NotFound);
    }
    Ok(seen.iter().map(|seen| seen.proper().id).collect())
}

/// Bookmarks statuses that [`bookmarkable`] gave, in `tx`; says of each whether it was none before.
///
/// # Errors
/// When the database does.
pub async fn bookmark_all(app: &App, tx: &mut Tx, actor: &Actor, statuses: &[StatusId]) -> Result<Vec<bool>> {
    let rows = statuses.iter().map(|status| (app.ids.next(), *status)).collect();
    let mut new: HashSet<StatusId> =
        store::favourite::insert_bookmarks(tx, actor.id, rows, app.clock.now()).await?.into_iter().collect();
    let changes: Vec<Change> =
        new.iter().map(|status| Change::mark(Kind::BookmarkCreated, actor.id, *status)).collect::<Result<_>>()?;
    hooks::record_all(app, tx, &changes).await?;
    Ok(statuses.iter().map(|status| new.remove(status)).collect())
}

/// Takes the bookmark back, also of a status that is not visible any more. `None` then: there is nothing to show.
///
/// # Errors
/// [`Error::NotFound`] when there is neither a visible status nor a bookmark.
pub async fn unbookmark(app: &App, actor: &Actor, id: StatusId) -> Result<Option<Seen>> {
    let seen = visibility::status(app, Some(actor), id).await.ok();
    let proper = seen.as_ref().map_or(id, |seen| seen.proper().id);
    if seen.is_none() && !store::favourite::has_bookmark(&app.db, actor.id, id).await? {
        return Err(Error::NotFound);
    }
    let mut tx = app.db.begin().await?;
    if store::favourite::delete(&mut tx, Mark::Bookmark, actor.id, proper).await?.is_some() {
        hooks::record(app, &mut tx, Change::mark(Kind::BookmarkDeleted, actor.id, proper)?).await?;
    }
    tx.commit().await?;
    match seen {
        None => Ok(None),
        Some(_) => visibility::status(app, Some(actor), id).await.map(Some),
    }
}

/// Pins `actor`'s own status to their profile.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or hidden; [`Error::Invalid`] when it is someone else's, a reblog, direct,
/// pinned already, or one too many.
pub async fn pin(app: &App, actor: &Actor, id: StatusId) -> Result<()> {
    let seen = visibility::status(app, Some(actor), id).await?;
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
    let most = app.settings().max_pinned_statuses;
    let mut tx = app.db.begin().await?;
    if store::favourite::count_pins(&mut tx, actor.id).await? >= most {
        return refused("You have already pinned the maximum number of posts");
    }
    if !store::favourite::insert(&mut tx, Mark::Pin, app.ids.next(), actor.id, head.id, app.clock.now()).await? {
        return refused("The post is pinned already");
    }
    tx.commit().await?;
    Ok(())
}

/// Takes the pin away.
///
/// # Errors
/// [`Error::NotFound`] when the status is missing or hidden.
pub async fn unpin(app: &App, actor: &Actor, id: StatusId) -> Result<()> {
    let seen = visibility::status(app, Some(actor), id).await?;
    let mut tx = app.db.begin().await?;
    store::favourite::delete(&mut tx, Mark::Pin, actor.id, seen.head().id).await?;
    tx.commit().await?;
    Ok(())
}

/// Mutes the thread of a status: no notifications from it, or again some.
///
/// # Errors
/// [`Error::NotFound`] when the status is missing or hidden, [`Error::Invalid`] when it belongs to no thread.
pub async fn mute_conversation(app: &App, actor: &Actor, id: StatusId, muted: bool) -> Result<()> {
    let seen = visibility::status(app, Some(actor), id).await?;
    let conversation = seen
        .proper()
        .conversation_id
        .ok_or_else(|| Error::invalid("Validation failed: The post belongs to no conversation"))?;
    let mut tx = app.db.begin().await?;
    store::favourite::set_conversation_mute(&mut tx, actor.id, conversation, muted).await?;
    tx.commit().await?;
    Ok(())
}
