//! Statuses of other servers, by their URIs.

use context::Cx;
use model::StatusId;
use service::remote::status::RemoteStatus;

use super::document;
use crate::Failure;
use crate::reading::{Author, author_of, known, read};
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
        return Ok(found);
    }
    let fetched = document(cx, &found.id).await?;
    let again: Note = parse(&fetched.body)?;
    let same = again.id == found.id && fetched.is(&again.id, &found.id);
    if same { Ok(again) } else { Err(Failure::Disbelieved("the id is another on every request")) }
}

/// Stores a note that came from its own address.
///
/// # Errors
/// [`Failure`].
pub async fn note(cx: &Cx, note: &Note) -> Result<StatusId, Failure> {
    note_at(cx, note, 0).await
}

/// As [`note`], after `depth` statuses that led to it.
pub(super) async fn note_at(cx: &Cx, note: &Note, depth: u32) -> Result<StatusId, Failure> {
    let author = super::account(cx, author_of(note)?).await?;
    let actor = store::remote::get_actor(&cx.db, author.id).await?;
    let followers = actor.and_then(|actor| actor.followers_url);
    let status = read(
        cx,
        note,
        &Author { id: author.id, uri: author.uri, followers, searchability: author.searchability },
        None,
    )
    .await?
    .status;
    match service::remote::status::create(cx, RemoteStatus { depth, ..status }, &[]).await {
        Err(context::Error::Gone) => Err(Failure::Gone),
        created => Ok(created?),
    }
}
