//! Bookmarks in categories that each person names.
//!
//! Filing a status bookmarks it; a bookmark that goes takes its entries along, which events tell ([`forget`]). What a
//! category holds is answered by the host alone, from the statement `statuses_of`, and so are the search for `my:categoried`
//! and what automatic deletion keeps (`[[search]]` and `[[cleanup]]` in the manifest). Spec: the contract's group
//! `bookmark_categories`.

mod category;
mod forget;
mod pages;
#[cfg(test)]
mod tests;

use rookery_plugin::prelude::*;

use crate::category::Category;

/// The plugin.
#[plugin]
pub struct BookmarkCategories;

/// How many categories a person may have.
const MOST: usize = 20;
/// How many statuses are filed or taken out in one go: as many as may be bookmarked at once.
const PART: usize = 100;

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
    Output::json(&make(ctx, naming.title.unwrap_or_default())?)
}

/// Makes a category of the caller's, unless there are as many as there may be.
fn make(ctx: &Context, title: String) -> Result<Category> {
    let title = category::title(title)?;
    sql::hold_owner(ctx.account()).exec()?;
    if sql::count(ctx.account()).one::<usize>()? >= MOST {
        return Err(Error::invalid(format!("Validation failed: There are {MOST} categories, which is the limit")));
    }
    sql::create(ctx.account(), title).one()
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
    delete_own(ctx, id)?;
    Output::empty()
}

/// Deletes a category of the caller's.
fn delete_own(ctx: &Context, id: Id) -> Result<()> {
    match sql::delete(id, ctx.account()).exec()? {
        0 => Err(Error::NotFound),
        _ => Ok(()),
    }
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
    let ids = Id::all(&chosen.status_ids)?;
    for part in ids.chunks(PART) {
        file_part(ctx, id, part)?;
    }
    Output::empty()
}

fn file_part(ctx: &Context, category: Id, ids: &[i64]) -> Result<()> {
    let statuses = core::statuses(Viewer::Caller, ids)?;
    let originals = category::originals(&statuses).ok_or(Error::NotFound)?;
    core_write::bookmark(ctx.account(), &originals)?;
    sql::many::file(originals.iter().map(|status| (category, ctx.account(), *status)))
        .on_unique(|| Error::invalid("Validation failed: The status is in this category already"))?;
    Ok(())
}

/// `DELETE /api/v1/bookmark_categories/{id}/statuses`
#[route(delete, "/api/v1/bookmark_categories/{id}/statuses", scopes = ["write:lists"])]
fn unfile(ctx: &Context, id: Id, Params(chosen): Params<Chosen>) -> Result<Output> {
    own(ctx, id)?;
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
    Output::json(&sql::holding(ctx.account(), original).all::<Category>()?)
}

/// The caller's category; someone else's and none look alike.
fn own(ctx: &Context, id: Id) -> Result<Category> {
    sql::category(id, ctx.account()).one()
}
