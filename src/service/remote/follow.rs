//! Follows between an account of another server and one of this one, as the other server reports them.

use crate::{follow, relationship};
use context::Cx;
use context::error::{Error, Result};
use database::Tx;
use model::{Account, AccountId, AccountId as Id};
use store::follow::Terms;

/// The answer to a follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is a follow now; the answer is queued with it.
    Accepted,
    /// It was a follow before.
    AlreadyAccepted,
    /// The target decides.
    Requested,
    /// The target does not want it.
    Rejected,
}

/// Makes the remote account `follower` follow the local account `target`, or request to. `uri`: the activity.
///
/// # Errors
/// [`Error::NotFound`] when one of them is gone, or the target is not a usable account of this server.
#[model::use_case]
pub async fn receive(cx: &Cx, follower: Id, target: Id, uri: Option<String>) -> Result<Answer> {
    let mut tx = cx.db.begin().await?;
    let (follower, target) = relationship::lock_pair(&mut tx, follower, target).await?;
    if !target.is_local() || store::account::list_known(&mut tx, &[target.id]).await?.is_empty() {
        return Err(Error::NotFound);
    }
    let answer = begin(cx, &mut tx, &follower, &target, uri).await?;
    tx.commit().await?;
    Ok(answer)
}

async fn begin(cx: &Cx, tx: &mut Tx, follower: &Account, target: &Account, uri: Option<String>) -> Result<Answer> {
    let tie = relationship::tie(cx, tx, target.id, follower.id).await?;
    let refused = tie.blocking || tie.blocked_by || tie.domain_blocking;
    if refused || target.is_suspended() || target.memorial || target.moved_to_account_id.is_some() {
        return Ok(Answer::Rejected);
    }
    if tie.followed_by || tie.requested_by {
        if let Some(uri) = &uri {
            store::follow::set_uri(tx, follower.id, target.id, uri).await?;
        }
        return Ok(if tie.followed_by { Answer::AlreadyAccepted } else { Answer::Requested });
    }
    let flags = super::flags(cx, follower.id).await?;
    if flags.reject_new_follow {
        return Ok(Answer::Rejected);
    }
    let terms = Terms { show_reblogs: true, notify: false, languages: None };
    if target.locked || follower.is_limited() || flags.reject_straight_follow {
        follow::request(cx, tx, follower.id, target.id, terms, uri).await?;
        return Ok(Answer::Requested);
    }
    follow::establish(cx, tx, follower.id, target.id, terms, uri).await?;
    Ok(Answer::Accepted)
}

/// The remote account `target` accepted the request of the local account `follower`; false when there is none.
#[model::use_case]
pub async fn accepted(cx: &Cx, follower: AccountId, target: AccountId) -> Result<bool> {
    follow::accept(cx, target, follower).await
}

/// Ends the follow of `target` by `follower`, or the request for it, because the remote one of the two ended it; false
/// when there is none.
#[model::use_case]
pub async fn ended(cx: &Cx, follower: AccountId, target: AccountId) -> Result<bool> {
    let mut tx = cx.db.begin().await?;
    match relationship::lock_pair(&mut tx, follower, target).await {
        Err(Error::NotFound) => return Ok(false),
        pair => drop(pair?),
    }
    let (request, follow) = follow::end(cx, &mut tx, follower, target).await?;
    tx.commit().await?;
    Ok(request.is_some() || follow.is_some())
}
