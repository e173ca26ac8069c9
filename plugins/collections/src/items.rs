//! Listing accounts in a collection, and taking them out.
//!
//! Consent: an account can be listed if it is local and discoverable and, where it approves its followers, if the owner follows
//! it. A block in either direction prevents it. Accounts of other servers need federation, which would ask for their consent.
//! All refusals have the same message, which does not reveal a block.

use std::collections::HashMap;

use rookery_plugin::prelude::*;

use crate::{check_owner, entity, forbidden, sql, tell, visible};

/// How many accounts a collection may list.
const MOST_ITEMS: usize = 25;

/// Which account to add.
#[derive(Deserialize)]
struct Chosen {
    account_id: Option<String>,
}

/// `POST /api/v1/collections/{id}/items`
#[route(post, "/api/v1/collections/{id}/items", scopes = ["write:collections"])]
fn add(ctx: &Context, id: Id, Params(chosen): Params<Chosen>) -> Result<Output> {
    check_owner(ctx, id)?;
    let sent = chosen.account_id.filter(|text| !text.trim().is_empty());
    let account = sent.ok_or_else(|| Error::invalid("`account_id` parameter is missing"))?;
    let account: i64 = account.trim().parse().map_err(|_| not_addable())?;
    put(ctx.account(), id, &[account])?;
    entity::wrapped_item(&visible(ctx, id)?, account)
}

/// Lists accounts in a collection of `owner`, all or none, and notifies them.
///
/// # Errors
/// [`Error::Invalid`] for an account that cannot be listed or is listed already, and for a full collection.
pub(crate) fn put(owner: Id, collection: Id, accounts: &[i64]) -> Result<()> {
    if accounts.is_empty() {
        return Ok(());
    }
    sql::hold_owner(owner).exec()?;
    let stored: HashMap<i64, String> =
        sql::stored_items(collection, accounts).all::<(i64, String)>()?.into_iter().collect();
    if let Some(state) = stored.values().next() {
        return Err(Error::invalid(match state.as_str() {
            "revoked" | "rejected" => "Validation failed: The account does not want to be in this collection",
            _ => "Validation failed: The account is in this collection already",
        }));
    }
    check_room(sql::count_items(collection).one::<usize>()? + accounts.len())?;
    let added = sql::many::add(accounts.iter().map(|account| (collection, owner, account)))?;
    if usize::try_from(added).ok() != Some(accounts.len()) {
        return Err(not_addable());
    }
    tell::added(owner, &sql::added(collection, accounts).all::<(i64, i64)>()?)
}

/// # Errors
/// [`Error::Invalid`] for more items than a collection may have.
pub(crate) fn check_room(items: usize) -> Result<()> {
    if items > MOST_ITEMS {
        let why = format!("Validation failed: A collection has at most {MOST_ITEMS} accounts");
        return Err(Error::invalid(why));
    }
    Ok(())
}

pub(crate) fn not_addable() -> Error {
    Error::invalid("Validation failed: This account cannot be added to collections")
}

/// `DELETE /api/v1/collections/{id}/items/{item}`
#[route(delete, "/api/v1/collections/{id}/items/{item}", scopes = ["write:collections"])]
fn remove(ctx: &Context, id: Id, item: Id) -> Result<Output> {
    take_out(ctx, id, item)?;
    Output::empty()
}

/// Removes an item from a collection of the caller.
pub(crate) fn take_out(ctx: &Context, id: Id, item: Id) -> Result<()> {
    check_owner(ctx, id)?;
    if sql::remove(item, id).exec()? == 0 {
        return Err(Error::NotFound);
    }
    tell::retract(&[item])
}

/// `POST /api/v1/collections/{id}/items/{item}/revoke`
#[route(post, "/api/v1/collections/{id}/items/{item}/revoke", scopes = ["write:collections"])]
fn revoke(ctx: &Context, id: Id, item: Id) -> Result<Output> {
    withdraw(ctx, id, item)?;
    Output::empty()
}

/// Withdraws the caller's consent. The row stays, so that the owner cannot add the account to this collection again.
///
/// # Errors
/// [`Error::NotFound`] without such an item, [`Error::Forbidden`] for the item of another account.
pub(crate) fn withdraw(ctx: &Context, id: Id, item: Id) -> Result<()> {
    if sql::listed_account(item, id).one::<Id>()? != ctx.account() {
        return Err(forbidden());
    }
    sql::revoke(item, ctx.account()).exec()?;
    tell::retract(&[item])
}
