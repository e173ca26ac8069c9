//! Reactions to statuses with any emoji, within what the author allows.
//!
//! `react` has what changes reactions, `decorate` what is shown of them, `policy` who may do either. Spec: the contract's
//! group `emoji_reactions`.

#![expect(clippy::needless_pass_by_value, reason = "what stands in the path is given by value")]

mod decorate;
mod emoji;
mod group;
mod people;
mod policy;
mod react;
#[cfg(test)]
mod tests;

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
fn react_with(ctx: &Context, status: Id, emoji: String) -> Result<Output> {
    react::react(ctx, status, &emoji)
}

/// `POST /api/v1/statuses/{status}/react/{emoji}`, as other servers' clients call it.
#[route(post, "/api/v1/statuses/{status}/react/{emoji}", scopes = ["write:favourites"])]
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
fn unreact_alias(ctx: &Context, status: Id, emoji: String) -> Result<Output> {
    react::unreact(ctx, status, &emoji)
}

/// `GET /api/v1/statuses/{status}/emoji_reactioned_by`: one item for each reaction, newest first.
#[route(get, "/api/v1/statuses/{status}/emoji_reactioned_by", scopes = ["read:accounts"])]
fn reacted_by(ctx: &Context, status: Id, page: Page) -> Result<Output> {
    decorate::reacted_by(ctx.viewer(), status, &page)
}

/// Adds the reactions to statuses.
#[on(decorate, kind = "status")]
fn statuses(viewer: Option<Id>, targets: &[Target]) -> Result<Extras> {
    decorate::statuses(viewer, targets)
}

/// Adds the reaction to the notification of one.
#[on(decorate, kind = "notification")]
fn notifications(_viewer: Option<Id>, targets: &[Target]) -> Result<Extras> {
    decorate::notifications(targets)
}

/// Says whose reactions an account wants, and that its server knows them.
#[on(decorate, kind = "account")]
fn accounts(_viewer: Option<Id>, targets: &[Target]) -> Result<Extras> {
    decorate::accounts(targets)
}

/// Reactions go with their status, their emoji and whoever made them.
#[on(events)]
fn forget(batch: &[Event]) -> Result<()> {
    let deleted: Vec<i64> = batch.iter().filter(|event| event.kind == "status.deleted").filter_map(Event::id).collect();
    if !deleted.is_empty() {
        sql::forget_statuses(deleted).exec()?;
    }
    if batch.iter().any(|event| event.kind == "account.purged") {
        sql::forget_missing().exec()?;
    }
    for event in batch.iter().filter(|event| event.kind == "emoji.deleted") {
        let gone: react::Gone = event.json()?;
        react::forget_emoji(&gone)?;
    }
    Ok(())
}
