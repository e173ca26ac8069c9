//! Reports of accounts to the staff: inserting, reading and resolving them.
//!
//! Reached from `service::report`, which decides what may be reported.

use database::sql::Ids;
use database::{Executor, Result, Tx, sql};
use model::report::ReportCategory;
use model::{AccountId, Json, RowId, RuleId, StatusId, Time};

#[derive(Clone, Debug, PartialEq, model::Row)]
#[row(table = "reports", alias = "r")]
pub struct Report {
    pub id: RowId,
    pub account_id: AccountId,
    pub target_account_id: AccountId,
    pub category: ReportCategory,
    pub comment: String,
    pub status_ids: Option<Json<Vec<StatusId>>>,
    pub rule_ids: Option<Json<Vec<RuleId>>>,
    pub forwarded: bool,
    pub forward_to_domains: Json<Vec<String>>,
    pub action_taken_at: Option<Time>,
    /// Who resolved it; `None` for an operator.
    pub action_taken_by_account_id: Option<AccountId>,
    /// The member of staff who takes care of it.
    pub assigned_account_id: Option<AccountId>,
    /// `None`: unchanged since `created_at`.
    pub updated_at: Option<Time>,
    pub created_at: Time,
}

pub async fn insert(tx: &mut Tx, report: &Report) -> Result<()> {
    tx.query(sql!(report_insert!())).bind_row(report).execute().await?;
    Ok(())
}

/// The reports that exist among `ids`, in no particular order.
pub async fn list(db: impl Executor, ids: &[RowId]) -> Result<Vec<Report>> {
    db.query(sql!("SELECT " report_columns!() " FROM reports r WHERE r.id" in("$1")))
        .bind(Ids::of(ids.iter().copied()))
        .all()
        .await
}

/// The newest `limit` unresolved reports.
pub async fn list_unresolved(db: impl Executor, limit: i64) -> Result<Vec<Report>> {
    db.query(sql!(
        "SELECT " report_columns!() " FROM reports r WHERE r.action_taken_at IS NULL AND r.id > 0 ORDER BY r.id DESC LIMIT $1"
    ))
    .bind(limit)
    .all()
    .await
}

/// The newest `limit` reports.
pub async fn list_all(db: impl Executor, limit: i64) -> Result<Vec<Report>> {
    db.query(sql!("SELECT " report_columns!() " FROM reports r WHERE r.id > 0 ORDER BY r.id DESC LIMIT $1"))
        .bind(limit)
        .all()
        .await
}

/// Records that `by` took action on a report, or reopened it (`resolved` false); false when nothing changes, or it is
/// missing.
pub async fn set_resolved(tx: &mut Tx, id: RowId, resolved: bool, by: Option<AccountId>, now: Time) -> Result<bool> {
    let changed = tx
        .query(sql!(
            "UPDATE reports SET action_taken_at = $2, action_taken_by_account_id = $3, updated_at = $4
             WHERE id = $1 AND (action_taken_at IS NULL) = (CAST($5 AS BOOLEAN))"
        ))
        .bind(id)
        .bind(resolved.then_some(now))
        .bind(by.filter(|_| resolved))
        .bind(now)
        .bind(resolved)
        .execute()
        .await?;
    Ok(changed > 0)
}

/// The unresolved reports about `account`, oldest first.
pub async fn list_unresolved_about(db: impl Executor, account: AccountId) -> Result<Vec<RowId>> {
    db.query(sql!(
        "SELECT r.id FROM reports r WHERE r.target_account_id = $1 AND r.action_taken_at IS NULL ORDER BY r.id"
    ))
    .bind(account)
    .scalars()
    .await
}

/// Deletes up to `limit` each of the reports by an account and about it; returns how many.
pub async fn delete_some(tx: &mut Tx, account: AccountId, limit: i64) -> Result<u64> {
    let mut count = 0;
    for part in [
        sql!("DELETE FROM reports WHERE id IN (SELECT r.id FROM reports r WHERE r.account_id = $1 LIMIT $2)"),
        sql!("DELETE FROM reports WHERE id IN (SELECT r.id FROM reports r WHERE r.target_account_id = $1 LIMIT $2)"),
    ] {
        count += tx.query(part).bind(account).bind(limit).execute().await?;
    }
    Ok(count)
}
