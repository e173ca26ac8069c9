//! Notices: candidates for notifications that plugins must judge before they are created.
//!
//! A notice is inserted in the transaction of its cause, and deleted in the transaction that creates the notification
//! or drops it; in between a job calls the plugins, with no transaction open. Reached from `service::notification`.

use serde::Serialize;

use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::notification::NotificationKind;
use model::{AccountId, Json, StatusId, boxed};

#[derive(Clone, Debug, Serialize, model::Row)]
pub struct NoticeRow {
    pub id: i64,
    #[row(rename = "account_id")]
    pub receiver: AccountId,
    #[row(rename = "from_account_id")]
    pub sender: AccountId,
    #[row(rename = "type", from = "String")]
    pub kind: NotificationKind,
    #[row(rename = "activity_id")]
    pub activity: i64,
    #[row(rename = "status_id")]
    pub status: Option<StatusId>,
    pub origin: Option<String>,
}

/// Inserts notices, in one statement.
#[boxed]
pub async fn insert(tx: &mut Tx, waiting: Vec<NoticeRow>) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO notices (id, account_id, from_account_id, type, activity_id, status_id, origin)
         SELECT CAST(value ->> 'id' AS BIGINT), CAST(value ->> 'receiver' AS BIGINT), CAST(value ->> 'sender' AS BIGINT),
                value ->> 'kind', CAST(value ->> 'activity' AS BIGINT), CAST(value ->> 'status' AS BIGINT),
                value ->> 'origin'
         FROM" rows("$1")
    ))
    .bind(Json(waiting))
    .execute()
    .await?;
    Ok(())
}

/// The oldest `limit` notices, oldest first.
#[boxed]
pub async fn first(db: Conn<'_>, limit: i64) -> Result<Vec<NoticeRow>> {
    db.query(sql!(
        "SELECT id, account_id, from_account_id, type, activity_id, status_id, origin FROM notices ORDER BY id LIMIT $1"
    ))
    .bind(limit)
    .all()
    .await
}

/// Deletes these notices; returns the ids of the ones that still existed, which only this caller handles.
#[boxed]
pub async fn take(tx: &mut Tx, ids: &[i64]) -> Result<Vec<i64>> {
    tx.query(sql!("DELETE FROM notices WHERE id" in("$1") "RETURNING id"))
        .bind(Ids::of(ids.iter().copied()))
        .scalars()
        .await
}

/// Deletes the notices of this type about `activities`, which were undone; returns how many.
#[boxed]
pub async fn delete_activities(tx: &mut Tx, kind: &NotificationKind, activities: &[i64]) -> Result<u64> {
    tx.query(sql!("DELETE FROM notices WHERE type = $1 AND activity_id" in("$2")))
        .bind(kind.as_str().to_owned())
        .bind(Ids::of(activities.iter().copied()))
        .execute()
        .await
}
