//! Strikes: warnings of accounts and actions taken on them, with appeals and the preset texts of warnings.
//!
//! Reached from `service::moderation`.

use database::sql::Ids;
use database::{Executor, Result, Tx, sql};
use model::moderation::WarningAction;
use model::{AccountId, Json, RowId, StatusId, Time};

/// A strike.
#[derive(Clone, Debug, PartialEq, model::Row)]
#[row(table = "account_warnings", alias = "w")]
pub struct Warning {
    pub id: RowId,
    pub target_account_id: AccountId,
    /// The moderator; `None` for an operator, or when the account no longer exists.
    pub account_id: Option<AccountId>,
    pub report_id: Option<RowId>,
    pub action: WarningAction,
    pub text: String,
    /// The reported statuses; `None` without a report.
    pub status_ids: Option<Json<Vec<StatusId>>>,
    /// When an appeal was approved.
    pub overruled_at: Option<Time>,
    pub created_at: Time,
}

/// The objection of an account to a strike.
#[derive(Clone, Debug, PartialEq, model::Row)]
#[row(table = "appeals", alias = "p")]
pub struct Appeal {
    pub id: RowId,
    pub warning_id: RowId,
    pub account_id: AccountId,
    /// Who approved or rejected it.
    pub decided_by_account_id: Option<AccountId>,
    pub text: String,
    pub approved_at: Option<Time>,
    pub rejected_at: Option<Time>,
    pub created_at: Time,
}

/// A text that moderators choose from when they warn.
#[derive(Clone, Debug, PartialEq, model::Row)]
#[row(table = "warning_presets", alias = "t")]
pub struct WarningPreset {
    pub id: RowId,
    pub title: String,
    pub text: String,
    pub created_at: Time,
}

pub async fn insert(tx: &mut Tx, warning: &Warning) -> Result<()> {
    tx.query(sql!(warning_insert!())).bind_row(warning).execute().await?;
    Ok(())
}

/// The strikes that exist among `ids`, in no particular order.
pub async fn list(db: impl Executor, ids: &[RowId]) -> Result<Vec<Warning>> {
    db.query(sql!("SELECT " warning_columns!() " FROM account_warnings w WHERE w.id" in("$1")))
        .bind(Ids::of(ids.iter().copied()))
        .all()
        .await
}

/// The newest `limit` strikes of an account.
pub async fn list_of(db: impl Executor, account: AccountId, limit: i64) -> Result<Vec<Warning>> {
    db.query(sql!(
        "SELECT " warning_columns!() " FROM account_warnings w
         WHERE w.target_account_id = $1 ORDER BY w.id DESC LIMIT $2"
    ))
    .bind(account)
    .bind(limit)
    .all()
    .await
}

/// The appeals of the strikes `warnings`, in no particular order.
pub async fn list_appeals(db: impl Executor, warnings: &[RowId]) -> Result<Vec<Appeal>> {
    db.query(sql!("SELECT " appeal_columns!() " FROM appeals p WHERE p.warning_id" in("$1")))
        .bind(Ids::of(warnings.iter().copied()))
        .all()
        .await
}

/// The preset `id`.
pub async fn find_preset(db: impl Executor, id: RowId) -> Result<Option<WarningPreset>> {
    db.query(sql!("SELECT " warning_preset_columns!() " FROM warning_presets t WHERE t.id = $1"))
        .bind(id)
        .optional()
        .await
}
