//! Favourites, reblogs and pins by accounts of other servers.

use super::approval::{self, Decided};
use crate::status;
use crate::visibility;
use crate::{interaction, notification, reblog};
use context::Cx;
use context::error::{Error, Result};
use model::{AccountId, InteractionKind, NotificationType, Status, StatusId, Time, Visibility};
use store::favourite::Mark;

/// Most statuses that a remote account may have pinned.
const PINS_MAX: i64 = 20;

/// Marks a status as a favourite of a remote account, or asks its author for approval. `like`: the activity.
///
/// # Errors
/// [`Error::NotFound`] when the account may not see it, [`Error::Forbidden`] when it blocks the author.
#[model::use_case]
pub async fn favourite(cx: &Cx, account: AccountId, status: StatusId, like: Option<&str>) -> Result<()> {
    let actor = super::actor(cx, account).await?;
    interaction::favourite_as(cx, &actor, status, like).await
}

/// Removes the favourite of a remote account.
///
/// # Errors
/// [`Error::NotFound`] when the status is missing, or was never visible to the account.
#[model::use_case]
pub async fn unfavourite(cx: &Cx, account: AccountId, status: StatusId) -> Result<()> {
    let actor = super::actor(cx, account).await?;
    interaction::unfavourite(cx, &actor, status).await.map(drop)
}

/// A reblog by a remote account.
#[derive(Clone, Debug)]
pub struct RemoteReblog {
    /// The activity.
    pub uri: String,
    pub account: AccountId,
    /// The original.
    pub status: StatusId,
    pub visibility: Visibility,
    pub created_at: Time,
}

/// Stores a reblog; `None` when the account reblogged the status before.
///
/// # Errors
/// [`Error::NotFound`] when the account may not see the original, [`Error::Forbidden`] when it may not be reblogged, or its
/// author does not allow it.
#[model::use_case]
pub async fn reblog(cx: &Cx, new: RemoteReblog) -> Result<Option<StatusId>> {
    let actor = super::actor(cx, new.account).await?;
    let seen = visibility::status(cx, Some(&actor), new.status).await?;
    let original = store::status::find(&cx.db, seen.proper().id).await?.ok_or(Error::NotFound)?;
    let own = original.account_id == actor.id;
    let may = original.visibility.is_wider_than_followers() || (own && original.visibility == Visibility::Private);
    if !may {
        return Err(Error::NotFound);
    }
    let Decided { approval: hidden, request } =
        approval::decided_before(cx, &actor, &seen, InteractionKind::Reblog, &new.uri, None).await?;
    let id = super::status::new_id(cx, new.created_at).await?;
    let row = Status {
        local: false,
        visibility: new.visibility,
        searchability: original.searchability,
        language: original.language.clone(),
        conversation_id: original.conversation_id,
        reblog_of_id: Some(original.id),
        approval: hidden,
        ..Status::new(id, actor.id, new.uri, new.created_at.min(cx.clock.now()))
    };
    let mut tx = cx.db.begin().await?;
    if !reblog::write(cx, &mut tx, &actor, row, &original, request).await? {
        return Ok(None);
    }
    tx.commit().await?;
    Ok(Some(id))
}

/// Removes the reblog of `status` by a remote account; false when there is none.
#[model::use_case]
pub async fn unreblog(cx: &Cx, account: AccountId, status: StatusId) -> Result<bool> {
    let mut tx = cx.db.begin().await?;
    let Some(reblog) = store::reblog::find(&mut tx, account, status).await? else { return Ok(false) };
    notification::retract(&mut tx, NotificationType::Reblog, reblog).await?;
    match status::remove(cx, &mut tx, account, reblog).await {
        Ok(()) => tx.commit().await?,
        Err(Error::NotFound) => return Ok(false),
        Err(error) => return Err(error),
    }
    Ok(true)
}

/// Pins a status of a remote account to its profile. Pinning a pinned one has no effect.
///
/// # Errors
/// [`Error::Forbidden`] when the status is another account's, or a reblog, or for few people; when the account has pinned
/// too many.
#[model::use_case]
pub async fn pin(cx: &Cx, account: AccountId, status: StatusId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    store::account::lock(&mut tx, &[account]).await?;
    let status = store::status::find(&mut tx, status).await?.ok_or(Error::NotFound)?;
    let fits = status.reblog_of_id.is_none() && !matches!(status.visibility, Visibility::Direct | Visibility::Limited);
    if status.account_id != account || !fits {
        return Err(Error::forbidden("This status cannot be pinned"));
    }
    if store::favourite::count_pins(&mut tx, account).await? >= PINS_MAX {
        return Err(Error::forbidden("The account has pinned too many statuses"));
    }
    store::favourite::insert(&mut tx, Mark::Pin, cx.ids.next(), account, status.id, cx.clock.now()).await?;
    Ok(tx.commit().await?)
}

/// Unpins a status of a remote account; false when it was not pinned.
#[model::use_case]
pub async fn unpin(cx: &Cx, account: AccountId, status: StatusId) -> Result<bool> {
    let mut tx = cx.db.begin().await?;
    let unpinned = store::favourite::delete(&mut tx, Mark::Pin, account, status).await?;
    tx.commit().await?;
    Ok(unpinned.is_some())
}
