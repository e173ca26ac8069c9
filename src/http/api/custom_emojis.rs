//! The server's own custom emojis.
//!
//! Spec: <https://docs.joinmastodon.org/methods/custom_emojis/>

use axum::response::Response;

use crate::Cx;
use crate::error::Result;
use crate::json::document;
use entity::document::PublicDocument;

/// `GET /api/v1/custom_emojis`: emojis visible in the picker, sorted by shortcode.
pub async fn index(cx: Cx) -> Result<Response> {
    document(&cx, PublicDocument::CustomEmojis).await
}
