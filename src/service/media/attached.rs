//! The attachments of a status.

use context::Cx;
use context::error::Result;
use model::{Actor, MediaAttachment, StatusId};

/// The attachments of a status of `owner`, in their order; none when the status is missing or someone else's.
#[model::use_case]
pub async fn of_status(cx: &Cx, owner: &Actor, status: StatusId) -> Result<Vec<MediaAttachment>> {
    let mut rows = store::media::list_for_statuses(&cx.db, &[status]).await?;
    rows.retain(|row| row.account_id == owner.id);
    Ok(rows)
}
