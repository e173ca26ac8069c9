//! Documents of other servers as profiles and statuses: the members that are kept, within which bounds, and who may see a
//! note.
//!
//! Fetches nothing, and decides nothing about who sent a document.

mod note;
mod profile;

pub(crate) use note::{Author, Read, author_of, read, visibility};
pub(crate) use profile::{profile, username};

use context::Cx;
use model::StatusId;

use crate::Failure;

/// The status `uri`, of this server or another, if it is known here.
pub(crate) async fn known(cx: &Cx, uri: &str) -> Result<Option<StatusId>, Failure> {
    match service::public::local_status(cx, uri).await? {
        Some(status) => Ok(Some(status)),
        None => Ok(store::status::find_by_uri(&cx.db, uri).await?),
    }
}
