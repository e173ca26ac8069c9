//! oEmbed: the embedding of a status of this server on another site. <https://oembed.com/>, and
//! docs/contract/rules.md#27-instance.

use serde::Serialize;

use context::Cx;
use model::{Account, StatusId};
use text::escape;

/// Width of a frame if the request names none, in pixels.
pub const DEFAULT_WIDTH: i64 = 400;
/// How long consumers may cache the response, in seconds: a day.
const CACHE_SECONDS: i64 = 86_400;

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OEmbed {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub version: &'static str,
    pub author_name: String,
    pub author_url: String,
    pub provider_name: String,
    pub provider_url: String,
    pub cache_age: i64,
    pub html: String,
    pub width: i64,
    pub height: Option<i64>,
}

impl OEmbed {
    /// Embeds the status `id` of `author` in a frame of this size, in pixels.
    #[must_use]
    pub fn new(cx: &Cx, author: &Account, id: StatusId, width: i64, height: Option<i64>) -> Self {
        let name = if author.display_name.is_empty() { &author.username } else { &author.display_name };
        Self {
            kind: "rich",
            version: "1.0",
            author_name: name.clone(),
            author_url: cx.urls.profile(&author.username),
            provider_name: cx.urls.local_domain.clone(),
            provider_url: cx.urls.path("/"),
            cache_age: CACHE_SECONDS,
            html: frame(&cx.urls.embed(&author.username, id), name, width, height),
            width,
            height,
        }
    }
}

/// A frame that runs no scripts and opens links outside of itself.
fn frame(url: &str, name: &str, width: i64, height: Option<i64>) -> String {
    let height = height.map_or("style=\"max-width: 100%; min-height: 20em; border: 0\"".to_owned(), |height| {
        format!("height=\"{height}\" style=\"max-width: 100%; border: 0\"")
    });
    format!(
        "<iframe src=\"{}\" title=\"{}\" width=\"{width}\" {height} loading=\"lazy\" \
         sandbox=\"allow-popups allow-popups-to-escape-sandbox\" allowfullscreen></iframe>",
        escape(url),
        escape(&format!("Status by {name}")),
    )
}
