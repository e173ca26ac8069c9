//! The server's own custom emojis.
//!
//! Spec: <https://docs.joinmastodon.org/methods/custom_emojis/>

use crate::Cx;
use crate::error::Result;
use crate::json::Json;
use entity::document::PublicDocument;

/// `GET /api/v1/custom_emojis`: emojis visible in the picker, sorted by shortcode.
pub async fn index(cx: Cx) -> Result<Json<Vec<entity::CustomEmoji>>> {
    Json::document(&cx, PublicDocument::CustomEmojis).await
}
