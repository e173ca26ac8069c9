//! Documents of other servers as profiles and statuses: the members that are kept, within which bounds, and who may see a
//! note.
//!
//! Fetches nothing, and decides nothing about who sent a document.

mod audience;
mod author;
mod converted;
mod emoji;
#[cfg(test)]
mod fuzz;
mod known;
mod media;
mod members;
mod note;
mod policy;
mod poll;
mod profile;
mod searchability;
mod thread;

pub(crate) use audience::visibility;
pub(crate) use author::{Author, author_of};
pub(crate) use known::known;
pub(crate) use note::{Read, read};
pub(crate) use poll::poll;
pub(crate) use profile::{is_misskey, is_username, profile, username};
