//! Scheduled statuses.

use super::{AccountId, Json, ScheduledStatusId, Time};

/// A row of the table of scheduled statuses.
#[derive(Clone, Debug, crate::Row)]
#[row(table = "scheduled_statuses", alias = "d")]
pub struct ScheduledStatus {
    /// Sent to clients; the published status gets another id.
    pub id: ScheduledStatusId,
    pub account_id: AccountId,
    pub scheduled_at: Time,
    /// The request, as returned to clients.
    pub params: Json<serde_json::Value>,
    /// Why it was not published when it was due.
    pub failure: Option<String>,
    pub created_at: Time,
}
