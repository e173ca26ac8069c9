//! Relationships that an account lost in one event, for the notification about it. They have the same retention
//! period as notifications.
//!
//! Reached from `service::domain_block`, which counts them, and from `entity::severance`.

use database::sql::Ids;
use database::{Executor, Result, Tx, sql};
use model::severance::SeveranceKind;
use model::{AccountId, NotificationId, RowId, Time};

/// The relationships that an account lost.
#[derive(Clone, Debug, PartialEq, model::Row)]
#[row(table = "account_severances", alias = "e")]
pub struct Severance {
    pub id: RowId,
    pub account_id: AccountId,
    #[row(rename = "type")]
    pub kind: SeveranceKind,
    pub target_name: String,
    pub purged: bool,
    pub followers_count: i64,
    pub following_count: i64,
    pub created_at: Time,
}

pub async fn insert(tx: &mut Tx, severance: &Severance) -> Result<()> {
    tx.query(sql!(severance_insert!())).bind_row(severance).execute().await?;
    Ok(())
}

/// The severances that exist among `ids`, in no particular order.
pub async fn list(db: impl Executor, ids: &[i64]) -> Result<Vec<Severance>> {
    db.query(sql!("SELECT " severance_columns!() " FROM account_severances e WHERE e.id" in("$1")))
        .bind(Ids::of(ids.iter().copied()))
        .all()
        .await
}

/// Deletes up to `limit` severances that were created before the notification id `before`; returns how many.
pub async fn delete_old(tx: &mut Tx, before: NotificationId, limit: i64) -> Result<u64> {
    tx.query(sql!(
        "DELETE FROM account_severances
         WHERE id IN (SELECT e.id FROM account_severances e WHERE e.id < $1 ORDER BY e.id LIMIT $2)"
    ))
    .bind(before)
    .bind(limit)
    .execute()
    .await
}

/// Deletes up to `limit` severances of `account`; returns how many.
pub async fn delete_some(tx: &mut Tx, account: AccountId, limit: i64) -> Result<u64> {
    tx.query(sql!(
        "DELETE FROM account_severances
         WHERE id IN (SELECT e.id FROM account_severances e WHERE e.account_id = $1 LIMIT $2)"
    ))
    .bind(account)
    .bind(limit)
    .execute()
    .await
}
