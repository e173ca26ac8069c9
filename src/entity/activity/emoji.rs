//! Custom emojis of this server, as documents and as tags of texts.

use serde::Serialize;

use super::image::Image;
use crate::emoji::CustomEmoji;
use context::Cx;
use context::error::Result;
use context::json::Fragment;
use model::RowId;
use model::urls::Urls;

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) struct Emoji {
    id: String,
    name: String,
    icon: Image,
    updated: String,
    keywords: Vec<String>,
    is_sensitive: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    license: Option<String>,
}

impl Emoji {
    pub(super) fn new(urls: &Urls, emoji: &model::Emoji) -> Self {
        Self {
            id: urls.path(&format!("/emojis/{}", emoji.id)),
            name: format!(":{}:", emoji.shortcode),
            icon: Image::new(CustomEmoji::short(emoji, urls).url),
            updated: emoji.updated_at.to_api(),
            keywords: emoji.aliases.0.clone(),
            is_sensitive: emoji.sensitive,
            license: emoji.license.clone(),
        }
    }
}

/// Renders the emoji `id` of this server, without `@context`; `None` when there is none, or it is disabled. From memory,
/// without a statement.
///
/// # Errors
/// [`Error::Internal`](context::Error::Internal), which is a bug.
pub fn emoji(cx: &Cx, id: RowId) -> Result<Option<Fragment>> {
    let emojis = cx.emojis();
    let found = emojis.by_shortcode.values().find(|emoji| emoji.id == id);
    found.map(|emoji| Fragment::of(&Emoji::new(&cx.urls, emoji))).transpose()
}
