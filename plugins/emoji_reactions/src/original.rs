//! The status that a reaction is to: a reblog's original.

use rookery_plugin::prelude::*;

use crate::sql;

/// What reacting needs to know of it.
#[derive(Clone, Copy, Debug, Row)]
pub(crate) struct Original {
    pub(crate) id: i64,
    #[row(column = "account_id")]
    pub(crate) author: i64,
    pub(crate) local: bool,
}

impl From<&Status> for Original {
    fn from(status: &Status) -> Self {
        Self { id: status.id, author: status.account, local: status.local }
    }
}

/// The original of `status`, when the caller may see both.
///
/// # Errors
/// The host's.
pub(crate) fn visible(status: Id) -> Result<Option<Status>> {
    match core::statuses(Viewer::Caller, &[status])?.pop().flatten() {
        Some(Status { reblog_of: Some(original), .. }) => {
            Ok(core::statuses(Viewer::Caller, &[original])?.pop().flatten())
        }
        other => Ok(other),
    }
}

/// The original of `status`, regardless of its visibility.
///
/// # Errors
/// The host's.
pub(crate) fn any(status: Id) -> Result<Option<Original>> {
    sql::original(status).optional()
}
