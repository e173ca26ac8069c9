//! <https://docs.joinmastodon.org/entities/Translation/>

use serde::Serialize;

use context::error::Result;
use context::json::Fragment;
use model::{MediaId, PollId};

/// A translated status.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Translation<'a> {
    detected_source_language: Option<&'a str>,
    language: &'a str,
    provider: &'a str,
    spoiler_text: &'a str,
    content: &'a str,
    poll: Option<Poll<'a>>,
    media_attachments: Vec<Attachment<'a>>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Poll<'a> {
    id: PollId,
    options: Vec<PollOption<'a>>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PollOption<'a> {
    title: &'a str,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Attachment<'a> {
    id: MediaId,
    description: Option<&'a str>,
}

/// Renders a translation.
///
/// # Errors
/// When it cannot be serialised, which is a bug.
pub fn render(translation: &model::translation::Translation) -> Result<Fragment> {
    let poll = translation
        .poll
        .as_ref()
        .map(|(id, titles)| Poll { id: *id, options: titles.iter().map(|title| PollOption { title }).collect() });
    let media = translation.media.iter();
    Fragment::of(&Translation {
        detected_source_language: translation.detected_source_language.as_deref(),
        language: &translation.language,
        provider: translation.provider,
        spoiler_text: &translation.spoiler_text,
        content: &translation.content,
        poll,
        media_attachments: media
            .map(|(id, description)| Attachment { id: *id, description: description.as_deref() })
            .collect(),
    })
}
