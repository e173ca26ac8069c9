//! Custom emojis.

use std::collections::HashMap;

use super::{Json, RowId};

/// A custom emoji as its table has it. `domain` is `None` for this server's own.
#[derive(Clone, Debug, sqlx::FromRow)]
#[expect(missing_docs, reason = "named by the CustomEmoji entity")]
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
}

/// This server's own enabled emojis by shortcode, held in memory; `generation` is part of the key of cached renderings.
#[derive(Clone, Debug, Default)]
pub struct Emojis {
    /// By shortcode, case-sensitive.
    pub by_shortcode: HashMap<String, Emoji>,
    /// The settings' generation at which they were read.
    pub generation: i64,
}
