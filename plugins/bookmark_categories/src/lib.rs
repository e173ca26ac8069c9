//! Bookmarks in categories that each person names.
//!
//! Filing a status bookmarks it; removing a bookmark removes its entries, by an event ([`forget`]). The host alone
//! serves the statuses of a category, from the statement `statuses_of`, the search for `my:categoried` and the
//! exceptions of automatic deletion (`[[search]]` and `[[cleanup]]` in the manifest). Spec: the contract's group
//! `bookmark_categories`.

mod forget;
mod pages;
#[cfg(test)]
mod tests;

use rookery_plugin::prelude::*;
use rookery_plugin::titled::{Kind, Naming, Titled};

/// The plugin.
#[plugin]
pub struct BookmarkCategories;

/// Statuses per request: as many as one call may bookmark.
const PART: usize = 100;

/// The categories of a person.
const CATEGORIES: Kind = Kind {
    plural: "categories",
    most: 20,
    list: sql::categories,
    find: sql::category,
    hold: sql::hold_owner,
    count: sql::count,
    create: sql::create,
    rename: sql::rename,
    delete: sql::delete,
};

/// `GET /api/v1/bookmark_categories`
#[route(get, "/api/v1/bookmark_categories", scopes = ["read:lists"])]
fn index(ctx: &Context) -> Result<Output> {
    Output::json(&CATEGORIES.list(ctx)?)
}

/// `POST /api/v1/bookmark_categories`
#[route(post, "/api/v1/bookmark_categories", scopes = ["write:lists"])]
fn create(ctx: &Context, Params(sent): Params<Naming>) -> Result<Output> {
    Output::json(&CATEGORIES.create(ctx, sent.title.unwrap_or_default())?)
}

/// `GET /api/v1/bookmark_categories/{id}`
#[route(get, "/api/v1/bookmark_categories/{id}", scopes = ["read:lists"])]
fn show(ctx: &Context, id: Id) -> Result<Output> {
    Output::json(&CATEGORIES.find(ctx, id)?)
}

/// `PUT /api/v1/bookmark_categories/{id}`
#[route([put, patch], "/api/v1/bookmark_categories/{id}", scopes = ["write:lists"])]
fn update(ctx: &Context, id: Id, Params(sent): Params<Naming>) -> Result<Output> {
    Output::json(&CATEGORIES.update(ctx, id, sent)?)
}

/// `DELETE /api/v1/bookmark_categories/{id}`
#[route(delete, "/api/v1/bookmark_categories/{id}", scopes = ["write:lists"])]
fn delete(ctx: &Context, id: Id) -> Result<Output> {
    CATEGORIES.delete(ctx, id)?;
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
    CATEGORIES.find(ctx, id)?;
    let ids = Id::all(&chosen.status_ids)?;
    for part in ids.chunks(PART) {
        file_part(ctx, id, part)?;
    }
    Output::empty()
}

fn file_part(ctx: &Context, category: Id, ids: &[i64]) -> Result<()> {
    let statuses = core::statuses(Viewer::Caller, ids)?;
    let originals = originals(&statuses).ok_or(Error::NotFound)?;
    core_write::bookmark(ctx.account(), &originals)?;
    sql::many::file(originals.iter().map(|status| (category, ctx.account(), *status)))
        .on_unique(|| Error::invalid("Validation failed: The status is in this category already"))?;
    Ok(())
}

/// `DELETE /api/v1/bookmark_categories/{id}/statuses`
#[route(delete, "/api/v1/bookmark_categories/{id}/statuses", scopes = ["write:lists"])]
fn unfile(ctx: &Context, id: Id, Params(chosen): Params<Chosen>) -> Result<Output> {
    CATEGORIES.find(ctx, id)?;
    for part in Id::known(&chosen.status_ids).chunks(PART) {
        let originals: Vec<i64> = sql::originals(part).all()?;
        sql::unfile(id, originals).exec()?;
    }
    Output::empty()
}

/// `GET /api/v1/statuses/{status}/bookmark_categories`
///
/// Also for a status that the caller does not see any more: the categories are theirs.
#[route(get, "/api/v1/statuses/{status}/bookmark_categories", scopes = ["read:lists"])]
fn of_status(ctx: &Context, status: Id) -> Result<Output> {
    let original: Id = sql::originals(vec![status]).one()?;
    Output::json(&sql::holding(ctx.account(), original).all::<Titled>()?)
}

/// The bookmarked status for each status: a reblog's original. `None` when one of them is missing or hidden.
fn originals(statuses: &[Option<Status>]) -> Option<Vec<i64>> {
    statuses.iter().map(|status| status.as_ref().map(|status| status.reblog_of.unwrap_or(status.id))).collect()
}
