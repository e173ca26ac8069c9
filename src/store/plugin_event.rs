//! The outbox of plugins: what happened, one row for each plugin that is to hear of it.
//!
//! Rows are written in the transaction that makes them true and removed in that of what the plugin did about them.

use serde::Serialize;

use super::sql::Ids;
use super::{Executor, Result, Tx};
use crate::model::{Json, Time};
use crate::plugins::PluginId;
use crate::sql;

/// What one plugin is to hear.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "columns of the table plugin_events")]
pub struct NewEvent {
    pub plugin: PluginId,
    pub stream: &'static str,
    pub shard: i64,
    pub kind: &'static str,
    pub actor: Option<i64>,
    pub subject: Option<i64>,
    pub payload: Option<String>,
    /// The plugins behind it, as JSON.
    pub origin: Option<String>,
}

/// What one plugin has not heard yet.
#[derive(Clone, Debug, sqlx::FromRow)]
#[expect(missing_docs, reason = "columns of the table plugin_events")]
pub struct EventRow {
    pub seq: i64,
    pub kind: String,
    pub actor_id: Option<i64>,
    pub subject_id: Option<i64>,
    pub payload: Option<String>,
    pub origin: Option<String>,
    pub attempts: i64,
    pub run_at: Time,
    pub created_at: Time,
}

/// A queue of events: they are handled one batch after the other, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[expect(missing_docs, reason = "columns of the table plugin_events")]
pub struct Lane {
    pub plugin: PluginId,
    pub stream: &'static str,
    pub shard: i64,
}

/// Inserts events for plugins that there are, all in one statement, and wakes whoever delivers them once the transaction is committed.
///
/// # Errors
/// When the database does.
pub async fn insert(tx: &mut Tx, events: Vec<NewEvent>, now: Time) -> Result<()> {
    tx.wake_consumers();
    tx.query(sql!(
        "INSERT INTO plugin_events (plugin_id, stream, shard, kind, actor_id, subject_id, payload, origin, state,
                                    attempts, run_at, created_at)
         SELECT CAST(value ->> 'plugin' AS BIGINT), value ->> 'stream', CAST(value ->> 'shard' AS BIGINT), value ->> 'kind',
                CAST(value ->> 'actor' AS BIGINT), CAST(value ->> 'subject' AS BIGINT), value ->> 'payload',
                value ->> 'origin', 'ready', 0, $2, $2
         FROM" rows("$1") "WHERE EXISTS (SELECT 1 FROM plugins p WHERE p.id = CAST(value ->> 'plugin' AS BIGINT))"
    ))
    .bind(Json(events))
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// When the first event of each lane may be handled, for those of `lanes` that have one: by their place in `lanes`.
///
/// # Errors
/// When the database does.
pub async fn due(db: impl Executor, lanes: &[Lane]) -> Result<Vec<(i64, Time)>> {
    #[derive(Serialize)]
    struct Numbered<'a> {
        number: usize,
        #[serde(flatten)]
        lane: &'a Lane,
    }
    let lanes: Vec<Numbered<'_>> = lanes.iter().enumerate().map(|(number, lane)| Numbered { number, lane }).collect();
    let rows: Vec<(i64, Option<Time>)> = db
        .query(sql!(
            "SELECT CAST(value ->> 'number' AS BIGINT) AS number,
                    (SELECT e.run_at FROM plugin_events e
                     WHERE e.plugin_id = CAST(value ->> 'plugin' AS BIGINT) AND e.stream = value ->> 'stream'
                       AND e.shard = CAST(value ->> 'shard' AS BIGINT) AND e.state = 'ready'
                     ORDER BY e.seq LIMIT 1) AS run_at
             FROM" rows("$1")
        ))
        .bind(Json(serde_json::to_value(lanes).unwrap_or_default()))
        .all()
        .await?;
    Ok(rows.into_iter().filter_map(|(number, run_at)| Some((number, run_at?))).collect())
}

/// The first `limit` events of a lane.
///
/// # Errors
/// When the database does.
pub async fn head(db: impl Executor, lane: Lane, limit: i64) -> Result<Vec<EventRow>> {
    db.query(sql!(
        "SELECT e.seq, e.kind, e.actor_id, e.subject_id, e.payload, e.origin, e.attempts, e.run_at, e.created_at
         FROM plugin_events e
         WHERE e.plugin_id = $1 AND e.stream = $2 AND e.shard = $3 AND e.state = 'ready'
         ORDER BY e.seq LIMIT $4"
    ))
    .bind(lane.plugin)
    .bind(lane.stream)
    .bind(lane.shard)
    .bind(limit)
    .all()
    .await
}

/// Takes a lane for this transaction; false while another server has it. SQLite has one server.
///
/// # Errors
/// When the database does.
pub async fn lock(tx: &mut Tx, lane: Lane) -> Result<bool> {
    let key = format!("plugin {} {} {}", lane.plugin, lane.stream, lane.shard);
    tx.query(sql!(
        sqlite: "SELECT TRUE WHERE $1 <> ''";
        postgres: "SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))"
    ))
    .bind(key)
    .scalar()
    .await
}

