//! What the author of a thread may do with it: take a reply out of it, and close it.
//!
//! A reply that was taken out is seen by its author alone, and by nobody else on this server; servers that understand it are
//! told, and only who did it can undo it. Nobody but its author may reply to a closed thread.
//!
//! Spec: docs/contract/rules.md#10-statuses, Interaction policies

use super::decision;
use crate::visibility;
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result};
use model::interaction::RequestState;
use model::{Actor, Approval, InteractionKind, Status, StatusId};
use store::interaction_request::InteractionRequest;

/// Takes the reply `id` out of a thread of `actor`: one whose first status, or the status that is replied to, is theirs.
///
/// # Errors
/// [`Error::NotFound`] when it is missing, hidden, or no reply; [`Error::Forbidden`] when the thread is someone else's, or the
/// reply is `actor`'s own.
#[model::use_case]
pub async fn remove_reply(cx: &Cx, actor: &Actor, id: StatusId) -> Result<()> {
    let seen = visibility::status(cx, Some(actor), id).await?;
    let reply = store::status::find(&cx.db, seen.proper().id).await?.ok_or(Error::NotFound)?;
    let parent = reply.in_reply_to_id.ok_or(Error::NotFound)?;
    let parent = store::status::find(&cx.db, parent).await?.ok_or(Error::NotFound)?;
    if reply.account_id == actor.id {
        return Err(Error::forbidden("This is your own reply: delete it instead"));
    }
    let target = match parent.account_id == actor.id {
        true => parent,
        false => root(cx, actor, &parent).await?,
    };
    let mut tx = cx.db.begin().await?;
    let known = store::interaction_request::find_by_uri(&mut tx, InteractionKind::Reply, &reply.uri).await?;
    let (kept, other) = match known {
        Some(known) if known.author_id == actor.id => (Some(known), None),
        other => (None, other),
    };
    if other.is_some() {
        store::interaction_request::delete(&mut tx, &reply.uri).await?;
    }
    let now = cx.clock.now();
    let request = match kept {
        Some(kept) => kept,
        None => {
            let new = InteractionRequest {
                id: cx.ids.next(),
                kind: InteractionKind::Reply,
                target_id: target.id,
                author_id: actor.id,
                account_id: reply.account_id,
                uri: reply.uri.clone(),
                request_uri: None,
                authorization_uri: None,
                state: RequestState::Accepted,
                created_at: now,
                decided_at: Some(now),
            };
            store::interaction_request::insert(&mut tx, &new).await?;
            new
        }
    };
    decision::settle(cx, &mut tx, &request, RequestState::Revoked, None).await?;
    change::record(cx, &mut tx, Change::InteractionDecided { request: request.id }).await?;
    change::record(cx, &mut tx, Change::AuthorizationRevoked { request: request.id }).await?;
    Ok(tx.commit().await?)
}

/// Puts a reply back that `actor` took out of a thread.
///
/// # Errors
/// [`Error::NotFound`] when it was not taken out, or by someone else.
#[model::use_case]
pub async fn restore_reply(cx: &Cx, actor: &Actor, id: StatusId) -> Result<()> {
    let reply = store::status::find(&cx.db, id).await?.ok_or(Error::NotFound)?;
    let mut tx = cx.db.begin().await?;
    let known = store::interaction_request::find_by_uri(&mut tx, InteractionKind::Reply, &reply.uri).await?;
    let own = |known: &InteractionRequest| known.author_id == actor.id && known.state == RequestState::Revoked;
    let request = known.filter(own).filter(|_| reply.approval == Some(Approval::Removed)).ok_or(Error::NotFound)?;
    decision::settle(cx, &mut tx, &request, RequestState::Accepted, None).await?;
    change::record(cx, &mut tx, Change::InteractionDecided { request: request.id }).await?;
    Ok(tx.commit().await?)
}

/// Closes the thread of `actor`'s status `id`, or opens it again.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or hidden; [`Error::Forbidden`] when the first status of the thread is someone
/// else's.
#[model::use_case]
pub async fn close(cx: &Cx, actor: &Actor, id: StatusId, closed: bool) -> Result<()> {
    let seen = visibility::status(cx, Some(actor), id).await?;
    let status = store::status::find(&cx.db, seen.proper().id).await?.ok_or(Error::NotFound)?;
    root(cx, actor, &status).await?;
    let conversation = status.conversation_id.ok_or(Error::NotFound)?;
    let mut tx = cx.db.begin().await?;
    store::status::set_closer(&mut tx, conversation, closed.then_some(actor.id)).await?;
    Ok(tx.commit().await?)
}

/// The first status of the thread of `status`, if it is `actor`'s.
async fn root(cx: &Cx, actor: &Actor, status: &Status) -> Result<Status> {
    let root = match status.conversation_id {
        Some(conversation) => store::status::find_root(&cx.db, conversation).await?,
        None => None,
    };
    let own = |root: &Status| root.account_id == actor.id;
    root.filter(own).ok_or_else(|| Error::forbidden("This thread is someone else's"))
}
