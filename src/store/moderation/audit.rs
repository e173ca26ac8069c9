//! The audit log: the changes that members of staff made.
//!
//! Reached from `service::audit`. Entries are never changed, and have no foreign keys: they outlive the accounts and
//! records that they speak of.

use database::{Conn, Result, Tx, sql};
use model::{AccountId, Cursor, Json, RowId, Time, boxed};

/// An entry of the audit log.
#[derive(Clone, Debug, PartialEq, model::Row)]
#[row(table = "audit_log", alias = "g")]
pub struct AuditEntry {
    pub id: RowId,
    /// `None`: an operator at the command line.
    pub account_id: Option<AccountId>,
    /// The user name of the account at that time.
    pub actor_name: String,
    /// The kind of the target and what was done to it: `account.suspend`.
    pub action: String,
    pub target_kind: String,
    pub target_id: RowId,
    pub target_name: String,
    /// The parameters of the change: an object.
    pub details: Json<serde_json::Value>,
    pub created_at: Time,
}

/// The entries that a page has.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// By this member of staff.
    pub account: Option<AccountId>,
    /// With this action, or whose target is of this kind.
    pub action: Option<String>,
    /// About the target of this kind and id.
    pub target: Option<(String, i64)>,
}

#[boxed]
pub async fn insert(tx: &mut Tx, entry: &AuditEntry) -> Result<()> {
    tx.query(sql!(audit_entry_insert!())).bind_row(entry).execute().await?;
    Ok(())
}

/// A page of entries, newest first.
#[boxed]
pub async fn list(db: Conn<'_>, filter: &AuditFilter, cursor: &Cursor) -> Result<Vec<AuditEntry>> {
    // No account and no target has the id 0.
    let (kind, target) = filter.target.clone().unwrap_or_default();
    let account = filter.account.map_or(0, i64::from);
    macro_rules! matching {
        ($($conditions:literal),+) => {
            database::paged!(
                cursor,
                "SELECT " audit_entry_columns!() " FROM audit_log g
                 WHERE ($4 = '' OR g.action = $4 OR g.target_kind = $4) AND g.id < $1 AND g.id > $2 AND " $($conditions)+,
                by "g.id", limit "$7"
            )
        };
    }
    let sql = match (account, target) {
        (0, 0) => matching!("$3 = 0 AND $5 = '' AND $6 = 0"),
        (_, 0) => matching!("g.account_id = $3 AND $5 = '' AND $6 = 0"),
        (..) => matching!("($3 = 0 OR g.account_id = $3) AND g.target_kind = $5 AND g.target_id = $6"),
    };
    let query = db.query(sql).bind(cursor.before()).bind(cursor.after()).bind(account);
    let action = filter.action.clone().unwrap_or_default();
    let rows = query.bind(action).bind(kind).bind(target).bind(cursor.limit).all().await?;
    Ok(cursor.newest_first(rows))
}
