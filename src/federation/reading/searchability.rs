//! Who may find a note by its words.

use context::Cx;
use model::Visibility;
use model::account::Searchability;

use super::author::Author;
use super::profile::{is_misskey, searchability};
use crate::Failure;
use crate::address::host_of;
use crate::vocabulary::{Id, Note};

/// The stricter of the values of the note and of the author, who decides alone if the note states none
/// (docs/contract/federation.md#7-accepting-activities).
pub(super) fn effective_searchability(
    note: &Note,
    author: &Author,
    visibility: Visibility,
    misskey: bool,
) -> Searchability {
    let followers = author.followers.clone().map(Id);
    let stated = searchability(note.searchable_by.as_ref(), followers.as_ref(), &author.uri);
    let of_audience = match visibility {
        Visibility::Limited | Visibility::Direct => Searchability::Direct,
        _ => Searchability::Public,
    };
    let unstated = match visibility {
        Visibility::Public | Visibility::Unlisted => Searchability::Public,
        _ => Searchability::Limited,
    };
    let stated = stated.or(misskey.then_some(unstated));
    // In the order of their declaration, each is stricter than the one before.
    stated.unwrap_or(author.searchability).max(author.searchability).max(of_audience)
}

/// True for a note of software of the Misskey family that leaves out what such software never states.
pub(super) async fn is_of_misskey(cx: &Cx, note: &Note) -> Result<bool, Failure> {
    if note.searchable_by.is_some() {
        return Ok(false);
    }
    let host = host_of(&note.id).unwrap_or_default();
    Ok(store::instance::software(&cx.db, &host).await?.is_some_and(|software| is_misskey(&software)))
}
