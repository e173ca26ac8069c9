//! An entry of the audit log. An addition of this server: the API of Mastodon has none.

use serde::Serialize;
use serde_json::Value;

use model::{AccountId, RowId};
use store::audit::AuditEntry as Row;

/// A change that a member of staff made.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AuditEntry {
    pub id: RowId,
    pub created_at: String,
    /// `account.suspend`: the kind of the target and what was done to it.
    pub action: String,
    /// The member of staff; `None` for an operator at the command line. The account may no longer exist.
    pub account_id: Option<AccountId>,
    /// Its user name at that time.
    pub actor: String,
    pub target: Target,
    /// The parameters of the change: an object.
    pub details: Value,
}

/// The record that a change is about, which may no longer exist.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Target {
    #[serde(rename = "type")]
    pub kind: String,
    pub id: RowId,
    pub name: String,
}

impl From<Row> for AuditEntry {
    fn from(row: Row) -> Self {
        Self {
            id: row.id,
            created_at: row.created_at.to_api(),
            action: row.action,
            account_id: row.account_id,
            actor: row.actor_name,
            target: Target { kind: row.target_kind, id: row.target_id, name: row.target_name },
            details: row.details.0,
        }
    }
}
