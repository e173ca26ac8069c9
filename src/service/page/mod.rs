//! Pages of others and what is made of them: cards of links, translations; and the emojis of this server.

pub mod card;
pub mod emoji;
pub mod translation;
pub mod web_page;
