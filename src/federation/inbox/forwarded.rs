//! Activities that one server passes on for an account of another: they cause a fetch, and have no effect of their own.
//!
//! The object is fetched from its own server, and only what that server answers takes effect
//! (docs/contract/federation.md#8-delivery).

use context::Cx;
use service::remote::relevance;

use super::inbound::Inbound;
use super::reason::Reason;
use super::refusal::Ignored;
use super::{create, relayed, update};
use crate::reading::known;
use crate::vocabulary::Note;
use crate::{Failure, fetch};

/// Stores a status that concerns this server.
pub(super) async fn created(cx: &Cx, inbound: &Inbound, uri: &str) -> Result<(), Ignored> {
    if known(cx, uri).await?.is_some() {
        return Err(Reason::KnownStatus.into());
    }
    if relayed::admits(cx, inbound).await? {
        return relayed::counted(inbound, Box::pin(fetch::status(cx, uri)).await.map(drop).map_err(Ignored::from));
    }
    if !is_related(cx, inbound).await? {
        return Err(Reason::Unrelated.into());
    }
    let note = fetch::note_document(cx, uri).await?;
    create::store(cx, &by_author(cx, inbound).await?, &note, true).await
}

/// Replaces a status that is known here.
pub(super) async fn updated(cx: &Cx, inbound: &Inbound, uri: &str) -> Result<(), Ignored> {
    if store::remote::find_status(&cx.db, uri).await?.is_none() {
        return Err(Reason::UnknownStatus.into());
    }
    let note = fetch::note_document(cx, uri).await?;
    update::apply(cx, &by_author(cx, inbound).await?, &note).await
}

/// True when the sender is followed here, or says that the status answers one that is known.
async fn is_related(cx: &Cx, inbound: &Inbound) -> Result<bool, Ignored> {
    if relevance::is_followed(cx, inbound.sender.id).await? {
        return Ok(true);
    }
    let parent = inbound.object()?.read::<Note>().and_then(|note| note.in_reply_to.first().cloned());
    match parent {
        Some(parent) => Ok(known(cx, &parent.0).await?.is_some()),
        None => Ok(false),
    }
}

/// Deletes a status that anyone may read, if its own server says that it is gone. That it is not found proves nothing:
/// every server answers so for objects that are hidden from the requesting one.
pub(super) async fn deleted(cx: &Cx, _: &Inbound, uri: &str) -> Result<(), Ignored> {
    let status = store::remote::find_status(&cx.db, uri).await?.ok_or(Reason::UnknownStatus)?;
    if !status.visibility.is_anonymous() {
        return Err(Reason::NotPublic.into());
    }
    match fetch::note_document(cx, uri).await {
        Err(Failure::Gone) => {}
        Ok(note) if note.kind.iter().any(|kind| kind == "Tombstone") => {}
        Ok(_) => return Err(Reason::OriginalExists.into()),
        Err(failure) => return Err(failure.into()),
    }
    service::remote::status::delete(cx, status.account_id, uri).await?;
    Ok(())
}

/// The same activity, as if the actor had sent it.
async fn by_author(cx: &Cx, inbound: &Inbound) -> Result<Inbound, Ignored> {
    let author = fetch::account(cx, &inbound.activity.actor).await?;
    let sender = store::remote::get_actor(&cx.db, author.id).await?.ok_or(Failure::Gone)?;
    if sender.domain.is_none() || sender.suspended_at.is_some() {
        return Err(Reason::SuspendedAccount.into());
    }
    Ok(Inbound { activity: inbound.activity.clone(), sender, mailbox: None })
}