/// Removes events; says how many there were.
///
/// # Errors
/// When the database does.
pub async fn delete(tx: &mut Tx, events: &[i64]) -> Result<u64> {
    tx.query(sql!("DELETE FROM plugin_events WHERE seq" in("$1"))).bind(Ids::of(events.iter().copied())).execute().await
}

/// Puts events off until `run_at`, on `shard`; `tried` says whether it counts as an attempt.
///
/// # Errors
/// When the database does.
pub async fn put_off(tx: &mut Tx, events: &[i64], shard: i64, tried: bool, run_at: Time, error: &str) -> Result<()> {
    tx.query(sql!(
        "UPDATE plugin_events SET shard = $2, attempts = attempts + $3, run_at = $4, last_error = $5 WHERE seq" in("$1")
    ))
    .bind(Ids::of(events.iter().copied()))
    .bind(shard)
    .bind(i64::from(tried))
    .bind(run_at)
    .bind(error.to_owned())
    .execute()
    .await?;
    Ok(())
}

/// Lays events aside for an admin.
///
/// # Errors
/// When the database does.
pub async fn park(tx: &mut Tx, events: &[i64], error: &str) -> Result<()> {
    tx.query(sql!(
        "UPDATE plugin_events SET state = 'parked', attempts = attempts + 1, last_error = $2 WHERE seq" in("$1")
    ))
    .bind(Ids::of(events.iter().copied()))
    .bind(error.to_owned())
    .execute()
    .await?;
    Ok(())
}

/// What was laid aside, for an admin to look at.
#[derive(Clone, Debug, sqlx::FromRow)]
#[expect(missing_docs, reason = "columns of the table plugin_events")]
pub struct Parked {
    pub seq: i64,
    pub stream: String,
    pub kind: String,
    pub subject_id: Option<i64>,
    pub attempts: i64,
    pub last_error: Option<String>,
    pub created_at: Time,
}

/// The oldest `limit` events of `plugin` that were laid aside.
///
/// # Errors
/// When the database does.
pub async fn parked(db: impl Executor, plugin: PluginId, limit: i64) -> Result<Vec<Parked>> {
    db.query(sql!(
        "SELECT e.seq, e.stream, e.kind, e.subject_id, e.attempts, e.last_error, e.created_at
         FROM plugin_events e
         WHERE e.plugin_id = $1 AND e.state = 'parked'
         ORDER BY e.seq LIMIT $2"
    ))
    .bind(plugin)
    .bind(limit)
    .all()
    .await
}

/// Has everything of `plugin` that was laid aside tried again; says how much that is.
///
/// # Errors
/// When the database does.
pub async fn retry_parked(tx: &mut Tx, plugin: PluginId, now: Time) -> Result<u64> {
    tx.wake_consumers();
    tx.query(sql!(
        "UPDATE plugin_events SET state = 'ready', attempts = 0, run_at = $2 WHERE plugin_id = $1 AND state = 'parked'"
    ))
    .bind(plugin)
    .bind(now)
    .execute()
    .await
}

/// The number of the last event that was recorded and not yet told; 0 when there is none.
///
/// # Errors
/// When the database does.
pub async fn last(db: impl Executor) -> Result<i64> {
    db.query(sql!("SELECT COALESCE(MAX(e.seq), 0) FROM plugin_events e")).scalar().await
}

/// True while an event up to the number `last` is kept, for whatever plugin: it may hear of it yet.
///
/// # Errors
/// When the database does.
pub async fn is_any_kept(db: impl Executor, last: i64) -> Result<bool> {
    db.query(sql!("SELECT EXISTS (SELECT 1 FROM plugin_events e WHERE e.seq <= $1)")).bind(last).scalar().await
}

/// Removes what has waited since before `time`, or was laid aside then, among the oldest 1,000: says how many those were.
///
/// # Errors
/// When the database does.
pub async fn delete_old(tx: &mut Tx, time: Time) -> Result<u64> {
    tx.query(sql!(
        "DELETE FROM plugin_events
         WHERE created_at < $1 AND seq IN (SELECT e.seq FROM plugin_events e ORDER BY e.seq LIMIT 1000)"
    ))
    .bind(time)
    .execute()
    .await
}

/// How many events of `plugin` wait, and how many were laid aside.
///
/// # Errors
/// When the database does.
pub async fn count(db: impl Executor, plugin: PluginId) -> Result<(i64, i64)> {
    db.query(sql!(
        "SELECT (SELECT COUNT(*) FROM plugin_events e WHERE e.plugin_id = $1 AND e.state = 'ready') AS waiting,
                (SELECT COUNT(*) FROM plugin_events e WHERE e.plugin_id = $1 AND e.state = 'parked') AS parked"
    ))
    .bind(plugin)
    .one()
    .await
}
