//! A role, as the staff sees it.

use serde::Serialize;

use model::{Permissions, RowId};
use store::role::Role as Row;

/// An addition of this server: docs/contract/entities/Admin_Role.schema.json
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Role {
    pub id: RowId,
    pub name: String,
    pub color: String,
    pub position: i64,
    /// Its own bits, as a decimal number.
    pub permissions: String,
    /// The names of these bits.
    pub permission_names: Vec<String>,
    pub highlighted: bool,
}

impl From<Row> for Role {
    fn from(row: Row) -> Self {
        Self {
            id: row.id,
            name: row.name,
            color: row.color,
            position: row.position,
            permissions: row.permissions.to_string(),
            permission_names: Permissions::names(row.permissions),
            highlighted: row.highlighted,
        }
    }
}
