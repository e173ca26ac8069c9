//! The server's own custom emojis.
//!
//! Spec: <https://docs.joinmastodon.org/methods/custom_emojis/>

use crate::Cx;
use crate::error::Result;
use crate::json::Json;
use rookery_core::entity::emoji::CustomEmoji;

/// `GET /api/v1/custom_emojis`: emojis visible in the picker, sorted by shortcode. Served from memory, without a query.
pub async fn index(cx: Cx) -> Result<Json> {
    let emojis = cx.emojis();
    let mut shown: Vec<CustomEmoji> = emojis
        .by_shortcode
        .values()
        .filter(|emoji| emoji.visible_in_picker)
        .map(|emoji| CustomEmoji::full(emoji, &cx.urls))
        .collect();
    shown.sort_by(|one, other| one.shortcode.cmp(&other.shortcode));
    Json::of(&shown)
}
