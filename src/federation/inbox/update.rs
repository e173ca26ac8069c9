//! Update: an edited status, or a changed profile.

use context::{Cx, Error};
use model::Time;
use service::remote::relevance;

use super::create::author;
use super::inbound::Inbound;
use super::reason::Reason;
use super::refusal::Ignored;
use crate::fetch;
use crate::reading::{Read, author_of, poll, read};
use crate::vocabulary::{Actor, Note};

/// Replaces a known status of the sender, or the sender's profile, by the object.
pub(super) async fn update(cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
    let object = inbound.object()?;
    let id = object.id.as_deref().ok_or(Reason::NoObject)?;
    if id == inbound.sender.uri {
        return profile(cx, inbound).await;
    }
    if !crate::address::same_host(id, &inbound.sender.uri) {
        return Err(Reason::ForeignObject.into());
    }
    let note = match object.read::<Note>() {
        Some(note) => note,
        None if object.is_inline() => return Err(Reason::NotANote.into()),
        None => fetch::note_document(cx, id).await?,
    };
    apply(cx, inbound, &note).await
}

/// Replaces a known status of the sender by `note`, which came from the sender's server.
pub(super) async fn apply(cx: &Cx, inbound: &Inbound, note: &Note) -> Result<(), Ignored> {
    if author_of(cx, note)? != inbound.sender.uri {
        return Err(Reason::NotTheAuthor.into());
    }
    let Read { status, local } = read(cx, note, &author(inbound), inbound.mailbox).await?;
    if relevance::is_unwelcome(cx, &status, &local).await? {
        return Err(Reason::RepliesRejected.into());
    }
    let mut changed = false;
    if store::status::find_by_uri(&cx.db, &status.uri).await?.is_some() {
        fetch::quoted(cx, &status).await?;
        let status = fetch::authorized(cx, note, status).await?;
        // Without a time nothing was edited: it states anew who may interact, or the authorization of its quote.
        changed |= owned(Box::pin(service::remote::consent::restate(cx, &status)).await)?;
        if let Some(edited) = note.updated.as_deref().and_then(Time::parse_rfc3339) {
            changed |= owned(Box::pin(service::remote::edit(cx, status, edited)).await)?;
        }
    }
    let counted = match poll(note, cx.clock.now()) {
        Some(poll) => owned(service::remote::poll::tally(cx, inbound.sender.id, &note.id, &poll).await)?,
        None => false,
    };
    if changed || counted { Ok(()) } else { Err(Reason::UnknownOrNotNewer.into()) }
}

fn owned(done: context::Result<bool>) -> Result<bool, Ignored> {
    match done {
        Err(Error::Forbidden(_)) => Err(Reason::NotTheAuthor.into()),
        Err(Error::Invalid(_)) => Err(Reason::TextNotAllowed.into()),
        done => Ok(done?),
    }
}

async fn profile(cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
    match inbound.object()?.read::<Actor>() {
        Some(actor) => fetch::account::save(cx, &actor, None).await.map(drop)?,
        None => fetch::account::fetch(cx, &inbound.sender.uri, None).await.map(drop)?,
    }
    Ok(())
}
