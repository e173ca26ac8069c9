//! Accept and Reject: the answer to a follow, or to a request to interact, by an account of this server.

use context::Cx;
use model::AccountId;
use service::remote::{follow, relay, relevance};

use super::consent;
use super::inbound::Inbound;
use super::reason::Reason;
use super::refusal::Ignored;
use crate::vocabulary::Activity;

/// The request of the local account becomes a follow; without a request the activity has no effect.
pub(super) async fn accept(cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
    if is_of_relay(cx, inbound, true).await? || consent::decided(cx, inbound, true).await? {
        return Ok(());
    }
    let follower = follower(cx, inbound).await?;
    match follow::accepted(cx, follower, inbound.sender.id).await? {
        true => Ok(()),
        false => Err(Reason::NotRequested.into()),
    }
}

/// The request, or the follow, of the local account ends.
pub(super) async fn reject(cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
    if is_of_relay(cx, inbound, false).await? || consent::decided(cx, inbound, false).await? {
        return Ok(());
    }
    let follower = follower(cx, inbound).await?;
    match follow::ended(cx, follower, inbound.sender.id).await? {
        true => Ok(()),
        false => Err(Reason::NotRequested.into()),
    }
}

/// True when the sender is a relay that responds to the follow by the server's actor.
async fn is_of_relay(cx: &Cx, inbound: &Inbound, accepted: bool) -> Result<bool, Ignored> {
    let id = inbound.object()?.id.as_deref().filter(|id| id.starts_with(&cx.urls.path("/payloads/")));
    match id {
        Some(id) if relay::respond(cx, id, &inbound.sender.uri, accepted).await? => Ok(true),
        Some(_) => Err(Reason::UnknownFollow.into()),
        None => Ok(false),
    }
}

/// The local account whose follow is answered: by the id of the follow, else by the follow itself.
async fn follower(cx: &Cx, inbound: &Inbound) -> Result<AccountId, Ignored> {
    let object = inbound.object()?;
    let by_id = object.id.as_deref().and_then(|id| id.split_once("#follows/")).map(|(actor, _)| actor.to_owned());
    let inline = || object.read::<Activity>().filter(|follow| follow.is("Follow")).map(|follow| follow.actor.0);
    let actor = by_id.or_else(inline).ok_or(Reason::UnknownFollow)?;
    let account = relevance::local_account(cx, &actor).await?;
    Ok(account.ok_or(Reason::UnknownFollow)?.id)
}

/// The acceptance of a follow is undone: the follow ends.
pub(super) async fn reject_undone(cx: &Cx, inbound: &Inbound, accepted: &Activity) -> Result<(), Ignored> {
    let follow = accepted.object.first().ok_or(Reason::NoObject)?;
    let actor = follow.read::<Activity>().map(|follow| follow.actor.0).ok_or(Reason::UnknownFollow)?;
    let account = relevance::local_account(cx, &actor).await?;
    let account = account.ok_or(Reason::UnknownFollow)?;
    match follow::ended(cx, account.id, inbound.sender.id).await? {
        true => Ok(()),
        false => Err(Reason::NothingToUndo.into()),
    }
}
