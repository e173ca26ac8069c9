//! Notices that wait for the judgement of plugins: written with what happened, removed with what comes of it.

use serde::Serialize;

use crate::model::notification::Kind;
use crate::model::{AccountId, Json, StatusId};
use crate::sql;
use crate::store::sql::Ids;
use crate::store::{Executor, Result, Tx};

/// A notice that waits.
#[derive(Clone, Debug, Serialize, sqlx::FromRow)]
#[expect(missing_docs, reason = "columns of the table notices")]
pub struct Waiting {
    pub id: i64,
    #[sqlx(rename = "account_id")]
    pub receiver: AccountId,
    #[sqlx(rename = "from_account_id")]
    pub sender: AccountId,
    #[sqlx(rename = "type", try_from = "String")]
    pub kind: Kind,
    #[sqlx(rename = "activity_id")]
    pub activity: i64,
    #[sqlx(rename = "status_id")]
    pub status: Option<StatusId>,
    pub origin: Option<String>,
}

/// Lets notices wait, in one statement.
///
/// # Errors
/// When the database does.
pub async fn insert(tx: &mut Tx, waiting: Vec<Waiting>) -> Result<()> {
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

/// The `limit` that wait longest, in the order in which they came.
///
/// # Errors
/// When the database does.
pub async fn first(db: impl Executor, limit: i64) -> Result<Vec<Waiting>> {
    db.query(sql!(
        "SELECT id, account_id, from_account_id, type, activity_id, status_id, origin FROM notices ORDER BY id LIMIT $1"
    ))
    .bind(limit)
    .all()
    .await
}

/// Removes these; gives those that were still there, and so are the caller's to deal with.
///
/// # Errors
/// When the database does.
pub async fn take(tx: &mut Tx, ids: impl Iterator<Item = i64>) -> Result<Vec<i64>> {
    tx.query(sql!("DELETE FROM notices WHERE id" in("$1") "RETURNING id")).bind(Ids::of(ids)).scalars().await
}

/// Removes those about these activities, which were undone.
///
/// # Errors
/// When the database does.
pub async fn delete_activities(tx: &mut Tx, kind: &Kind, activities: &[i64]) -> Result<u64> {
    tx.query(sql!("DELETE FROM notices WHERE type = $1 AND activity_id" in("$2")))
        .bind(kind.as_str().to_owned())
        .bind(Ids::of(activities.iter().copied()))
        .execute()
        .await
}
