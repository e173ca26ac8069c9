//! Who reblogged, favourited or is mentioned in a status.

use crate::app::App;
use crate::error::{Error, Result};
use crate::service::visibility;
use model::{AccountId, Actor, Cursor, RowId, StatusId};
use store::publish::Who;

/// A page of them, as (paging id, account).
///
/// # Errors
/// [`Error::NotFound`] when the status is missing or hidden; for the mentioned also when it is someone else's.
pub async fn who(
    app: &App,
    viewer: Option<&Actor>,
    who: Who,
    id: StatusId,
    cursor: &Cursor,
) -> Result<Vec<(RowId, AccountId)>> {
    let seen = visibility::status(app, viewer, id).await?;
    let head = seen.proper();
    if who == Who::Mentioned && viewer.is_none_or(|actor| actor.id != head.account_id) {
        return Err(Error::NotFound);
    }
    Ok(store::publish::list_who(&app.db, who, head.id, viewer.map(|actor| actor.id), cursor).await?)
}
