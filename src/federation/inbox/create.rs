//! Create: a status of an account of another server.

use context::{Cx, Error};
use model::{AccountId, InteractionKind, StatusId};
use service::remote::status::{self, RemoteStatus};
use service::remote::{consent, relevance};

use super::inbound::Inbound;
use super::reason::Reason;
use super::refusal::Ignored;
use crate::fetch;
use crate::reading::{Author, Read, author_of, read};
use crate::vocabulary::Note;

/// Stores the status that is the object, if it concerns this server.
pub(super) async fn create(cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
    let note = note(cx, inbound).await?;
    store(cx, inbound, &note, false).await
}

/// Stores `note`, which came from the server of the sender. `related`: it is known to concern this server.
pub(super) async fn store(cx: &Cx, inbound: &Inbound, note: &Note, related: bool) -> Result<(), Ignored> {
    let author = author(inbound);
    if author_of(cx, note)? != author.uri {
        return Err(Reason::NotTheAuthor.into());
    }
    if let Some(answered) = answered_poll(cx, note).await? {
        return vote(cx, inbound, answered, note).await;
    }
    let Read { status, local } = read(cx, note, &author, inbound.mailbox).await?;
    if !related && !relevance::is_relevant(cx, &status, &local).await? {
        return Err(Reason::Unrelated.into());
    }
    if relevance::is_unwelcome(cx, &status, &local).await? {
        return Err(Reason::RepliesRejected.into());
    }
    if let Some(target) = status.in_reply_to
        && !consent::may_reply(cx, &status).await?
    {
        consent::refuse(cx, InteractionKind::Reply, target, inbound.sender.id, &status.uri, None).await?;
        return Err(Reason::NotAllowed.into());
    }
    fetch::quoted(cx, &status).await?;
    let status = fetch::authorized(cx, note, RemoteStatus { delivered: true, ..status }).await?;
    let shown_to: Vec<AccountId> = if status.visibility.is_wider_than_followers() { Vec::new() } else { local };
    match Box::pin(status::create(cx, status, &shown_to)).await {
        Err(Error::Gone) => Err(Reason::DeletedBefore.into()),
        Err(Error::NotFound) => Err(Reason::SuspendedAccount.into()),
        Err(Error::Forbidden(_)) => Err(Reason::NotTheAuthor.into()),
        Err(Error::Invalid(_)) => Err(Reason::TextNotAllowed.into()),
        done => Ok(done.map(drop)?),
    }
}

/// The local status that `note` answers as a vote does: with a name and without a text.
async fn answered_poll(cx: &Cx, note: &Note) -> Result<Option<StatusId>, Ignored> {
    let is_vote = note.name.is_some() && note.content.as_deref().unwrap_or_default().is_empty();
    match note.in_reply_to.first().filter(|_| is_vote) {
        Some(parent) => Ok(service::public::local_status(cx, &parent.0).await?),
        None => Ok(None),
    }
}

/// Counts `note` as a vote of the sender.
async fn vote(cx: &Cx, inbound: &Inbound, status: StatusId, note: &Note) -> Result<(), Ignored> {
    let title = note.name.as_deref().unwrap_or_default();
    match service::remote::poll::vote(cx, inbound.sender.id, status, title).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(Reason::NoSuchOption.into()),
        Err(Error::NotFound | Error::Forbidden(_)) => Err(Reason::NotVisible.into()),
        Err(Error::Invalid(_)) => Err(Reason::NotVotable.into()),
        Err(error) => Err(error.into()),
    }
}

/// The sender as an author.
pub(super) fn author(inbound: &Inbound) -> Author {
    let sender = &inbound.sender;
    Author {
        id: sender.id,
        uri: sender.uri.clone(),
        followers: sender.followers_url.clone(),
        searchability: sender.searchability,
    }
}

/// The object: inline, with an id on the sender's host; or fetched from there.
async fn note(cx: &Cx, inbound: &Inbound) -> Result<Note, Ignored> {
    let object = inbound.object()?;
    let id = object.id.as_deref().ok_or(Reason::NoObject)?;
    if let Some(bearcap) = fetch::Bearcap::parse(id) {
        if !crate::address::same_host(&bearcap.url, &inbound.sender.uri) {
            return Err(Reason::ForeignObject.into());
        }
        return Ok(fetch::by_bearcap(cx, &bearcap).await?);
    }
    if !crate::address::same_host(id, &inbound.sender.uri) {
        return Err(Reason::ForeignObject.into());
    }
    if let Some(note) = object.read::<Note>() {
        return Ok(note);
    }
    if object.is_inline() {
        return Err(Reason::NotANote.into());
    }
    Ok(fetch::note_document(cx, id).await?)
}
