//! Tombstones: the URIs of deleted objects, so that they do not come back.

use database::{Conn, Result, Tx, sql};
use model::{AccountId, Time, boxed};

/// Remembers that `account` deleted the object `uri`.
#[boxed]
pub async fn insert(tx: &mut Tx, uri: &str, account: AccountId, now: Time) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO tombstones (uri, account_id, created_at) VALUES ($1, $2, $3) ON CONFLICT (uri) DO NOTHING"
    ))
    .bind(uri.to_owned())
    .bind(account)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// As [`insert`], for an object that was known to be of `account`: it counts more than what others said before.
#[boxed]
pub async fn replace(tx: &mut Tx, uri: &str, account: AccountId, now: Time) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO tombstones (uri, account_id, created_at) VALUES ($1, $2, $3)
         ON CONFLICT (uri) DO UPDATE SET account_id = excluded.account_id, created_at = excluded.created_at"
    ))
    .bind(uri.to_owned())
    .bind(account)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// True when `account` deleted the object `uri`: what others of its server say was deleted does not count.
#[boxed]
pub async fn exists(db: Conn<'_>, uri: &str, account: AccountId) -> Result<bool> {
    let row: Option<(AccountId,)> = db
        .query(sql!("SELECT account_id FROM tombstones WHERE uri = $1 AND account_id = $2"))
        .bind(uri.to_owned())
        .bind(account)
        .optional()
        .await?;
    Ok(row.is_some())
}

/// When the actor `uri` was deleted, by itself.
#[boxed]
pub async fn find_actor(db: Conn<'_>, uri: &str) -> Result<Option<Time>> {
    let row: Option<(Time,)> = db
        .query(sql!(
            "SELECT t.created_at FROM tombstones t
             WHERE t.uri = $1 AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.id = t.account_id AND a.uri <> t.uri)"
        ))
        .bind(uri.to_owned())
        .optional()
        .await?;
    Ok(row.map(|(at,)| at))
}

/// Forgets that the object `uri` was deleted.
#[boxed]
pub async fn delete(tx: &mut Tx, uri: &str) -> Result<()> {
    tx.query(sql!("DELETE FROM tombstones WHERE uri = $1")).bind(uri.to_owned()).execute().await?;
    Ok(())
}

/// Deletes up to `limit` tombstones from before `before`.
#[boxed]
pub async fn delete_old(tx: &mut Tx, before: Time, limit: i64) -> Result<u64> {
    tx.query(sql!(
        "DELETE FROM tombstones WHERE uri IN
         (SELECT t.uri FROM tombstones t WHERE t.created_at < $1 ORDER BY t.created_at LIMIT $2)"
    ))
    .bind(before)
    .bind(limit)
    .execute()
    .await
}
