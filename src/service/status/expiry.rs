//! Statuses whose text specifies when they are to be deleted.
//!
//! Reached from publishing and editing one, and from the job [`ExpireStatus`]. The time is counted from the
//! publication of the status, or from the edit that changed the duration. Deleting a status needs nothing here: its
//! job then finds no status.
//!
//! Spec: docs/contract/rules.md#10-statuses and docs/contract/rules.md#29-extensions.

use std::time::Duration;

use super::delete::remove;
use context::error::{Error, Result};
use context::queue::{self, ExpireStatus};
use context::{Cx, job};
use database::Tx;
use model::{Status, StatusId, Time};

/// The deletion time of a status that is published now and lasts this long.
pub(super) fn of_new(cx: &Cx, lasts: Option<Duration>) -> Option<Time> {
    Some(cx.clock.now() + chrono::Duration::from_std(lasts?).ok()?)
}

/// The deletion time after an edit, whose text lasts this long. An unchanged duration keeps the previous time.
pub(super) fn after_edit(cx: &Cx, old: &Status, lasts: Option<Duration>) -> Option<Time> {
    let scan = if old.markdown { text::scan_markup(&old.text) } else { text::scan(&old.text) };
    if old.expires_at.is_some() && text::expiry(&scan) == lasts { old.expires_at } else { of_new(cx, lasts) }
}

/// Queues the deletion of `status`, if it has a deletion time.
pub(super) async fn expire_later(cx: &Cx, tx: &mut Tx, status: StatusId, at: Option<Time>) -> Result<()> {
    match at {
        Some(at) => queue::enqueue_at(cx, tx, &ExpireStatus { status }, at).await,
        None => Ok(()),
    }
}

/// Deletes `status` when its time has come; if the clock was set back, the job waits again. A time that an edit set
/// has a separate job.
#[model::use_case]
#[job]
pub async fn expire(cx: &Cx, tx: &mut Tx, ExpireStatus { status }: ExpireStatus) -> Result<()> {
    let Some(found) = store::status::find(&mut *tx, status).await? else { return Ok(()) };
    // An edit, which holds this lock, may have moved the time.
    store::account::lock(tx, &[found.account_id]).await?;
    let Some(found) = store::status::find(&mut *tx, status).await? else { return Ok(()) };
    let Some(at) = found.expires_at else { return Ok(()) };
    if at > cx.clock.now() {
        return expire_later(cx, tx, status, Some(at)).await;
    }
    match remove(cx, tx, found.account_id, status).await {
        Ok(()) | Err(Error::NotFound) => Ok(()),
        Err(error) => Err(error),
    }
}
