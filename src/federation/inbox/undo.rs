//! Undo: of a follow, a favourite, a reblog, a block or an acceptance, each only by who did it.

use context::{Cx, Error};
use service::remote::{follow, interaction, relevance};

use super::inbound::Inbound;
use super::reason::Reason;
use super::refusal::Ignored;
use crate::address::{is_usable, same_host};
use crate::reading::known;
use crate::vocabulary::{Activity, Object};

/// The types of activity that can be undone.
const UNDOABLE: [&str; 5] = ["Follow", "Block", "Like", "Announce", "Accept"];

/// Undoes the activity in the object; an object that is only an id is tried as a follow, a block and a reblog.
pub(super) async fn undo(cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
    let object = inbound.object()?;
    let Some(done) = object.read::<Activity>() else { return by_id(cx, inbound, object).await };
    if *done.actor != *inbound.sender.uri {
        return Err(Reason::NotTheActor.into());
    }
    let target = done.object.first().and_then(|target| target.id.as_deref());
    let target = target.ok_or(Reason::NoObject)?;
    match done.first_of(&UNDOABLE) {
        Some("Follow") => unfollow(cx, inbound, target).await,
        Some("Block") => {
            remember(cx, inbound, object).await?;
            super::block::unblock(cx, inbound, target).await
        }
        Some("Like") => {
            remember(cx, inbound, object).await?;
            unlike(cx, inbound, target).await
        }
        Some("Announce") => match known(cx, target).await? {
            Some(status) => {
                remember(cx, inbound, object).await?;
                found(interaction::unreblog(cx, inbound.sender.id, status).await?)
            }
            None => by_id(cx, inbound, object).await,
        },
        Some("Accept") => super::accept::reject_undone(cx, inbound, &done).await,
        _ => Err(Reason::NotUndoable.into()),
    }
}

/// Remembers that the activity with the id of `object` was undone: it may come later. A Follow is not remembered, since
/// there is software that uses the id of a follow again for the next one.
async fn remember(cx: &Cx, inbound: &Inbound, object: &Object) -> Result<(), Ignored> {
    let own = object.id.as_deref().filter(|id| is_usable(id) && same_host(id, &inbound.sender.uri));
    let Some(uri) = own else { return Ok(()) };
    Ok(relevance::remember_undone(cx, inbound.sender.id, uri).await?)
}

async fn unfollow(cx: &Cx, inbound: &Inbound, target: &str) -> Result<(), Ignored> {
    let target = store::remote::find_account(&cx.db, target).await?.ok_or(Reason::UnknownTarget)?;
    found(follow::ended(cx, inbound.sender.id, target.id).await?)
}

async fn unlike(cx: &Cx, inbound: &Inbound, target: &str) -> Result<(), Ignored> {
    let status = known(cx, target).await?.ok_or(Reason::UnknownStatus)?;
    match interaction::unfavourite(cx, inbound.sender.id, status).await {
        Err(Error::NotFound) => Err(Reason::NothingToUndo.into()),
        done => Ok(done?),
    }
}

/// Undoes the follow, the follow request or the block with this id, else the reblog. Only a follow may arrive after its undo.
async fn by_id(cx: &Cx, inbound: &Inbound, object: &Object) -> Result<(), Ignored> {
    let uri = object.id.as_deref().ok_or(Reason::NoObject)?;
    if !is_usable(uri) || !same_host(uri, &inbound.sender.uri) {
        return Err(Reason::ForeignId.into());
    }
    if let Some(row) = store::remote::find_follow_by_uri(&cx.db, inbound.sender.id, uri).await? {
        return found(follow::ended(cx, inbound.sender.id, row.target_account_id).await?);
    }
    if let Some(target) = store::relationship::find_block_by_uri(&cx.db, inbound.sender.id, uri).await? {
        remember(cx, inbound, object).await?;
        return Ok(service::remote::block::end(cx, inbound.sender.id, target).await?);
    }
    match service::remote::status::delete(cx, inbound.sender.id, uri).await {
        Err(Error::Forbidden(_)) => Err(Reason::NotTheActor.into()),
        done => found(done?),
    }
}

fn found(done: bool) -> Result<(), Ignored> {
    if done { Ok(()) } else { Err(Reason::NothingToUndo.into()) }
}
