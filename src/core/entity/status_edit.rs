//! <https://docs.joinmastodon.org/entities/StatusEdit/>

use serde::Serialize;

use super::emoji::{CustomEmoji, Palette};
use super::media::MediaAttachment;
use super::{Fragment, account};
use crate::Cx;
use crate::error::{Error, Result};
use model::Status;
use store::publish::Edit;

/// One revision, without its author, who is the same in all.
#[derive(Debug, Serialize)]
struct Revision<'a> {
    content: &'a str,
    spoiler_text: &'a str,
    sensitive: bool,
    created_at: String,
    media_attachments: serde_json::Value,
    emojis: Vec<CustomEmoji>,
}

/// Renders all revisions, oldest first; a status that was never edited has exactly one.
pub async fn render(cx: &Cx, status: &Status, edits: &[Edit]) -> Result<Vec<Fragment>> {
    let author = account::render_one(cx, status.account_id).await?;
    let domain = store::account::domains(&cx.db, &[status.account_id]).await?.pop().and_then(|(_, domain)| domain);
    let media = store::media::list_for_statuses(&cx.db, &[status.id]).await?;
    let media: Vec<MediaAttachment> = media.iter().map(|media| MediaAttachment::new(media, &cx.urls)).collect();
    let texts: Vec<_> = edits
        .iter()
        .flat_map(|edit| [edit.content.as_str(), edit.spoiler_text.as_str()])
        .chain([status.content.as_str(), status.spoiler_text.as_str()])
        .map(|text| (domain.as_deref(), text))
        .collect();
    let palette = Palette::load(cx, &texts).await?;
    let emojis = |content: &str, spoiler: &str| palette.of(&cx.urls, domain.as_deref(), &[content, spoiler]);
    let past = edits.iter().map(|edit| Revision {
        content: &edit.content,
        spoiler_text: &edit.spoiler_text,
        sensitive: edit.sensitive,
        created_at: edit.created_at.to_api(),
        media_attachments: edit.media.0.clone(),
        emojis: emojis(&edit.content, &edit.spoiler_text),
    });
    let current = Revision {
        content: &status.content,
        spoiler_text: &status.spoiler_text,
        sensitive: status.sensitive,
        created_at: status.edited_at.unwrap_or(status.created_at).to_api(),
        media_attachments: serde_json::to_value(media).map_err(Error::internal)?,
        emojis: emojis(&status.content, &status.spoiler_text),
    };
    past.chain([current])
        .map(|revision| {
            let mut object = Fragment::of(&revision)?.open();
            object.member("account", author.as_str());
            Ok(object.close())
        })
        .collect()
}
