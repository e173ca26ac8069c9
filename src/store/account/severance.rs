//! Relationships that an account lost in one event, for the notification about it. They have the same retention
//! period as notifications.
//!
//! Reached from `service::domain_block` and `service::domain_policy`, which count them, and from `entity::severance`.

use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::severance::SeveranceKind;
use model::{AccountId, NotificationId, RowId, Time, boxed};

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

#[boxed]
pub async fn insert(tx: &mut Tx, severance: &Severance) -> Result<()> {
    tx.query(sql!(severance_insert!())).bind_row(severance).execute().await?;
    Ok(())
}

/// Adds to the counts of the severance of the same account, kind, target and time; false when there is none.
#[boxed]
pub async fn add(tx: &mut Tx, severance: &Severance) -> Result<bool> {
    let updated = tx
        .query(sql!(
            "UPDATE account_severances
             SET followers_count = followers_count + $5, following_count = following_count + $6
             WHERE account_id = $1 AND type = $2 AND target_name = $3 AND created_at = $4"
        ))
        .bind(severance.account_id)
        .bind(severance.kind)
        .bind(severance.target_name.clone())
        .bind(severance.created_at)
        .bind(severance.followers_count)
        .bind(severance.following_count)
        .execute()
        .await?;
    Ok(updated > 0)
}

/// The severances that exist among `ids`, in no particular order.
#[boxed]
pub async fn list(db: Conn<'_>, ids: &[i64]) -> Result<Vec<Severance>> {
    db.query(sql!("SELECT " severance_columns!() " FROM account_severances e WHERE e.id" in("$1")))
        .bind(Ids::of(ids.iter().copied()))
        .all()
        .await
}

/// Deletes up to `limit` severances that were created before the notification id `before`; returns how many.
#[boxed]
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
#[boxed]
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
