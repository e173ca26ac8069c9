//! Drafts of statuses that the server keeps.

use super::{AccountId, Json, SavedDraftId, Time};

/// A row of the table of saved drafts.
#[derive(Clone, Debug, crate::Row)]
#[row(table = "saved_drafts", alias = "d")]
pub struct SavedDraft {
    pub id: SavedDraftId,
    pub account_id: AccountId,
    /// The fields of the form, which `service::saved_draft` interprets.
    pub parameters: Json<serde_json::Value>,
    pub updated_at: Time,
}
