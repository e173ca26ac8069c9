//! Text processing: text to HTML, extraction of mentions, hashtags and links, and sanitising of remote HTML.
//!
//! Used by the services that publish statuses and edit profiles (text to HTML, entities, length),
//! by everything that shows or searches content of other servers ([`sanitise()`], [`plain()`]), and by link previews
//! ([`page`], [`charset`], [`embed()`]).
//! Pure functions: no I/O, no clock, no database. The caller resolves mentions to accounts; this module only finds
//! the mentions and, given the accounts, links them.
//!
//! Every function accepts any string, never panics, and runs in roughly linear time.
//!
//! Spec: <https://docs.joinmastodon.org/spec/activitypub/#sanitization>,
//! <https://docs.joinmastodon.org/user/posting/>

mod chars;
pub mod charset;
mod embed;
mod emoji;
mod escape;
mod expiry;
pub mod hashtag;
mod html;
pub mod json_shape;
pub mod keywords;
pub mod language;
mod length;
mod links;
mod local;
mod lookalike;
mod markdown;
mod markup;
mod names;
pub mod page;
mod plain;
pub mod printable;
mod reference;
mod relink;
mod sanitise;
mod scan;
pub mod search;
mod tokens;
mod word_patterns;

pub use embed::embed;
pub use emoji::{emoji_shortcodes, emojify};
pub use escape::escape;
pub use expiry::expiry;
pub use html::{Links, MentionTarget, field_to_html, note_to_html, to_html};
pub use length::{URL_LENGTH, graphemes, length};
pub use links::links;
pub use local::rewrite_local_mentions;
pub use lookalike::skeleton;
pub use markdown::markdown;
pub use markup::{markup_to_html, scan_markup};
pub use names::names;
pub use plain::plain;
pub use reference::{Reference, references};
pub use relink::{Link, relink};
pub use sanitise::{sanitise, sanitise_quoting};
pub use scan::{Entity, EntityKind, Hashtag, Mention, Scan, scan};
pub use word_patterns::{PATTERN_MAX, PATTERNS_MAX, WordPatterns};

/// Whether `text` contains a NUL character, which PostgreSQL cannot store; callers reject such input.
#[must_use]
pub fn contains_nul(text: &str) -> bool {
    text.contains('\0')
}

#[cfg(test)]
mod tests;
