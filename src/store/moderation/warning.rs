//! Strikes: warnings of accounts and actions taken on them, with appeals and the preset texts of warnings.
//!
//! Reached from `service::moderation`.

use database::sql::Ids;
use database::{Conn, Result, Tx, paged, sql};
use model::moderation::{AppealState, WarningAction};
use model::{AccountId, Cursor, Json, RowId, StatusId, Time, boxed};

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

impl Appeal {
    /// What was decided.
    #[must_use]
    pub fn state(&self) -> AppealState {
        match (self.approved_at, self.rejected_at) {
            (Some(_), _) => AppealState::Approved,
            (None, Some(_)) => AppealState::Rejected,
            (None, None) => AppealState::Pending,
        }
    }
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

#[boxed]
pub async fn insert(tx: &mut Tx, warning: &Warning) -> Result<()> {
    tx.query(sql!(warning_insert!())).bind_row(warning).execute().await?;
    Ok(())
}

/// The strikes that exist among `ids`, in no particular order.
#[boxed]
pub async fn list(db: Conn<'_>, ids: &[RowId]) -> Result<Vec<Warning>> {
    db.query(sql!("SELECT " warning_columns!() " FROM account_warnings w WHERE w.id" in("$1")))
        .bind(Ids::of(ids.iter().copied()))
        .all()
        .await
}

/// The newest `limit` strikes of an account.
#[boxed]
pub async fn list_of(db: Conn<'_>, account: AccountId, limit: i64) -> Result<Vec<Warning>> {
    db.query(sql!(
        "SELECT " warning_columns!() " FROM account_warnings w
         WHERE w.target_account_id = $1 ORDER BY w.id DESC LIMIT $2"
    ))
    .bind(account)
    .bind(limit)
    .all()
    .await
}

/// A page of the strikes of an account, newest first.
#[boxed]
pub async fn list_page(db: Conn<'_>, account: AccountId, cursor: &Cursor) -> Result<Vec<Warning>> {
    let sql = paged!(
        cursor,
        "SELECT " warning_columns!() " FROM account_warnings w
         WHERE w.target_account_id = $3 AND w.id < $1 AND w.id > $2",
        by "w.id", limit "$4"
    );
    let query = db.query(sql).bind(cursor.before()).bind(cursor.after()).bind(account).bind(cursor.limit);
    Ok(cursor.newest_first(query.all().await?))
}

/// True when the account has a later strike than `id` with this action, which no appeal overruled.
#[boxed]
pub async fn has_later(db: Conn<'_>, account: AccountId, id: RowId, action: WarningAction) -> Result<bool> {
    let found: Vec<RowId> = db
        .query(sql!(
            "SELECT w.id FROM account_warnings w
             WHERE w.target_account_id = $1 AND w.id > $2 AND w.action = $3 AND w.overruled_at IS NULL LIMIT 1"
        ))
        .bind(account)
        .bind(id)
        .bind(action)
        .scalars()
        .await?;
    Ok(!found.is_empty())
}

/// Records that an appeal against a strike was approved.
#[boxed]
pub async fn set_overruled(tx: &mut Tx, id: RowId, at: Time) -> Result<()> {
    tx.query(sql!("UPDATE account_warnings SET overruled_at = $2 WHERE id = $1")).bind(id).bind(at).execute().await?;
    Ok(())
}

/// Inserts an appeal.
///
/// # Errors
/// A violation of `appeals_warning` when the strike has one.
#[boxed]
pub async fn insert_appeal(tx: &mut Tx, appeal: &Appeal) -> Result<()> {
    tx.query(sql!(appeal_insert!())).bind_row(appeal).execute().await?;
    Ok(())
}

#[boxed]
pub async fn find_appeal(db: Conn<'_>, id: RowId) -> Result<Option<Appeal>> {
    db.query(sql!("SELECT " appeal_columns!() " FROM appeals p WHERE p.id = $1")).bind(id).optional().await
}

/// A page of the appeals in this state, newest first.
#[boxed]
pub async fn list_appeals_page(db: Conn<'_>, state: AppealState, cursor: &Cursor) -> Result<Vec<Appeal>> {
    macro_rules! matching {
        ($condition:literal) => {
            paged!(
                cursor,
                "SELECT " appeal_columns!() " FROM appeals p WHERE p.id < $1 AND p.id > $2 AND " $condition,
                by "p.id", limit "$3"
            )
        };
    }
    let sql = match state {
        AppealState::Pending => matching!("p.approved_at IS NULL AND p.rejected_at IS NULL"),
        AppealState::Approved => matching!("p.approved_at IS NOT NULL"),
        AppealState::Rejected => matching!("p.rejected_at IS NOT NULL"),
    };
    let query = db.query(sql).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.all().await?))
}

/// Decides a pending appeal; false when it is decided already, or missing.
#[boxed]
pub async fn decide_appeal(tx: &mut Tx, id: RowId, approve: bool, by: Option<AccountId>, at: Time) -> Result<bool> {
    let changed = tx
        .query(sql!(
            "UPDATE appeals SET approved_at = $2, rejected_at = $3, decided_by_account_id = $4
             WHERE id = $1 AND approved_at IS NULL AND rejected_at IS NULL"
        ))
        .bind(id)
        .bind(approve.then_some(at))
        .bind((!approve).then_some(at))
        .bind(by)
        .execute()
        .await?;
    Ok(changed > 0)
}

/// A page of the presets, newest first.
#[boxed]
pub async fn list_presets(db: Conn<'_>, cursor: &Cursor) -> Result<Vec<WarningPreset>> {
    let sql = paged!(
        cursor,
        "SELECT " warning_preset_columns!() " FROM warning_presets t WHERE t.id < $1 AND t.id > $2",
        by "t.id", limit "$3"
    );
    let query = db.query(sql).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.all().await?))
}

#[boxed]
pub async fn insert_preset(tx: &mut Tx, preset: &WarningPreset) -> Result<()> {
    tx.query(sql!(warning_preset_insert!())).bind_row(preset).execute().await?;
    Ok(())
}

/// Deletes a preset; false when it is missing.
#[boxed]
pub async fn delete_preset(tx: &mut Tx, id: RowId) -> Result<bool> {
    Ok(tx.query(sql!("DELETE FROM warning_presets WHERE id = $1")).bind(id).execute().await? > 0)
}

/// The appeals of the strikes `warnings`, in no particular order.
#[boxed]
pub async fn list_appeals(db: Conn<'_>, warnings: &[RowId]) -> Result<Vec<Appeal>> {
    db.query(sql!("SELECT " appeal_columns!() " FROM appeals p WHERE p.warning_id" in("$1")))
        .bind(Ids::of(warnings.iter().copied()))
        .all()
        .await
}

/// The preset `id`.
#[boxed]
pub async fn find_preset(db: Conn<'_>, id: RowId) -> Result<Option<WarningPreset>> {
    db.query(sql!("SELECT " warning_preset_columns!() " FROM warning_presets t WHERE t.id = $1"))
        .bind(id)
        .optional()
        .await
}
