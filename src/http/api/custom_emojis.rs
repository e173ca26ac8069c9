//! <https://docs.joinmastodon.org/methods/custom_emojis/>

use axum::extract::State;

use crate::app::App;
use crate::entity::emoji::CustomEmoji;
use crate::error::Result;
use crate::http::json::Json;

/// `GET /api/v1/custom_emojis`: those of this server that a picker shows, by shortcode. No query: they are in memory.
pub async fn index(State(app): State<App>) -> Result<Json> {
    let emojis = app.emojis();
    let mut shown: Vec<CustomEmoji> = emojis
        .by_shortcode
        .values()
        .filter(|emoji| emoji.visible_in_picker)
        .map(|emoji| CustomEmoji::full(emoji, &app.urls))
        .collect();
    shown.sort_by(|one, other| one.shortcode.cmp(&other.shortcode));
    Json::of(&shown)
}
