//! Markers: the position up to which an account has read a timeline.
//!
//! Optimistic locking by `version`: a conflict is returned as false, and the caller responds with 409. Spec:
//! docs/contract/rules.md#21-markers.

use database::{Conn, Result, Tx, sql};
use model::marker::{MarkedTimeline, Marker};
use model::{AccountId, Time, boxed};

/// The markers that `account` has set.
#[boxed]
pub async fn list(db: Conn<'_>, account: AccountId) -> Result<Vec<Marker>> {
    db.query(sql!("SELECT timeline, last_read_id, version, updated_at FROM markers WHERE account_id = $1"))
        .bind(account)
        .all()
        .await
}

/// Inserts the first marker of a timeline, with version 1; false when it exists already.
#[boxed]
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

/// Moves a marker that still has `version`, and increments the version; false when it was moved meanwhile (optimistic
/// lock).
#[boxed]
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
