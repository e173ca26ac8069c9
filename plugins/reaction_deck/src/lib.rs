//! The reaction deck: a person's own row of emoji, kept in their order.
//!
//! Two routes and a page on one value for each account. Spec: the contract's group `reaction_deck`, of which nothing is missing.

mod deck;
mod pages;
#[cfg(test)]
mod tests;

use rookery_plugin::prelude::*;

use crate::deck::{DeckEmoji, Entry};

/// The plugin.
#[plugin]
pub struct ReactionDeck;

/// `GET /api/v1/reaction_deck`
#[route(get, "/api/v1/reaction_deck", scopes = ["read:lists"])]
fn index(ctx: &Context) -> Result<Output> {
    Output::json(&load(ctx)?)
}

/// The caller's deck.
fn load(ctx: &Context) -> Result<Vec<DeckEmoji>> {
    let kept: Option<String> = sql::deck(ctx.account()).optional()?;
    let entries: Vec<Entry> = kept.map_or_else(|| Ok(Vec::new()), |kept| serde_json::from_str(&kept))?;
    let emojis = core::emojis(&deck::custom_names(&entries))?;
    Ok(deck::shown(entries, &deck::usable(&emojis)))
}

/// The new content of a deck.
#[derive(Deserialize)]
struct Replacement {
    /// Unicode emojis and shortcodes.
    #[serde(default)]
    emojis: Vec<String>,
}

/// `POST /api/v1/reaction_deck`
#[route(post, "/api/v1/reaction_deck", scopes = ["write:lists"])]
fn replace(ctx: &Context, Params(replacement): Params<Replacement>) -> Result<Output> {
    Output::json(&replace_with(ctx, &replacement.emojis)?)
}

/// Replaces the caller's deck; gives the new one.
fn replace_with(ctx: &Context, emojis: &[String]) -> Result<Vec<DeckEmoji>> {
    let names = deck::names(emojis);
    let emojis = core::emojis(&names)?;
    let usable = deck::usable(&emojis);
    let entries = deck::entries(names, emojis);
    sql::replace(ctx.account(), serde_json::to_string(&entries)?).exec()?;
    Ok(deck::shown(entries, &usable))
}
