//! Statuses in filters. Each matches its filter, and so do its reblogs.
//!
//! Reached from the routes of statuses in filters.

use crate::visibility;
use context::Cx;
use context::error::{Error, Result};
use model::{Actor, FilterId, RowId, StatusId};
use store::filter::FilterStatusRow;

/// The statuses in one of the viewer's filters, oldest entry first.
///
/// # Errors
/// [`Error::NotFound`] when the filter is missing or someone else's.
#[model::use_case]
pub async fn list(cx: &Cx, viewer: &Actor, filter: FilterId) -> Result<Vec<FilterStatusRow>> {
    super::own(&cx.db, viewer.id, filter).await?;
    Ok(store::filter::list_statuses_of(&cx.db, filter).await?)
}

/// One entry of the viewer's filters.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or someone else's.
#[model::use_case]
pub async fn find(cx: &Cx, viewer: &Actor, id: RowId) -> Result<FilterStatusRow> {
    store::filter::find_status(&cx.db, viewer.id, id).await?.ok_or(Error::NotFound)
}

/// Adds a status to one of the actor's filters.
///
/// # Errors
/// [`Error::NotFound`] when the filter is missing or someone else's; [`Error::Invalid`] for a status that is missing,
/// hidden from the actor or in the filter already, and beyond the limits of an account.
#[model::use_case]
pub async fn create(cx: &Cx, actor: &Actor, filter: FilterId, status: Option<StatusId>) -> Result<FilterStatusRow> {
    super::own(&cx.db, actor.id, filter).await?;
    let status = match status {
        Some(status) => visibility::status(cx, Some(actor), status).await.map_err(unknown)?.head().id,
        None => return Err(unknown(Error::NotFound)),
    };
    let mut tx = super::begin(cx, actor.id).await?;
    super::own(&mut tx, actor.id, filter).await?;
    let row = FilterStatusRow { id: cx.ids.next(), filter_id: filter, status_id: status };
    if !store::filter::insert_status(&mut tx, &row).await.map_err(|error| unknown(Error::of_insert(error)))? {
        return Err(Error::invalid("Validation failed: status has already been taken"));
    }
    super::commit(cx, tx, actor.id).await?;
    Ok(row)
}

/// Removes a status from its filter.
///
/// # Errors
/// [`Error::NotFound`] when the entry is missing or someone else's.
#[model::use_case]
pub async fn delete(cx: &Cx, actor: &Actor, id: RowId) -> Result<()> {
    let mut tx = super::begin(cx, actor.id).await?;
    let row = store::filter::find_status(&mut tx, actor.id, id).await?.ok_or(Error::NotFound)?;
    store::filter::delete_status(&mut tx, row.id).await?;
    super::commit(cx, tx, actor.id).await
}

/// A missing status is an invalid parameter.
fn unknown(error: Error) -> Error {
    match error {
        Error::NotFound => Error::invalid("Validation failed: status must exist"),
        other => other,
    }
}
