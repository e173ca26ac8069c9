//! The author of a note: only an actor at home on the host of its id is believed.

use model::AccountId;
use model::account::Searchability;

use crate::Failure;
use crate::address::same_host;
use crate::steps::Steps;
use crate::vocabulary::Note;

/// The author of a note.
#[derive(Clone, Debug)]
pub(crate) struct Author {
    pub(crate) id: AccountId,
    pub(crate) uri: String,
    pub(crate) followers: Option<String>,
    pub(crate) searchability: Searchability,
}

/// The actor who wrote `note`: one at home on the host of its id.
///
/// # Errors
/// [`Failure::Disbelieved`].
pub(crate) fn author_of<'a>(cx: &impl Steps, note: &'a Note) -> Result<&'a str, Failure> {
    let is_known = note.is_status();
    cx.step("type", is_known, || {
        format!("the type {:?} is {}", &*note.kind, if is_known { "known" } else { "not the type of a status" })
    });
    if !is_known {
        return Err(Failure::Disbelieved("the document is not a note"));
    }
    let author = note.attributed_to.first().ok_or(Failure::Disbelieved("the note has no author"))?;
    let is_at_home = same_host(&author.0, &note.id);
    cx.step("author", is_at_home, || match is_at_home {
        true => format!("{} is on the host of the id", author.0),
        false => format!("{} is on another host than the id {}", author.0, note.id),
    });
    if is_at_home { Ok(&author.0) } else { Err(Failure::Disbelieved("the author is on another host")) }
}
