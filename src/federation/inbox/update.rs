//! Update: an edited status, or a changed profile.

use context::{Cx, Error};
use model::Time;

use super::create::author;
use super::inbound::Inbound;
use super::refusal::Ignored;
use crate::fetch;
use crate::reading::{Read, author_of, read};
use crate::vocabulary::{Actor, Note};

/// Replaces a known status of the sender, or the sender's profile, by the object.
pub(super) async fn update(cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
    let object = inbound.object()?;
    let id = object.id.as_deref().ok_or(Ignored::Because("no_object"))?;
    if id == inbound.sender.uri {
        return profile(cx, inbound).await;
    }
    if !crate::address::same_host(id, &inbound.sender.uri) {
        return Err(Ignored::Because("foreign_object"));
    }
    let note = match object.read::<Note>() {
        Some(note) => note,
        None if object.is_inline() => return Err(Ignored::Because("not_a_note")),
        None => fetch::note_document(cx, id).await?,
    };
    if author_of(cx, &note)? != inbound.sender.uri {
        return Err(Ignored::Because("not_the_author"));
    }
    // Without a time it changes nothing but the counts of a poll.
    let edited = note.updated.as_deref().and_then(Time::parse_rfc3339).ok_or(Ignored::Because("not_newer"))?;
    let Read { status, .. } = read(cx, &note, &author(inbound), inbound.mailbox).await?;
    match service::remote::edit(cx, status, edited).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(Ignored::Because("unknown_or_not_newer")),
        Err(Error::Forbidden(_)) => Err(Ignored::Because("not_the_author")),
        Err(error) => Err(error.into()),
    }
}

async fn profile(cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
    match inbound.object()?.read::<Actor>() {
        Some(actor) => fetch::account::save(cx, &actor, None).await.map(drop)?,
        None => fetch::account::fetch(cx, &inbound.sender.uri, None).await.map(drop)?,
    }
    Ok(())
}
