//! Statuses scheduled for later publication.
//!
//! Reached from `service::scheduled_status`, which interprets their parameters. Their attachments are rows of
//! [`media`](crate::media).

use database::{Conn, Result, Tx, sql};
use model::{
    AccountId, Cursor, ScheduledStatus, ScheduledStatusId, Time, boxed, scheduled_status_columns,
    scheduled_status_insert,
};

/// Inserts a scheduled status.
#[boxed]
pub async fn insert(tx: &mut Tx, new: &ScheduledStatus) -> Result<()> {
    tx.query(sql!(scheduled_status_insert!())).bind_row(new).execute().await?;
    Ok(())
}

/// The scheduled status of any account.
#[boxed]
pub async fn find(db: Conn<'_>, id: ScheduledStatusId) -> Result<Option<ScheduledStatus>> {
    db.query(sql!("SELECT " scheduled_status_columns!() " FROM scheduled_statuses d WHERE d.id = $1"))
        .bind(id)
        .optional()
        .await
}

/// A page of the scheduled statuses of `account`, newest first.
#[boxed]
pub async fn list(db: Conn<'_>, account: AccountId, cursor: &Cursor) -> Result<Vec<ScheduledStatus>> {
    let sql = database::paged!(
        cursor,
        "SELECT " scheduled_status_columns!() " FROM scheduled_statuses d
         WHERE d.account_id = $1 AND d.id < $2 AND d.id > $3",
        by "d.id", limit "$4"
    );
    let query = db.query(sql).bind(account).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.all().await?))
}

/// The number of scheduled statuses of `account` from `begin` up to `end`, and in total, without `except`.
#[boxed]
pub async fn count(
    db: Conn<'_>,
    account: AccountId,
    (begin, end): (Time, Time),
    except: Option<ScheduledStatusId>,
) -> Result<(i64, i64)> {
    db.query(sql!(
        "SELECT COUNT(*) FILTER (WHERE d.scheduled_at >= $2 AND d.scheduled_at < $3), COUNT(*)
         FROM scheduled_statuses d
         WHERE d.account_id = $1 AND d.id <> $4"
    ))
    .bind(account)
    .bind(begin)
    .bind(end)
    // No row has the id 0.
    .bind(except.map_or(0, i64::from))
    .one()
    .await
}

/// Changes the time of a scheduled status and clears its failure; false when there is none.
#[boxed]
pub async fn reschedule(tx: &mut Tx, id: ScheduledStatusId, at: Time) -> Result<bool> {
    let moved = tx
        .query(sql!("UPDATE scheduled_statuses SET scheduled_at = $2, failure = NULL WHERE id = $1"))
        .bind(id)
        .bind(at)
        .execute()
        .await?;
    Ok(moved > 0)
}

/// Stores why a status was not published at the time `at`; false when its time has changed, or it is gone.
#[boxed]
pub async fn set_failure(tx: &mut Tx, id: ScheduledStatusId, at: Time, failure: &str) -> Result<bool> {
    let stored = tx
        .query(sql!("UPDATE scheduled_statuses SET failure = $3 WHERE id = $1 AND scheduled_at = $2"))
        .bind(id)
        .bind(at)
        .bind(failure.to_owned())
        .execute()
        .await?;
    Ok(stored > 0)
}

/// Deletes a scheduled status of `account`, which detaches its attachments; false when there is none.
#[boxed]
pub async fn delete(tx: &mut Tx, account: AccountId, id: ScheduledStatusId) -> Result<bool> {
    let deleted = tx
        .query(sql!("DELETE FROM scheduled_statuses WHERE id = $1 AND account_id = $2"))
        .bind(id)
        .bind(account)
        .execute()
        .await?;
    Ok(deleted > 0)
}

/// As [`delete`], for any account, if it is due by `now`.
#[boxed]
pub async fn delete_due(tx: &mut Tx, id: ScheduledStatusId, now: Time) -> Result<bool> {
    let deleted = tx
        .query(sql!("DELETE FROM scheduled_statuses WHERE id = $1 AND scheduled_at <= $2"))
        .bind(id)
        .bind(now)
        .execute()
        .await?;
    Ok(deleted > 0)
}
