//! Statuses of other servers, by their URIs.

use context::Cx;
use model::{Account, StatusId};
use service::remote::status::{DEPTH_MAX, RemoteStatus};

use super::document;
use crate::Failure;
use crate::floods::{Flood, domain_of};
use crate::reading::{Author, author_of, known, read};
use crate::state::Network;
use crate::vocabulary::{Note, parse};

/// The status `uri`, fetched if it is not known.
///
/// # Errors
/// [`Failure`].
pub async fn status(cx: &Cx, uri: &str) -> Result<StatusId, Failure> {
    status_at(cx, uri, 0).await
}

/// As [`status`], for an ancestor: `depth` of its descendants led to it.
pub(super) async fn status_at(cx: &Cx, uri: &str, depth: u32) -> Result<StatusId, Failure> {
    if let Some(known) = known(cx, uri).await? {
        return Ok(known);
    }
    note_at(cx, &note_document(cx, uri).await?, depth).await
}

/// The note at `uri`: its id is the address that it came from.
///
/// # Errors
/// [`Failure`].
pub async fn note_document(cx: &Cx, uri: &str) -> Result<Note, Failure> {
    let fetched = document(cx, uri).await?;
    let found: Note = parse(&fetched.body)?;
    if fetched.is(&found.id, uri) {
        cx.step("id", true, || format!("{} is the address of the note", found.id));
        return Ok(found);
    }
    cx.step("id", true, || format!("the note has the id {}, from where it is fetched", found.id));
    let fetched = document(cx, &found.id).await?;
    let again: Note = parse(&fetched.body)?;
    let same = again.id == found.id && fetched.is(&again.id, &found.id);
    cx.step("id", same, || format!("the note at {} has the id {}", fetched.url, again.id));
    if same { Ok(again) } else { Err(Failure::Disbelieved("the id is another on every request")) }
}

/// Stores a note that came from its own address, and the status that it quotes.
///
/// # Errors
/// [`Failure`].
pub async fn note(cx: &Cx, note: &Note) -> Result<StatusId, Failure> {
    note_at(cx, note, 0).await
}

/// As [`note`], after `depth` statuses that led to it.
#[model::boxed]
pub(super) async fn note_at(cx: &Cx, note: &Note, depth: u32) -> Result<StatusId, Failure> {
    admit(cx, note)?;
    let status = RemoteStatus { depth, ..status_of(cx, note).await? };
    quoted(cx, &status).await?;
    create(cx, super::authorized(cx, note, status).await?).await
}

/// Counts a fetched note against a flood of its domain.
fn admit(cx: &Cx, note: &Note) -> Result<(), Failure> {
    let admitted = Network::of(cx)?.floods.admit(Flood::Statuses, &domain_of(&note.id), cx.clock.now());
    if admitted { Ok(()) } else { Err(Failure::Flood) }
}

/// Fetches the status that `status` quotes, if it is not known; without its own quote and its thread. A status that
/// cannot be fetched is not quoted.
///
/// # Errors
/// [`Failure::Deferred`].
pub(crate) async fn quoted(cx: &Cx, status: &RemoteStatus) -> Result<(), Failure> {
    let Some(quote) = status.references.iter().find(|reference| reference.quote) else { return Ok(()) };
    match Box::pin(fetch_quoted(cx, &quote.url)).await {
        Err(Failure::Deferred) => return Err(Failure::Deferred),
        Err(failure) => tracing::debug!(%failure, uri = status.uri, "a quoted status was not fetched"),
        Ok(()) => {}
    }
    Ok(())
}

async fn fetch_quoted(cx: &Cx, uri: &str) -> Result<(), Failure> {
    if known(cx, uri).await?.is_some() || store::remote::find_status_by_url(&cx.db, uri).await?.is_some() {
        return Ok(());
    }
    let note = note_document(cx, uri).await?;
    admit(cx, &note)?;
    create(cx, RemoteStatus { depth: DEPTH_MAX, ..status_of(cx, &note).await? }).await.map(drop)
}

pub(super) async fn status_of(cx: &Cx, note: &Note) -> Result<RemoteStatus, Failure> {
    let author = author(cx, super::account(cx, author_of(cx, note)?).await?).await?;
    Ok(read(cx, note, &author, None).await?.status)
}

async fn create(cx: &Cx, status: RemoteStatus) -> Result<StatusId, Failure> {
    match Box::pin(service::remote::status::create(cx, status, &[])).await {
        Err(context::Error::Gone) => Err(Failure::Gone),
        Err(context::Error::Forbidden(_)) => Err(Failure::Disbelieved("its author may not write it")),
        Err(context::Error::Invalid(_)) => Err(Failure::Disbelieved("the text is not allowed on this server")),
        created => Ok(created?),
    }
}

/// `account` as the author of a note.
pub(super) async fn author(cx: &Cx, account: Account) -> Result<Author, Failure> {
    let actor = store::remote::get_actor(&cx.db, account.id).await?;
    let followers = actor.and_then(|actor| actor.followers_url);
    Ok(Author { id: account.id, uri: account.uri, followers, searchability: account.searchability })
}
