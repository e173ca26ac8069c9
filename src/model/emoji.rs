//! Custom emojis.

use std::collections::HashMap;

use super::{Json, RowId, Time};

/// A row of the custom emojis table. `domain` is `None` for local emojis.
#[derive(Clone, Debug, crate::Row)]
#[row(table = "custom_emojis", alias = "e")]
pub struct Emoji {
    pub id: RowId,
    pub shortcode: String,
    pub domain: Option<String>,
    pub category: Option<String>,
    pub file: Option<String>,
    pub static_file: Option<String>,
    pub remote_url: Option<String>,
    pub visible_in_picker: bool,
    pub disabled: bool,
    pub sensitive: bool,
    pub aliases: Json<Vec<String>>,
    pub license: Option<String>,
    pub width: Option<i64>,
    pub height: Option<i64>,
    /// When its server last changed it.
    pub updated_at: Time,
}

/// In-memory cache of this server's own enabled emojis; `generation` is part of the key of cached renderings.
#[derive(Clone, Debug, Default)]
pub struct Emojis {
    /// By shortcode, case-sensitive.
    pub by_shortcode: HashMap<String, Emoji>,
    /// The generation of the settings when the emojis were read.
    pub generation: i64,
}
