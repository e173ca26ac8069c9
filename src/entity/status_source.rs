//! <https://docs.joinmastodon.org/entities/StatusSource/>

use serde::Serialize;

use context::error::Result;
use context::json::Fragment;
use model::{Status, StatusId};

/// The source text of a status, for editing.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct StatusSource<'a> {
    id: StatusId,
    text: &'a str,
    /// Not in the documented entity. An editor that does not know it would clear it.
    markdown: bool,
    spoiler_text: &'a str,
}

/// Renders the source of `status`.
pub fn render(status: &Status) -> Result<Fragment> {
    Fragment::of(&StatusSource {
        id: status.id,
        text: &status.text,
        markdown: status.markdown,
        spoiler_text: &status.spoiler_text,
    })
}
