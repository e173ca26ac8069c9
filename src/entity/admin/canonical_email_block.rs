//! A blocked e-mail address.

use serde::Serialize;

use model::RowId;
use store::email_block::CanonicalEmailBlock as Row;

/// <https://docs.joinmastodon.org/entities/Admin_CanonicalEmailBlock/>
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CanonicalEmailBlock {
    pub id: RowId,
    /// SHA-256, in hexadecimal.
    pub canonical_email_hash: String,
}

impl From<Row> for CanonicalEmailBlock {
    fn from(row: Row) -> Self {
        Self { id: row.id, canonical_email_hash: row.canonical_email_hash }
    }
}
