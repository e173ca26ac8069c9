//! The audit log: who did what to whom, and when.
//!
//! Written by the use cases of the staff, in the transaction of the change; read by `GET /api/v1/admin/audit_log`, a
//! page and `rookery audit`. Entries name their actor and target, so that they can be read after both are gone.

use context::Cx;
use context::error::Result;
use database::Tx;
use model::{Account, Cursor, Json, RowId, Staff};

pub use store::audit::{AuditEntry, AuditFilter};

/// A change that is logged.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The kind of the target and what was done to it: `account.suspend`.
    pub action: &'static str,
    pub target: Target,
    /// The parameters of the change, an object; without addresses, secrets and private texts.
    pub details: serde_json::Value,
}

/// The record that a change is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Such as `account`.
    pub kind: &'static str,
    pub id: i64,
    /// As a person would call it: `@alice`, `example.com`.
    pub name: String,
}

impl Target {
    /// The record `id` of a kind, named `name`.
    pub fn new(kind: &'static str, id: impl Into<i64>, name: impl Into<String>) -> Self {
        Self { kind, id: id.into(), name: name.into() }
    }

    /// `account`, named by its address.
    #[must_use]
    pub fn account(account: &Account) -> Self {
        Self::new("account", account.id, format!("@{}", account.acct()))
    }
}

impl Entry {
    /// A change without parameters.
    #[must_use]
    pub fn new(action: &'static str, target: Target) -> Self {
        Self { action, target, details: serde_json::json!({}) }
    }

    /// Adds the parameters of the change: an object.
    #[must_use]
    pub fn with(mut self, details: serde_json::Value) -> Self {
        self.details = details;
        self
    }
}

/// Adds `entry` to the log, as a change by `staff`, in the transaction of the change.
#[model::use_case]
pub async fn record(cx: &Cx, tx: &mut Tx, staff: &Staff, entry: Entry) -> Result<()> {
    let Entry { action, target, details } = entry;
    let row = AuditEntry {
        id: cx.ids.next(),
        account_id: staff.account,
        actor_name: staff.name.clone(),
        action: action.to_owned(),
        target_kind: target.kind.to_owned(),
        target_id: RowId::from(target.id),
        target_name: target.name,
        details: Json(details),
        created_at: cx.clock.now(),
    };
    Ok(store::audit::insert(tx, &row).await?)
}

/// A page of the log, newest first.
#[model::use_case]
pub async fn list(cx: &Cx, filter: &AuditFilter, cursor: &Cursor) -> Result<Vec<AuditEntry>> {
    Ok(store::audit::list(&cx.db, filter, cursor).await?)
}
