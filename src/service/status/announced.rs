//! Which statuses are worth a notification to whoever asked for one of each new status.
//!
//! Reached from the fan-out, for followers and for the owners of lists.

use model::Status;
use model::status::Visibility;

/// True for a status that begins something: no reblog, no reply to someone else, and not addressed to few.
#[must_use]
pub fn is_announced(status: &Status) -> bool {
    let to_someone_else = status.in_reply_to_account_id.is_some_and(|account| account != status.account_id);
    let hidden = matches!(status.visibility, Visibility::Direct | Visibility::Limited);
    status.reblog_of_id.is_none() && !to_someone_else && !hidden
}
