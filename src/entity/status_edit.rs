//! <https://docs.joinmastodon.org/entities/StatusEdit/>

use serde::Serialize;

use super::account;
use super::emoji::{CustomEmoji, Palette};
use context::Cx;
use context::error::{Error, Result};
use context::json::Fragment;
use context::json::media::MediaAttachment;
use model::Status;
use store::status_edit::Edit;

/// One revision, without its author, who is the same in all revisions.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Revision<'a> {
    content: &'a str,
    spoiler_text: &'a str,
    sensitive: bool,
    markdown: bool,
    created_at: String,
    media_attachments: serde_json::Value,
    emojis: Vec<CustomEmoji>,
    #[serde(skip_serializing_if = "Option::is_none")]
    poll: Option<FormerPoll<'a>>,
}

/// The poll of a revision, without votes.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FormerPoll<'a> {
    options: Vec<FormerOption<'a>>,
}

/// An option of a [`FormerPoll`].
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FormerOption<'a> {
    title: &'a str,
}

impl<'a> FormerPoll<'a> {
    fn new(options: &'a [String]) -> Self {
        Self { options: options.iter().map(|title| FormerOption { title }).collect() }
    }
}

/// Renders all revisions, oldest first; a status that was never edited has exactly one.
pub async fn render(cx: &Cx, status: &Status, edits: &[Edit]) -> Result<Vec<Fragment>> {
    let author = account::render_one(cx, status.account_id).await?;
    let row = store::account::find(&cx.db, status.account_id).await?;
    let sensitized = row.as_ref().is_some_and(model::Account::is_sensitized);
    let domain = row.and_then(|row| row.domain);
    let media = store::media::list_for_statuses(&cx.db, &[status.id]).await?;
    let media: Vec<MediaAttachment> = media.iter().map(|media| MediaAttachment::new(media, &cx.urls)).collect();
    let options = if status.has_poll { Some(store::poll::list_titles(&cx.db, status.id).await?) } else { None };
    let texts: Vec<_> = edits
        .iter()
        .flat_map(|edit| texts_of(&edit.content, &edit.spoiler_text, options_of(edit)))
        .chain(texts_of(&status.content, &status.spoiler_text, options.as_deref()))
        .map(|text| (domain.as_deref(), text))
        .collect();
    let palette = Palette::load(cx, &texts).await?;
    let emojis = |texts: &[&str]| palette.of(&cx.urls, domain.as_deref(), texts);
    let past = edits.iter().map(|edit| Revision {
        content: &edit.content,
        spoiler_text: &edit.spoiler_text,
        sensitive: edit.sensitive || sensitized,
        markdown: edit.markdown,
        created_at: edit.created_at.to_api(),
        media_attachments: edit.media.0.clone(),
        emojis: emojis(&texts_of(&edit.content, &edit.spoiler_text, options_of(edit))),
        poll: options_of(edit).map(FormerPoll::new),
    });
    let current = Revision {
        content: &status.content,
        spoiler_text: &status.spoiler_text,
        sensitive: status.sensitive || sensitized,
        markdown: status.markdown,
        created_at: status.edited_at.unwrap_or(status.created_at).to_api(),
        media_attachments: serde_json::to_value(media).map_err(Error::internal)?,
        emojis: emojis(&texts_of(&status.content, &status.spoiler_text, options.as_deref())),
        poll: options.as_deref().map(FormerPoll::new),
    };
    past.chain([current])
        .map(|revision| {
            let mut object = Fragment::of(&revision)?.open();
            object.member("account", author.as_str());
            Ok(object.close())
        })
        .collect()
}

/// The options of the poll of a former revision.
fn options_of(edit: &Edit) -> Option<&[String]> {
    edit.poll_options.as_ref().map(|options| options.0.as_slice())
}

/// The texts of a revision that may contain custom emojis.
fn texts_of<'a>(content: &'a str, spoiler_text: &'a str, options: Option<&'a [String]>) -> Vec<&'a str> {
    let options = options.unwrap_or_default().iter().map(String::as_str);
    [content, spoiler_text].into_iter().chain(options).collect()
}
