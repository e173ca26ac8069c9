//! The reaction deck: a person's own row of emoji, kept in their order.
//!
//! Two routes on one table. Spec: the contract's group `reaction_deck`.

mod deck;
#[cfg(test)]
mod tests;

use rookery_plugin::prelude::*;

use crate::deck::Entry;

/// The plugin.
#[plugin]
pub struct ReactionDeck;

/// `GET /api/v1/reaction_deck`
#[route(get, "/api/v1/reaction_deck", scopes = ["read:lists"])]
fn index(ctx: &Context) -> Result<Output> {
    let entries: Vec<Entry> = sql::deck(ctx.account()).all()?;
    let emojis = core::emojis(&deck::custom_names(&entries))?;
    Output::json(&deck::shown(entries, &deck::usable(&emojis)))
}

/// What a deck is replaced with.
#[derive(Deserialize)]
struct Replacement {
    /// Unicode emojis and shortcodes.
    #[serde(default)]
    emojis: Vec<String>,
}

/// `POST /api/v1/reaction_deck`
#[route(post, "/api/v1/reaction_deck", scopes = ["write:lists"])]
fn replace(ctx: &Context, Params(replacement): Params<Replacement>) -> Result<Output> {
    let names = deck::names(&replacement.emojis);
    let emojis = core::emojis(&names)?;
    let usable = deck::usable(&emojis);
    let entries = deck::entries(names, emojis);
    sql::clear(ctx.account()).exec()?;
    sql::many::append(entries.iter().enumerate().map(|(position, entry)| {
        let Entry { name, url, static_url, width, height } = entry;
        (ctx.account(), position, name, url.as_ref(), static_url.as_ref(), *width, *height)
    }))?;
    Output::json(&deck::shown(entries, &usable))
}
