//! Documents of other servers as profiles and statuses: the members that are kept, within which bounds, and who may see a
//! note.
//!
//! Fetches nothing, and decides nothing about who sent a document.

mod converted;
mod emoji;
#[cfg(test)]
mod fuzz;
mod known;
mod media;
mod note;
mod profile;

pub(crate) use known::known;
pub(crate) use note::{Author, Read, author_of, poll, read, visibility};
pub(crate) use profile::{is_misskey, is_username, profile, username};
