//! Suspending accounts and taking them away, a part at a time.

use super::account::{NewLocal, insert_local};
use super::{Executor, Result, Tx};
use crate::model::{AccountId, StatusId, Time};
use crate::sql;

/// Hides an account; false when it is hidden already.
///
/// # Errors
/// When the database does.
pub async fn suspend(tx: &mut Tx, id: AccountId, now: Time) -> Result<bool> {
    let hidden = tx
        .query(sql!(
            "UPDATE accounts SET suspended_at = $2, version = version + 1 WHERE id = $1 AND suspended_at IS NULL"
        ))
        .bind(id)
        .bind(now)
        .execute()
        .await?;
    Ok(hidden > 0)
}

/// Shows an account again; false when it is not hidden.
///
/// # Errors
/// When the database does.
pub async fn unsuspend(tx: &mut Tx, id: AccountId) -> Result<bool> {
    let shown = tx
        .query(sql!(
            "UPDATE accounts SET suspended_at = NULL, version = version + 1 WHERE id = $1 AND suspended_at IS NOT NULL"
        ))
        .bind(id)
        .execute()
        .await?;
    Ok(shown > 0)
}

/// Forgets the person of an account: their address, and how they sign in.
///
/// # Errors
/// When the database does.
pub async fn close(tx: &mut Tx, id: AccountId) -> Result<()> {
    tx.query(sql!("DELETE FROM users WHERE account_id = $1")).bind(id).execute().await?;
    Ok(())
}

/// The latest statuses and reblogs of an account.
///
/// # Errors
/// When the database does.
pub async fn list_statuses(db: impl Executor, id: AccountId, limit: i64) -> Result<Vec<StatusId>> {
    db.query(sql!("SELECT s.id FROM statuses s WHERE s.account_id = $1 ORDER BY s.id DESC LIMIT $2"))
        .bind(id)
        .bind(limit)
        .scalars()
        .await
}

/// Some of those whom an account follows or asked to, and who follow it or asked to.
///
/// # Errors
/// When the database does.
pub async fn list_tied(db: impl Executor, id: AccountId, limit: i64) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT DISTINCT t.other FROM (
             SELECT f.target_account_id AS other FROM follows f WHERE f.account_id = $1
             UNION ALL SELECT f.account_id FROM follows f WHERE f.target_account_id = $1
             UNION ALL SELECT r.target_account_id FROM follow_requests r WHERE r.account_id = $1
             UNION ALL SELECT r.account_id FROM follow_requests r WHERE r.target_account_id = $1
         ) AS t LIMIT $2"
    ))
    .bind(id)
    .bind(limit)
    .scalars()
    .await
}

/// Takes the oldest favourites of an account back, and from the counts of their statuses; says how many there were.
///
/// # Errors
/// When the database does.
pub async fn take_favourites(tx: &mut Tx, id: AccountId, limit: i64) -> Result<u64> {
    tx.query(sql!(
        "UPDATE statuses
         SET favourites_count = CASE WHEN favourites_count > 0 THEN favourites_count - 1 ELSE 0 END, version = version + 1
         WHERE id IN (SELECT f.status_id FROM favourites f WHERE f.account_id = $1 ORDER BY f.id LIMIT $2)"
    ))
    .bind(id)
    .bind(limit)
    .execute()
    .await?;
    tx.query(sql!(
        "DELETE FROM favourites
         WHERE id IN (SELECT f.id FROM favourites f WHERE f.account_id = $1 ORDER BY f.id LIMIT $2)"
    ))
    .bind(id)
    .bind(limit)
    .execute()
    .await
}

/// Deletes an account with everything that refers to it.
///
/// # Errors
/// When the database does.
pub async fn delete(tx: &mut Tx, id: AccountId) -> Result<()> {
    tx.query(sql!("DELETE FROM feed_entries WHERE kind = 0 AND owner_id = $1")).bind(id).execute().await?;
    tx.query(sql!("DELETE FROM accounts WHERE id = $1")).bind(id).execute().await?;
    Ok(())
}

/// Keeps the name of an account that was deleted: an empty one, suspended for good. `version` is one that it never had.
///
/// # Errors
/// When the database does.
pub async fn reserve(tx: &mut Tx, name: NewLocal, version: i64) -> Result<()> {
    let (id, now) = (name.id, name.now);
    insert_local(tx, name).await?;
    tx.query(sql!("UPDATE accounts SET suspended_at = $2, version = $3 WHERE id = $1"))
        .bind(id)
        .bind(now)
        .bind(version)
        .execute()
        .await?;
    Ok(())
}
