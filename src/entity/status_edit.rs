//! <https://docs.joinmastodon.org/entities/StatusEdit/>

use serde::Serialize;

use super::account;
use super::emoji::{CustomEmoji, Palette};
use super::quote::write_word;
use context::Cx;
use context::error::{Error, Result};
use context::json::media::MediaAttachment;
use context::json::{Fragment, Object};
use model::{Actor, Status, StatusId};
use service::status::History;
use service::visibility::ShownState;
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
///
/// # Errors
/// When the database fails.
pub async fn render(cx: &Cx, viewer: Option<&Actor>, history: &History) -> Result<Vec<Fragment>> {
    let History { status, edits, quote, quoted } = history;
    let shown = super::status::render_beside(cx, viewer, quoted, &[]).await?.statuses;
    let quotes = edits.iter().map(|edit| edit.quote_id).chain([status.quote_id]);
    let quotes: Vec<Option<Fragment>> = quotes.map(|id| quote_of(id, status, *quote, &shown)).collect();
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
        .zip(quotes)
        .map(|(revision, quote)| {
            let mut object = Fragment::of(&revision)?.open();
            object.member("account", author.as_str());
            object.member("quote", quote.as_ref().map_or("null", Fragment::as_str));
            Ok(object.close())
        })
        .collect()
}

/// The quote of a revision that quoted `id`, by the quote that the status has now and the quoted statuses that are `shown`.
fn quote_of(
    id: Option<StatusId>,
    status: &Status,
    now: Option<ShownState>,
    shown: &[(StatusId, Fragment)],
) -> Option<Fragment> {
    let id = id?;
    let found = shown.iter().find(|(one, _)| *one == id).map(|(_, text)| text.as_str());
    let state = match now.filter(|_| status.quote_id == Some(id)) {
        Some(state) => state,
        None if found.is_some() => ShownState::Accepted,
        None => ShownState::Deleted,
    };
    let hidden = matches!(
        state,
        ShownState::Pending
            | ShownState::Rejected
            | ShownState::Revoked
            | ShownState::Deleted
            | ShownState::Unauthorized
    );
    let mut text = String::new();
    Object::write(&mut text, |object| {
        object.member_with("state", |out| write_word(out, state.as_str()));
        object.member("quoted_status", found.filter(|_| !hidden).unwrap_or("null"));
    });
    Some(Fragment::from_string(text))
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
