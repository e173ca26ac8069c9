//! Idempotency keys: the result of a request with a key, so that a repeated request creates nothing twice.
//!
//! Reached from `service::status` and `service::scheduled_status`. Expired keys are removed by
//! [`cleaning`](crate::cleaning).

use database::{Conn, Result, Tx, sql};
use model::{AccountId, ScheduledStatusId, StatusId, Time, boxed};

/// The result of a request with an idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreatedStatus {
    Status(StatusId),
    /// A status scheduled for later publication.
    Scheduled(ScheduledStatusId),
}

impl CreatedStatus {
    /// The id: statuses and scheduled statuses never share an id.
    fn id(self) -> i64 {
        match self {
            Self::Status(id) => id.into(),
            Self::Scheduled(id) => id.into(),
        }
    }
}

/// The result that `account` created with this idempotency key after `since`, if it still exists.
#[boxed]
pub async fn find(db: Conn<'_>, account: AccountId, key: &str, since: Time) -> Result<Option<CreatedStatus>> {
    let row: Option<(i64, bool)> = db
        .query(sql!(
            "SELECT k.status_id, s.id IS NULL
             FROM idempotency_keys k
             LEFT JOIN statuses s ON s.id = k.status_id
             LEFT JOIN scheduled_statuses d ON d.id = k.status_id
             WHERE k.account_id = $1 AND k.key = $2 AND k.created_at > $3 AND (s.id IS NOT NULL OR d.id IS NOT NULL)"
        ))
        .bind(account)
        .bind(key.to_owned())
        .bind(since)
        .optional()
        .await?;
    Ok(row.map(
        |(id, scheduled)| {
            if scheduled { CreatedStatus::Scheduled(id.into()) } else { CreatedStatus::Status(id.into()) }
        },
    ))
}

/// Stores the idempotency key of a row that this transaction is about to insert; false when another request with the
/// same key stored it first; waits for such a request while it is running. Replaces a key that was stored by `since`,
/// and a key whose status was deleted.
#[boxed]
pub async fn insert(
    tx: &mut Tx,
    account: AccountId,
    key: &str,
    made: CreatedStatus,
    now: Time,
    since: Time,
) -> Result<bool> {
    let inserted = tx
        .query(sql!(
            "INSERT INTO idempotency_keys (account_id, key, status_id, created_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (account_id, key) DO NOTHING"
        ))
        .bind(account)
        .bind(key.to_owned())
        .bind(made.id())
        .bind(now)
        .execute()
        .await?;
    Ok(inserted > 0 || replace(tx, account, key, made, now, since).await?)
}

/// Replaces an existing key. The row is locked in a separate statement, so that the next one sees the status of the
/// request that held it. In one statement PostgreSQL would wait for the lock and then use its old snapshot (READ
/// COMMITTED).
async fn replace(
    tx: &mut Tx,
    account: AccountId,
    key: &str,
    made: CreatedStatus,
    now: Time,
    since: Time,
) -> Result<bool> {
    let _: Option<(StatusId,)> = tx
        .query(sql!(
            sqlite: "SELECT status_id FROM idempotency_keys WHERE account_id = $1 AND key = $2";
            postgres: "SELECT status_id FROM idempotency_keys WHERE account_id = $1 AND key = $2 FOR UPDATE"
        ))
        .bind(account)
        .bind(key.to_owned())
        .optional()
        .await?;
    let replaced = tx
        .query(sql!(
            "UPDATE idempotency_keys SET status_id = $3, created_at = $4
             WHERE account_id = $1 AND key = $2
               AND (created_at <= $5
                    OR (NOT EXISTS (SELECT 1 FROM statuses s WHERE s.id = idempotency_keys.status_id)
                        AND NOT EXISTS (SELECT 1 FROM scheduled_statuses d WHERE d.id = idempotency_keys.status_id)))"
        ))
        .bind(account)
        .bind(key.to_owned())
        .bind(made.id())
        .bind(now)
        .bind(since)
        .execute()
        .await?;
    Ok(replaced > 0)
}

/// Changes the idempotency key of `before`, if there is one, to refer to its successor `after`.
#[boxed]
pub async fn reassign(tx: &mut Tx, account: AccountId, before: CreatedStatus, after: CreatedStatus) -> Result<()> {
    tx.query(sql!("UPDATE idempotency_keys SET status_id = $3 WHERE account_id = $1 AND status_id = $2"))
        .bind(account)
        .bind(before.id())
        .bind(after.id())
        .execute()
        .await?;
    Ok(())
}
