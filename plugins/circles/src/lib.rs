//! Circles: lists of followers that each person names, to post to.
//!
//! A post to a circle reaches its members as they are when it is published ([`audience`]); who joins or leaves later changes
//! nothing of it. A membership hangs on the member's follow and ends with it ([`hear`]). What was posted to a circle, and who
//! is in it, is answered by the host alone, from the statements `statuses_of` and `members_of`. Spec: the contract's group
//! `circles`.
//!
//! Knows nothing of mentions, threads, `mutual` and `personal`: audiences are the server's own.

mod audience;
mod circle;
mod hear;
mod pages;
#[cfg(test)]
mod tests;

use rookery_plugin::prelude::*;

use crate::circle::Circle;

/// The plugin.
#[plugin]
pub struct Circles;

/// How many circles a person may have.
const MOST: usize = 100;
/// How many members a circle may have: as many as the server lets a status filter name.
const MOST_MEMBERS: usize = 20_000;

/// `GET /api/v1/circles`
#[route(get, "/api/v1/circles", scopes = ["read:lists"])]
fn index(ctx: &Context) -> Result<Output> {
    Output::json(&sql::circles(ctx.account()).all::<Circle>()?)
}

/// What a circle is called.
#[derive(Deserialize)]
struct Naming {
    title: Option<String>,
}

/// `POST /api/v1/circles`
#[route(post, "/api/v1/circles", scopes = ["write:lists"])]
fn create(ctx: &Context, Params(naming): Params<Naming>) -> Result<Output> {
    Output::json(&make(ctx, naming.title.unwrap_or_default())?)
}

/// Makes a circle of the caller's, unless there are as many as there may be.
fn make(ctx: &Context, title: String) -> Result<Circle> {
    let title = circle::title(title)?;
    sql::hold_owner(ctx.account()).exec()?;
    if sql::count(ctx.account()).one::<usize>()? >= MOST {
        return Err(Error::invalid(format!("Validation failed: There are {MOST} circles, which is the limit")));
    }
    sql::create(ctx.account(), title).one()
}

/// `GET /api/v1/circles/{id}`
#[route(get, "/api/v1/circles/{id}", scopes = ["read:lists"])]
fn show(ctx: &Context, id: Id) -> Result<Output> {
    Output::json(&own(ctx, id)?)
}

/// `PUT /api/v1/circles/{id}`
#[route([put, patch], "/api/v1/circles/{id}", scopes = ["write:lists"])]
fn update(ctx: &Context, id: Id, Params(naming): Params<Naming>) -> Result<Output> {
    let Some(title) = naming.title else { return show(ctx, id) };
    own(ctx, id)?;
    Output::json(&sql::rename(id, ctx.account(), circle::title(title)?).one::<Circle>()?)
}

/// `DELETE /api/v1/circles/{id}`
///
/// What was posted to it stays, and keeps its audience.
#[route(delete, "/api/v1/circles/{id}", scopes = ["write:lists"])]
fn delete(ctx: &Context, id: Id) -> Result<Output> {
    delete_own(ctx, id)?;
    Output::empty()
}

/// Deletes a circle of the caller's.
fn delete_own(ctx: &Context, id: Id) -> Result<()> {
    match sql::delete(id, ctx.account()).exec()? {
        0 => Err(Error::NotFound),
        _ => Ok(()),
    }
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
    own(ctx, id)?;
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
    let added = sql::add(id, ctx.account(), ids).exec().on_unique(circle::in_it_already)?;
    circle::check_added(ids, added)?;
    if sql::count_members(id).one::<usize>()? > MOST_MEMBERS {
        return Err(Error::invalid(format!("Validation failed: A circle has at most {MOST_MEMBERS} members")));
    }
    Ok(())
}

/// `DELETE /api/v1/circles/{id}/accounts`
#[route(delete, "/api/v1/circles/{id}/accounts", scopes = ["write:lists"])]
fn remove(ctx: &Context, id: Id, Params(chosen): Params<Chosen>) -> Result<Output> {
    own(ctx, id)?;
    sql::remove(id, Id::known(&chosen.account_ids)).exec()?;
    Output::empty()
}

/// `GET /api/v1/accounts/{account}/circles`
#[route(get, "/api/v1/accounts/{account}/circles", scopes = ["read:lists"])]
fn of_account(ctx: &Context, account: Id) -> Result<Output> {
    Output::json(&sql::holding(ctx.account(), account).all::<Circle>()?)
}

/// The caller's circle; someone else's and none look alike.
fn own(ctx: &Context, id: Id) -> Result<Circle> {
    sql::circle(id, ctx.account()).one()
}
