//! Scheduled statuses.

use super::{AccountId, Json, ScheduledStatusId, Time};

/// A row of the table of scheduled statuses.
#[derive(Clone, Debug, crate::Row)]
#[row(table = "scheduled_statuses", alias = "d")]
pub struct ScheduledStatus {
    /// Known to clients; the published status gets another.
    pub id: ScheduledStatusId,
    pub account_id: AccountId,
    /// When it is to be published.
    pub scheduled_at: Time,
    /// The request, as clients are shown it.
    pub params: Json<serde_json::Value>,
    /// Why it was not published at that time.
    pub failure: Option<String>,
    /// When it was scheduled.
    pub created_at: Time,
}
