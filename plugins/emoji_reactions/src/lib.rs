//! Reactions to statuses with any emoji, as far as the author allows them.
//!
//! [`mod@react`] changes reactions and [`tell`] notifies of them, [`decorate`] and [`reacted_by`] show them, [`trends`]
//! counts them for trends, [`policy`] decides who may do either. Spec: the contract's group `emoji_reactions`.
//!
//! Not yet: the stream event for all who see a status (it reaches the author and the accounts that reacted); reactions
//! from and to other servers, with the settings about them and the capabilities of a remote account's server. The
//! search and automatic deletion know of reactions by statements alone (`[[search]]` and `[[cleanup]]` in the
//! manifest).

mod announce;
mod audience;
mod decorate;
mod emoji;
mod forget;
mod group;
mod original;
mod people;
mod pictures;
mod policy;
mod react;
mod reacted_by;
mod shown;
mod tell;
#[cfg(test)]
mod tests;
mod trends;

use rookery_plugin::prelude::*;

/// The plugin.
#[plugin]
pub struct EmojiReactions;

/// An emoji outside the path.
#[derive(Deserialize)]
struct Named {
    emoji: Option<String>,
}

/// `POST /api/v1/statuses/{status}/emoji_reactions`
#[route(post, "/api/v1/statuses/{status}/emoji_reactions", scopes = ["write:favourites"])]
fn react(ctx: &Context, status: Id, Params(named): Params<Named>) -> Result<Output> {
    react::react(ctx, status, &named.emoji.unwrap_or_default())
}

/// `PUT /api/v1/statuses/{status}/emoji_reactions/{emoji}`
#[route([put, patch], "/api/v1/statuses/{status}/emoji_reactions/{emoji}", scopes = ["write:favourites"])]
#[expect(clippy::needless_pass_by_value, reason = "what stands in the path is given by value")]
fn react_with(ctx: &Context, status: Id, emoji: String) -> Result<Output> {
    react::react(ctx, status, &emoji)
}

/// `POST /api/v1/statuses/{status}/react/{emoji}`, as other servers' clients call it.
#[route(post, "/api/v1/statuses/{status}/react/{emoji}", scopes = ["write:favourites"])]
#[expect(clippy::needless_pass_by_value, reason = "what stands in the path is given by value")]
fn react_alias(ctx: &Context, status: Id, emoji: String) -> Result<Output> {
    react::react(ctx, status, &emoji)
}

/// `DELETE /api/v1/statuses/{status}/emoji_reactions/{emoji}`; the parameter wins over the path.
#[route(delete, "/api/v1/statuses/{status}/emoji_reactions/{emoji}", scopes = ["write:favourites"])]
fn unreact(ctx: &Context, status: Id, emoji: String, Params(named): Params<Named>) -> Result<Output> {
    react::unreact(ctx, status, &named.emoji.unwrap_or(emoji))
}

/// `POST /api/v1/statuses/{status}/emoji_unreaction`; without an emoji nothing is taken back.
#[route(post, "/api/v1/statuses/{status}/emoji_unreaction", scopes = ["write:favourites"])]
fn unreact_form(ctx: &Context, status: Id, Params(named): Params<Named>) -> Result<Output> {
    react::unreact(ctx, status, &named.emoji.unwrap_or_default())
}

/// `POST /api/v1/statuses/{status}/unreact/{emoji}`, as other servers' clients call it.
#[route(post, "/api/v1/statuses/{status}/unreact/{emoji}", scopes = ["write:favourites"])]
#[expect(clippy::needless_pass_by_value, reason = "what stands in the path is given by value")]
fn unreact_alias(ctx: &Context, status: Id, emoji: String) -> Result<Output> {
    react::unreact(ctx, status, &emoji)
}
