//! Statuses of other servers, by their URIs.

use context::Cx;
use model::{Account, StatusId};

use super::document;
use crate::Failure;
use crate::reading::{Author, author_of, read};
use crate::vocabulary::{Note, parse};

/// The status `uri`, fetched if it is not known.
///
/// # Errors
/// [`Failure`].
pub async fn status(cx: &Cx, uri: &str) -> Result<StatusId, Failure> {
    if let Some(known) = store::status::find_by_uri(&cx.db, uri).await? {
        return Ok(known);
    }
    note(cx, &note_document(cx, uri).await?).await
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

/// Stores a note that came from its own address.
///
/// # Errors
/// [`Failure`].
pub async fn note(cx: &Cx, note: &Note) -> Result<StatusId, Failure> {
    let author = author(cx, super::account(cx, author_of(cx, note)?).await?).await?;
    let status = read(cx, note, &author, None).await?.status;
    match service::remote::status::create(cx, status, &[]).await {
        Err(context::Error::Gone) => Err(Failure::Gone),
        created => Ok(created?),
    }
}

/// `account` as the author of a note.
pub(super) async fn author(cx: &Cx, account: Account) -> Result<Author, Failure> {
    let actor = store::remote::get_actor(&cx.db, account.id).await?;
    let followers = actor.and_then(|actor| actor.followers_url);
    Ok(Author { id: account.id, uri: account.uri, followers, searchability: account.searchability })
}
