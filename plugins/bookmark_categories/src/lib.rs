//! Bookmarks in categories that each person names.
//!
//! Filing a status bookmarks it; a bookmark that goes takes its entries along, which events tell. What a category holds is
//! answered by the host alone, from the statement `statuses_of`. Spec: the contract's group `bookmark_categories`.

mod category;
#[cfg(test)]
mod tests;

use rookery_plugin::prelude::*;

use crate::category::Category;

/// The plugin.
#[plugin]
pub struct BookmarkCategories;

/// How many categories a person may have.
const MOST: usize = 20;

/// `GET /api/v1/bookmark_categories`
#[route(get, "/api/v1/bookmark_categories", scopes = ["read:lists"])]
fn index(ctx: &Context) -> Result<Output> {
    Output::json(&sql::categories(ctx.account()).all::<Category>()?)
}

/// What a category is called.
#[derive(Deserialize)]
struct Naming {
    title: Option<String>,
}

/// `POST /api/v1/bookmark_categories`
#[route(post, "/api/v1/bookmark_categories", scopes = ["write:lists"])]
fn create(ctx: &Context, Params(naming): Params<Naming>) -> Result<Output> {
    let title = category::title(naming.title.unwrap_or_default())?;
    if sql::categories(ctx.account()).all::<Category>()?.len() >= MOST {
        return Err(Error::invalid(format!("Validation failed: There are {MOST} categories, which is the limit")));
    }
    Output::json(&sql::create(ctx.account(), title).one::<Category>()?)
}

/// `GET /api/v1/bookmark_categories/{id}`
#[route(get, "/api/v1/bookmark_categories/{id}", scopes = ["read:lists"])]
fn show(ctx: &Context, id: Id) -> Result<Output> {
    Output::json(&own(ctx, id)?)
}

/// `PUT /api/v1/bookmark_categories/{id}`
#[route([put, patch], "/api/v1/bookmark_categories/{id}", scopes = ["write:lists"])]
fn update(ctx: &Context, id: Id, Params(naming): Params<Naming>) -> Result<Output> {
    let Some(title) = naming.title else { return show(ctx, id) };
    own(ctx, id)?;
    Output::json(&sql::rename(id, ctx.account(), category::title(title)?).one::<Category>()?)
}

/// `DELETE /api/v1/bookmark_categories/{id}`
#[route(delete, "/api/v1/bookmark_categories/{id}", scopes = ["write:lists"])]
fn delete(ctx: &Context, id: Id) -> Result<Output> {
    if sql::delete(id, ctx.account()).exec()? == 0 {
        return Err(Error::NotFound);
    }
    Output::empty()
}

/// Statuses to file or to take out.
#[derive(Deserialize)]
struct Chosen {
    #[serde(default)]
    status_ids: Vec<String>,
}

/// `POST /api/v1/bookmark_categories/{id}/statuses`
#[route(post, "/api/v1/bookmark_categories/{id}/statuses", scopes = ["write:lists"])]
fn file(ctx: &Context, id: Id, Params(chosen): Params<Chosen>) -> Result<Output> {
    own(ctx, id)?;
    let ids = category::all_ids(&chosen.status_ids).ok_or(Error::NotFound)?;
    let statuses = core::statuses(Viewer::Caller, &ids)?;
    let originals = category::originals(&statuses).ok_or(Error::NotFound)?;
    core_write::bookmark(ctx.account(), &originals)?;
    sql::many::file(originals.iter().map(|status| (id, ctx.account(), *status)))
        .on_unique(|| Error::invalid("Validation failed: The status is in this category already"))?;
    Output::empty()
}

/// `DELETE /api/v1/bookmark_categories/{id}/statuses`
#[route(delete, "/api/v1/bookmark_categories/{id}/statuses", scopes = ["write:lists"])]
fn unfile(ctx: &Context, id: Id, Params(chosen): Params<Chosen>) -> Result<Output> {
    own(ctx, id)?;
    sql::unfile(id, category::known_ids(&chosen.status_ids)).exec()?;
    Output::empty()
}

/// `GET /api/v1/statuses/{status}/bookmark_categories`
///
/// Also for a status that the caller does not see any more: the categories are theirs.
#[route(get, "/api/v1/statuses/{status}/bookmark_categories", scopes = ["read:lists"])]
fn of_status(ctx: &Context, status: Id) -> Result<Output> {
    sql::status_exists(status).one::<Id>()?;
    Output::json(&sql::holding(ctx.account(), status).all::<Category>()?)
}

/// The caller's category; someone else's and none look alike.
fn own(ctx: &Context, id: Id) -> Result<Category> {
    sql::category(id, ctx.account()).one()
}

/// Entries go with their bookmark and with their status.
#[on(events)]
fn forget(batch: &[Event]) -> Result<()> {
    let deleted: Vec<i64> = batch.iter().filter(|event| event.kind == "status.deleted").filter_map(Event::id).collect();
    if !deleted.is_empty() {
        sql::forget_statuses(deleted).exec()?;
    }
    for event in batch.iter().filter(|event| event.kind == "bookmark.deleted") {
        let (account, status) = event.pair("account", "status")?;
        sql::forget_bookmark(account, status, event.at).exec()?;
    }
    if batch.iter().any(|event| event.kind == "account.purged") {
        sql::forget_missing().exec()?;
    }
    Ok(())
}
