//! Maintains the full-text index of statuses.
//!
//! Publishing, editing and deleting update it in their transactions, so that it is always current. `rookery search
//! reindex` rebuilds it, in batches.

use super::document;
use context::Cx;
use context::error::Result;
use database::Tx;
use model::{Status, StatusId};

/// Statuses per transaction of the command.
const BATCH: i64 = 100;

/// Adds `status` as it is in `tx`, its media and its poll to the index; a reblog is not indexed.
pub(crate) async fn insert(tx: &mut Tx, status: &Status) -> Result<()> {
    if status.reblog_of_id.is_some() {
        return Ok(());
    }
    let terms = terms(tx, status).await?;
    Ok(store::status_search::insert(tx, status.id, &terms).await?)
}

/// The terms of `status`, its media and its poll as they are in `tx`: the terms that [`update`] or [`delete`] removes
/// from the index.
pub(crate) async fn terms(tx: &mut Tx, status: &Status) -> Result<Vec<i64>> {
    let document = document::of(tx, std::slice::from_ref(status)).await?.pop();
    Ok(document.map(|document| document.terms()).unwrap_or_default())
}

/// Replaces the index terms of the status `id`: `before` by its current terms in `tx`.
pub(crate) async fn update(tx: &mut Tx, id: StatusId, before: &[i64]) -> Result<()> {
    let Some(status) = store::status::find(&mut *tx, id).await? else { return Ok(()) };
    let now = terms(tx, &status).await?;
    let gone: Vec<i64> = before.iter().copied().filter(|term| now.binary_search(term).is_err()).collect();
    store::status_search::delete(tx, id, &gone).await?;
    store::status_search::insert(tx, id, &now).await?;
    Ok(())
}

/// Removes `status`, as it still is in `tx`, from the index.
pub(crate) async fn delete(tx: &mut Tx, status: &Status) -> Result<()> {
    if status.reblog_of_id.is_some() {
        return Ok(());
    }
    let terms = terms(tx, status).await?;
    Ok(store::status_search::delete(tx, status.id, &terms).await?)
}

/// Adds the newest statuses before `before` to the index in `tx`. Returns a bounded number of them, newest first, or
/// none at the end.
#[model::use_case]
pub async fn fill(cx: &Cx, tx: &mut Tx, before: StatusId) -> Result<Vec<StatusId>> {
    let ids = store::status_search::list_before(&cx.db, before, BATCH).await?;
    let statuses = store::status::list(&mut *tx, &ids).await?;
    for document in document::of(&mut *tx, &statuses).await? {
        store::status_search::insert(tx, document.id, &document.terms()).await?;
    }
    Ok(ids)
}
