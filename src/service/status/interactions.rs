//! The accounts that reblogged or favourited a status, or are mentioned in it.

use crate::visibility;
use context::Cx;
use context::error::{Error, Result};
use model::{AccountId, Actor, Cursor, RowId, StatusId, Visibility};
use store::interaction::Interaction;
use store::status::Head;

/// A page of them, as (cursor id, account).
///
/// # Errors
/// [`Error::NotFound`] when the status is missing or hidden. For mentions also unless the viewer is its author, or,
/// for a limited reply in a thread, the author who chose the audience of the thread.
#[model::use_case]
pub async fn list_interactions(
    cx: &Cx,
    viewer: Option<&Actor>,
    interaction: Interaction,
    id: StatusId,
    cursor: &Cursor,
) -> Result<Vec<(RowId, AccountId)>> {
    let seen = visibility::status(cx, viewer, id).await?;
    let head = seen.proper();
    if interaction == Interaction::Mentioned {
        let owner = owner(cx, head).await?;
        viewer.filter(|actor| actor.id == owner).ok_or(Error::NotFound)?;
    }
    Ok(store::interaction::list_accounts(
        &cx.db,
        interaction,
        head.id,
        viewer.map(|actor| actor.id),
        cursor,
        cx.clock.now(),
    )
    .await?)
}

/// The account that may list the recipients of a status: its author; for a limited one, the author of its audience.
async fn owner(cx: &Cx, head: &Head) -> Result<AccountId> {
    if head.visibility != Visibility::Limited {
        return Ok(head.account_id);
    }
    Ok(store::mention::find_audience_author(&cx.db, head.id).await?.unwrap_or(head.account_id))
}
