//! <https://docs.joinmastodon.org/entities/Preferences/>

use serde::Serialize;

use context::error::Result;
use context::json::Fragment;
use model::account::Searchability;
use model::{Actor, QuotePolicy, Visibility};

/// A user's preferences, for clients to follow.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Preferences {
    #[serde(rename = "posting:default:visibility")]
    pub visibility: Visibility,
    #[serde(rename = "posting:default:sensitive")]
    pub sensitive: bool,
    #[serde(rename = "posting:default:language")]
    pub language: Option<String>,
    #[serde(rename = "posting:default:searchability")]
    pub searchability: Searchability,
    #[serde(rename = "posting:default:quote_policy")]
    pub quote_policy: QuotePolicy,
    #[serde(rename = "posting:keep:visibility")]
    pub keep_visibility: bool,
    #[serde(rename = "reading:expand:media")]
    pub expand_media: String,
    #[serde(rename = "reading:expand:spoilers")]
    pub expand_spoilers: bool,
    #[serde(rename = "reading:autoplay:gifs")]
    pub autoplay_gifs: bool,
}

/// Renders the preferences of `viewer`.
pub fn render(viewer: &Actor) -> Result<Fragment> {
    let preferences = &viewer.preferences;
    Fragment::of(&Preferences {
        visibility: preferences.visibility(viewer.locked),
        sensitive: preferences.default_sensitive,
        language: preferences.default_language.clone().or_else(|| viewer.locale.clone()),
        searchability: preferences.searchability(),
        quote_policy: preferences.default_quote_policy,
        keep_visibility: preferences.keep_visibility,
        expand_media: preferences.expand_media.clone(),
        expand_spoilers: preferences.expand_spoilers,
        autoplay_gifs: preferences.autoplay_gifs,
    })
}
