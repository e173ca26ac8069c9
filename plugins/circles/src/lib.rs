//! Circles: lists of followers that each person names, to post to.
//!
//! A post to a circle reaches its members as they are when it is published ([`audience`]); later changes of the members
//! do not affect it. A membership depends on the member's follow and ends with it ([`mod@hear`]). The host alone serves
//! the statuses and the members of a circle, from the statements `statuses_of` and `members_of`. Spec: the contract's
//! group `circles`.
//!
//! Mentions, threads, `mutual` and `personal` are audiences of the server itself.

mod audience;
mod hear;
mod pages;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use rookery_plugin::prelude::*;
use rookery_plugin::titled::{Kind, Naming, Titled};

/// The plugin.
#[plugin]
pub struct Circles;

/// How many members a circle may have: as many as the server lets a status filter name.
const MOST_MEMBERS: usize = 20_000;

/// The circles of a person.
const CIRCLES: Kind = Kind {
    plural: "circles",
    most: 100,
    list: sql::circles,
    find: sql::circle,
    hold: sql::hold_owner,
    count: sql::count,
    create: sql::create,
    rename: sql::rename,
    delete: sql::delete,
};

/// `GET /api/v1/circles`
#[route(get, "/api/v1/circles", scopes = ["read:lists"])]
fn index(ctx: &Context) -> Result<Output> {
    Output::json(&CIRCLES.list(ctx)?)
}

/// `POST /api/v1/circles`
#[route(post, "/api/v1/circles", scopes = ["write:lists"])]
fn create(ctx: &Context, Params(sent): Params<Naming>) -> Result<Output> {
    Output::json(&CIRCLES.create(ctx, sent.title.unwrap_or_default())?)
}

/// `GET /api/v1/circles/{id}`
#[route(get, "/api/v1/circles/{id}", scopes = ["read:lists"])]
fn show(ctx: &Context, id: Id) -> Result<Output> {
    Output::json(&CIRCLES.find(ctx, id)?)
}

/// `PUT /api/v1/circles/{id}`
#[route([put, patch], "/api/v1/circles/{id}", scopes = ["write:lists"])]
fn update(ctx: &Context, id: Id, Params(sent): Params<Naming>) -> Result<Output> {
    Output::json(&CIRCLES.update(ctx, id, sent)?)
}

/// `DELETE /api/v1/circles/{id}`
///
/// Its statuses stay, and keep their audience.
#[route(delete, "/api/v1/circles/{id}", scopes = ["write:lists"])]
fn delete(ctx: &Context, id: Id) -> Result<Output> {
    CIRCLES.delete(ctx, id)?;
    Output::empty()
}

/// Accounts to add or to take out.
#[derive(Deserialize)]
struct Chosen {
    #[serde(default)]
    account_ids: Vec<String>,
}

/// `POST /api/v1/circles/{id}/accounts`
#[route(post, "/api/v1/circles/{id}/accounts", scopes = ["write:lists"])]
fn add(ctx: &Context, id: Id, Params(chosen): Params<Chosen>) -> Result<Output> {
    CIRCLES.find(ctx, id)?;
    put(ctx, id, &Id::all(&chosen.account_ids)?)?;
    Output::empty()
}

/// Puts accounts into a circle of the caller's, all or none.
fn put(ctx: &Context, id: Id, ids: &[i64]) -> Result<()> {
    if ids.contains(&ctx.account().0) {
        return Err(Error::invalid("Validation failed: You cannot be in a circle of your own"));
    }
    sql::hold_owner(ctx.account()).exec()?;
    sql::remove_ended(id, ids).exec()?;
    let added = sql::add(id, ctx.account(), ids).exec().on_unique(in_it_already)?;
    check_added(ids, added)?;
    if sql::count_members(id).one::<usize>()? > MOST_MEMBERS {
        return Err(Error::invalid(format!("Validation failed: A circle has at most {MOST_MEMBERS} members")));
    }
    Ok(())
}

/// `DELETE /api/v1/circles/{id}/accounts`
#[route(delete, "/api/v1/circles/{id}/accounts", scopes = ["write:lists"])]
fn remove(ctx: &Context, id: Id, Params(chosen): Params<Chosen>) -> Result<Output> {
    CIRCLES.find(ctx, id)?;
    sql::remove(id, Id::known(&chosen.account_ids)).exec()?;
    Output::empty()
}

/// `GET /api/v1/accounts/{account}/circles`
#[route(get, "/api/v1/accounts/{account}/circles", scopes = ["read:lists"])]
fn of_account(ctx: &Context, account: Id) -> Result<Output> {
    Output::json(&sql::holding(ctx.account(), account).all::<Titled>()?)
}

/// Checks that `rows` rows were inserted for `ids`, one for each. Accounts that do not follow are not added.
///
/// # Errors
/// [`Error::NotFound`] when an account was left out, [`Error::Invalid`] when an account was named twice.
fn check_added(ids: &[i64], rows: u64) -> Result<()> {
    let distinct = ids.iter().collect::<BTreeSet<_>>().len();
    if u64::try_from(distinct).ok() != Some(rows) {
        return Err(Error::NotFound);
    }
    if distinct < ids.len() { Err(in_it_already()) } else { Ok(()) }
}

fn in_it_already() -> Error {
    Error::invalid("Validation failed: The account is in this circle already")
}
