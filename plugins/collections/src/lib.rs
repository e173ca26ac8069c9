//! Collections: accounts that people recommend to follow, under a name, a description and a hashtag.
//!
//! Local accounts alone are listed, and only with their consent, which is their setting to be discoverable ([`items`]). They
//! are notified ([`tell`]) and can withdraw. Blocks remove items ([`hear`]). The tables have columns for what federation will
//! need; nothing is federated yet.
//!
//! Spec: <https://docs.joinmastodon.org/methods/collections/>, and the contract's group `collections`.

mod entity;
mod hear;
mod items;
mod lists;
#[cfg(test)]
mod page_tests;
mod pages;
mod sent;
mod tell;
#[cfg(test)]
mod tests;

use rookery_plugin::prelude::*;

use crate::entity::{CollectionRow, wrapped};
use crate::sent::{Fields, Sent};

/// The plugin.
#[plugin]
pub struct Collections;

/// How many collections a person may have unless the configuration says otherwise.
const MOST: i64 = 10;

/// `POST /api/v1/collections`
#[route(post, "/api/v1/collections", scopes = ["write:collections"])]
fn create(ctx: &Context, Params(sent): Params<Sent>) -> Result<Output> {
    let id = make(ctx, sent)?;
    wrapped(&visible(ctx, id)?, ctx.viewer())
}

/// Creates a collection of the caller.
///
/// # Errors
/// [`Error::Invalid`] for wrong parameters, an account that cannot be listed, and for a collection over the limit.
fn make(ctx: &Context, sent: Sent) -> Result<Id> {
    let accounts = sent.accounts()?;
    let fields = Fields::default().with(sent)?;
    if fields.name.is_empty() {
        return Err(sent::blank_name());
    }
    sql::hold_owner(ctx.account()).exec()?;
    let most: i64 = config::get("max_per_person")?.unwrap_or(MOST);
    if sql::count(ctx.account()).one::<i64>()? >= most {
        let why = format!("Validation failed: You have {most} collections already, which is the limit");
        return Err(Error::invalid(why));
    }
    let Fields { name, description, language, tag, sensitive, discoverable } = fields;
    let id: Id = sql::create(ctx.account(), name, description, language, tag, sensitive, discoverable).one()?;
    items::put(ctx.account(), id, &accounts)?;
    Ok(id)
}

/// `GET /api/v1/collections/{id}`
#[route(get, "/api/v1/collections/{id}", scopes = ["read:collections"])]
fn show(ctx: &Context, id: Id) -> Result<Output> {
    entity::with_accounts(&visible(ctx, id)?, ctx.viewer())
}

/// `PATCH /api/v1/collections/{id}`
#[route([patch, put], "/api/v1/collections/{id}", scopes = ["write:collections"])]
fn update(ctx: &Context, id: Id, Params(sent): Params<Sent>) -> Result<Output> {
    change(ctx, id, sent)?;
    wrapped(&visible(ctx, id)?, ctx.viewer())
}

/// Changes a collection of the caller. Notifies the listed accounts if the name, description, hashtag or sensitivity changed.
fn change(ctx: &Context, id: Id, sent: Sent) -> Result<()> {
    check_owner(ctx, id)?;
    sql::hold_owner(ctx.account()).exec()?;
    let before = Fields::from(&visible(ctx, id)?);
    let after = before.clone().with(sent)?;
    if after == before {
        return Ok(());
    }
    let is_notified = after.meaning() != before.meaning();
    let Fields { name, description, language, tag, sensitive, discoverable } = after;
    sql::update(id, ctx.account(), name, description, language, tag, sensitive, discoverable).exec()?;
    if is_notified { tell::updated(ctx.account(), id) } else { Ok(()) }
}

/// `DELETE /api/v1/collections/{id}`
#[route(delete, "/api/v1/collections/{id}", scopes = ["write:collections"])]
fn delete(ctx: &Context, id: Id) -> Result<Output> {
    delete_own(ctx, id)?;
    Output::empty()
}

/// Deletes a collection of the caller with its items and notifications.
fn delete_own(ctx: &Context, id: Id) -> Result<()> {
    check_owner(ctx, id)?;
    sql::hold_owner(ctx.account()).exec()?;
    tell::retract_all(id)?;
    sql::delete(id, ctx.account()).exec()?;
    Ok(())
}

/// The collection, if the caller may read it. Unlisted ones can be read by any caller that knows the id.
///
/// # Errors
/// [`Error::NotFound`] when it is missing, its owner is suspended, or blocks the caller.
fn visible(ctx: &Context, id: Id) -> Result<CollectionRow> {
    sql::collection(id, ctx.viewer()).one()
}

/// # Errors
/// [`Error::NotFound`] without such a collection, [`Error::Forbidden`] for another owner's.
fn check_owner(ctx: &Context, id: Id) -> Result<()> {
    if sql::owner_of(id).one::<Id>()? == ctx.account() { Ok(()) } else { Err(forbidden()) }
}

fn forbidden() -> Error {
    Error::forbidden("This action is not allowed")
}
