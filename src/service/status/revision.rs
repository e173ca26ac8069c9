//! Revisions of a status: the current one, the stored earlier ones, and its source text.

use crate::visibility::{self, Place, Seen, ShownState};
use context::Cx;
use context::error::{Error, Result};
use context::json;
use model::{Actor, Json, MediaAttachment, Status, StatusId};
use store::status_edit::{Edit, Revision};

/// The status, when it is `actor`'s own and not a reblog.
///
/// # Errors
/// [`Error::NotFound`] otherwise.
#[model::use_case]
pub async fn own(cx: &Cx, actor: &Actor, id: StatusId) -> Result<Status> {
    let status = store::status::find(&cx.db, id).await?;
    status.filter(|status| status.account_id == actor.id && status.reblog_of_id.is_none()).ok_or(Error::NotFound)
}

/// The current revision of `status`.
pub(crate) fn of(status: &Status) -> Revision {
    Revision {
        text: status.text.clone(),
        content: status.content.clone(),
        spoiler_text: status.spoiler_text.clone(),
        sensitive: status.sensitive,
        language: status.language.clone(),
        has_media: status.has_media,
        has_poll: status.has_poll,
        markdown: status.markdown,
        expires_at: status.expires_at,
    }
}

/// `old` as a stored revision, with its attachments and the options of its poll.
pub(crate) fn kept(cx: &Cx, old: Status, media: &[MediaAttachment], poll_options: Option<Vec<String>>) -> Result<Edit> {
    let shown: Vec<json::media::MediaAttachment> =
        media.iter().map(|media| json::media::MediaAttachment::new(media, &cx.urls)).collect();
    Ok(Edit {
        id: cx.ids.next(),
        status_id: old.id,
        text: old.text,
        content: old.content,
        spoiler_text: old.spoiler_text,
        sensitive: old.sensitive,
        markdown: old.markdown,
        quote_id: old.quote_id,
        media: Json(serde_json::to_value(shown).map_err(Error::internal)?),
        poll_options: poll_options.map(Json),
        created_at: old.edited_at.unwrap_or(old.created_at),
    })
}

/// The status, for its source text, which all its viewers may read.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or hidden.
#[model::use_case]
pub async fn source(cx: &Cx, viewer: Option<&Actor>, id: StatusId) -> Result<Status> {
    let seen = visibility::status(cx, viewer, id).await?;
    store::status::find(&cx.db, seen.head().id).await?.ok_or(Error::NotFound)
}

/// The revisions of a status.
#[derive(Debug)]
pub struct History {
    /// The current one.
    pub status: Status,
    /// The others, oldest first.
    pub edits: Vec<Edit>,
    /// The state of its quote now.
    pub quote: Option<ShownState>,
    /// The statuses that revisions quoted, as far as the viewer may see them.
    pub quoted: Vec<Seen>,
}

/// All revisions, oldest first, and the current status, as far as `viewer` may see it.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or hidden.
#[model::use_case]
pub async fn history(cx: &Cx, viewer: Option<&Actor>, id: StatusId) -> Result<History> {
    let seen = visibility::status(cx, viewer, id).await?;
    let id = seen.head().id;
    let status = store::status::find(&cx.db, id).await?.ok_or(Error::NotFound)?;
    let edits = store::status_edit::list(&cx.db, id).await?;
    let mut quoted: Vec<StatusId> = edits.iter().filter_map(|edit| edit.quote_id).chain(status.quoted()).collect();
    quoted.sort_unstable();
    quoted.dedup();
    let quoted = visibility::statuses(cx, viewer, Place::Single, &quoted).await?;
    let quote = seen.quote().map(|quote| quote.state);
    Ok(History { status, edits, quote, quoted })
}
