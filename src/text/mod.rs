//! What people write, and the HTML it becomes.
//!
//! Used by the services that publish statuses and edit profiles (text to HTML, entities, length),
//! and by everything that shows or searches what other servers sent ([`sanitise()`], [`plain()`]).
//! Pure functions: no IO, no clock, no database. Resolving a mention to an account is the caller's
//! work; this module only says where the mentions are and, given the accounts, links them.
//!
//! Every function takes any string, never panics, and runs in time about linear in its input.
//!
//! Spec: <https://docs.joinmastodon.org/spec/activitypub/#sanitization>,
//! <https://docs.joinmastodon.org/user/posting/>

mod chars;
mod emoji;
mod escape;
pub mod hashtag;
mod html;
pub mod language;
mod length;
mod local;
mod markdown;
mod plain;
mod sanitise;
mod scan;
mod tokens;

pub use emoji::{emoji_shortcodes, emojify};
pub use escape::escape;
pub use html::{Links, MentionTarget, field_to_html, note_to_html, to_html};
pub use length::{URL_LENGTH, length};
pub use local::rewrite_local_mentions;
pub use markdown::markdown;
pub use plain::plain;
pub use sanitise::sanitise;
pub use scan::{Entity, Kind, Mention, Scan, Tag, scan};

/// Whether `text` holds a NUL character, which PostgreSQL cannot store; such input is refused.
#[must_use]
pub fn contains_nul(text: &str) -> bool {
    text.contains('\0')
}

#[cfg(test)]
mod tests;
