//! Preview cards, translations, fetched web pages, and custom emojis.

pub mod card;
pub mod emoji;
pub mod translation;
pub mod web_page;
