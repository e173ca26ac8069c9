//! <https://docs.joinmastodon.org/entities/StatusSource/>

use serde::Serialize;

use super::Fragment;
use crate::error::Result;
use model::{Status, StatusId};

/// What an author wrote, to be edited.
#[derive(Debug, Serialize)]
struct StatusSource<'a> {
    id: StatusId,
    text: &'a str,
    spoiler_text: &'a str,
}

/// The source of `status`.
///
/// # Errors
/// Never, as all of it serialises.
pub fn render(status: &Status) -> Result<Fragment> {
    Fragment::of(&StatusSource { id: status.id, text: &status.text, spoiler_text: &status.spoiler_text })
}
