//! A user name that cannot be used to sign up.

use serde::Serialize;

use model::RowId;
use model::username_block::UsernameComparison;
use store::username_block::UsernameBlock as Row;

/// A blocked user name; an addition of this server.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UsernameBlock {
    pub id: RowId,
    pub username: String,
    /// The form that is compared.
    pub normalized_username: String,
    pub comparison: UsernameComparison,
    pub allow_with_approval: bool,
    pub created_at: String,
}

impl From<Row> for UsernameBlock {
    fn from(row: Row) -> Self {
        Self {
            id: row.id,
            username: row.username,
            normalized_username: row.skeleton,
            comparison: row.comparison,
            allow_with_approval: row.allow_with_approval,
            created_at: row.created_at.to_api(),
        }
    }
}
