//! Reblogs: finding, listing and counting them. A reblog is a status itself ([`status`](crate::status)).
//!
//! Reached from `service::reblog` and from the deletion of statuses.

use database::{Conn, Result, Tx, sql};
use model::{AccountId, Status, StatusId, boxed, status_columns};

/// Subtracts the reblogs of `original`, which is about to be deleted, from their authors' counts: 1 each, since an
/// account has at most one reblog of a status (`statuses_reblog`).
#[boxed]
pub async fn subtract(tx: &mut Tx, original: StatusId) -> Result<()> {
    tx.query(sql!(
        "UPDATE accounts SET statuses_count = CASE WHEN statuses_count > 0 THEN statuses_count - 1 ELSE 0 END, version = version + 1
         WHERE id IN (SELECT r.account_id FROM statuses r WHERE r.reblog_of_id = $1)"
    ))
    .bind(original)
    .execute()
    .await?;
    Ok(())
}

/// The reblog of `original` by `account`.
#[boxed]
pub async fn find(db: Conn<'_>, account: AccountId, original: StatusId) -> Result<Option<StatusId>> {
    let row: Option<(StatusId,)> = db
        .query(sql!("SELECT s.id FROM statuses s WHERE s.account_id = $1 AND s.reblog_of_id = $2"))
        .bind(account)
        .bind(original)
        .optional()
        .await?;
    Ok(row.map(|(id,)| id))
}

/// The reblogs of `original`.
#[boxed]
pub async fn list(db: Conn<'_>, original: StatusId) -> Result<Vec<Status>> {
    db.query(sql!("SELECT " status_columns!() " FROM statuses s WHERE s.reblog_of_id = $1")).bind(original).all().await
}

/// The local accounts that reblogged `original`.
#[boxed]
pub async fn list_local_rebloggers(db: Conn<'_>, original: StatusId) -> Result<Vec<AccountId>> {
    db.query(sql!("SELECT s.account_id FROM statuses s WHERE s.reblog_of_id = $1 AND s.local"))
        .bind(original)
        .scalars()
        .await
}
