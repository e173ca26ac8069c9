//! The accounts that reblogged or favourited a status, or are mentioned in it.

use crate::Cx;
use crate::error::{Error, Result};
use crate::service::visibility;
use model::{AccountId, Actor, Cursor, RowId, StatusId};
use store::publish::Interaction;

/// A page of them, as (cursor id, account).
///
/// # Errors
/// [`Error::NotFound`] when the status is missing or hidden; for mentions also when it is someone else's.
pub async fn list_interactions(
    cx: &Cx,
    viewer: Option<&Actor>,
    interaction: Interaction,
    id: StatusId,
    cursor: &Cursor,
) -> Result<Vec<(RowId, AccountId)>> {
    let seen = visibility::status(cx, viewer, id).await?;
    let head = seen.proper();
    if interaction == Interaction::Mentioned && viewer.is_none_or(|actor| actor.id != head.account_id) {
        return Err(Error::NotFound);
    }
    Ok(store::publish::list_interactions(
        &cx.db,
        interaction,
        head.id,
        viewer.map(|actor| actor.id),
        cursor,
        cx.clock.now(),
    )
    .await?)
}
