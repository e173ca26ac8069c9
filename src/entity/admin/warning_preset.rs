//! A preset text of warnings. An addition of this server.

use serde::Serialize;

use model::RowId;
use store::warning::WarningPreset as Row;

/// A text that moderators choose from when they warn.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WarningPreset {
    pub id: RowId,
    pub title: String,
    pub text: String,
    pub created_at: String,
}

impl From<Row> for WarningPreset {
    fn from(row: Row) -> Self {
        Self { id: row.id, title: row.title, text: row.text, created_at: row.created_at.to_api() }
    }
}
