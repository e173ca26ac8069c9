//! Markers: how far someone has read.

use super::{Executor, Result, Tx};
use crate::model::marker::{MarkedTimeline, Marker};
use crate::model::{AccountId, Time};
use crate::sql;

/// The markers that `account` has set.
///
/// # Errors
/// When the database does.
pub async fn list(db: impl Executor, account: AccountId) -> Result<Vec<Marker>> {
    db.query(sql!("SELECT timeline, last_read_id, version, updated_at FROM markers WHERE account_id = $1"))
        .bind(account)
        .all()
        .await
}

/// Sets the first marker of a timeline; false when there is one meanwhile.
///
/// # Errors
/// When the database does.
pub async fn insert(
    tx: &mut Tx,
    account: AccountId,
    timeline: MarkedTimeline,
    last_read_id: i64,
    now: Time,
) -> Result<bool> {
    let done = tx
        .query(sql!(
            "INSERT INTO markers (account_id, timeline, last_read_id, version, updated_at) VALUES ($1, $2, $3, 1, $4)
             ON CONFLICT (account_id, timeline) DO NOTHING"
        ))
        .bind(account)
        .bind(timeline)
        .bind(last_read_id)
        .bind(now)
        .execute()
        .await?;
    Ok(done > 0)
}

/// Moves a marker that still has `version`; false when someone else moved it first.
///
/// # Errors
/// When the database does.
pub async fn update(
    tx: &mut Tx,
    account: AccountId,
    timeline: MarkedTimeline,
    version: i64,
    last_read_id: i64,
    now: Time,
) -> Result<bool> {
    let done = tx
        .query(sql!(
            "UPDATE markers SET last_read_id = $4, version = version + 1, updated_at = $5
             WHERE account_id = $1 AND timeline = $2 AND version = $3"
        ))
        .bind(account)
        .bind(timeline)
        .bind(version)
        .bind(last_read_id)
        .bind(now)
        .execute()
        .await?;
    Ok(done > 0)
}
