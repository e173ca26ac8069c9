//! Decides which statuses notify accounts that asked to be notified of new statuses.
//!
//! Reached from the fan-out, for followers and for the owners of lists.

use model::Status;
use model::status::Visibility;

/// True for a new post: not a reblog, not a reply to someone else, and not addressed to a few accounts.
#[must_use]
pub fn is_announced(status: &Status) -> bool {
    let to_someone_else = status.in_reply_to_account_id.is_some_and(|account| account != status.account_id);
    let hidden = matches!(status.visibility, Visibility::Direct | Visibility::Limited);
    status.reblog_of_id.is_none() && !to_someone_else && !hidden
}
