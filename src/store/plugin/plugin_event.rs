//! The transactional outbox of plugins: one row for each event and each plugin that receives it.
//!
//! Reached from `plugins::hooks`. A row is inserted in the transaction of the change that it reports, and deleted in
//! the transaction of the plugin's reaction, so that the plugin's own writes happen exactly once. Events of an
//! [`EventLane`] are delivered in order. A failed event is rescheduled with a back-off, which the caller computes,
//! and after its last attempt it becomes a dead letter (parked) until an admin retries it.

use serde::Serialize;

use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::{Json, PluginId, Time, boxed};

/// A new event for one plugin.
#[derive(Debug, Serialize)]
pub struct NewEvent {
    pub plugin: PluginId,
    pub stream: &'static str,
    pub shard: i64,
    pub kind: &'static str,
    pub actor: Option<i64>,
    pub subject: Option<i64>,
    pub payload: Option<String>,
    /// The plugins whose calls caused the event, as a JSON list.
    pub origin: Option<String>,
}

/// An undelivered event.
#[derive(Clone, Debug, model::Row)]
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

/// A queue of events of a plugin: its batches are delivered one at a time, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct EventLane {
    pub plugin: PluginId,
    pub stream: &'static str,
    pub shard: i64,
}

/// Inserts events in one statement, and wakes their delivery in this process when the transaction commits.
///
/// The `EXISTS` skips events for plugins that do not exist: otherwise the foreign key would fail the whole change
/// after a plugin was purged concurrently.
#[boxed]
pub async fn insert(tx: &mut Tx, events: Vec<NewEvent>, now: Time) -> Result<()> {
    tx.wake_event_delivery();
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

/// For each of `lanes` that has a ready event: its index in `lanes`, and when the first of its events is due. One
/// look-up in the index `plugin_events_ready` for each lane.
#[boxed]
pub async fn list_due(db: Conn<'_>, lanes: &[EventLane]) -> Result<Vec<(i64, Time)>> {
    #[derive(Serialize)]
    struct Numbered<'a> {
        number: usize,
        #[serde(flatten)]
        lane: &'a EventLane,
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

/// The first `limit` ready events of a lane, in order, due or not.
#[boxed]
pub async fn list_next(db: Conn<'_>, lane: EventLane, limit: i64) -> Result<Vec<EventRow>> {
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

/// Takes the advisory lock of a lane for this transaction, without waiting; false when another server holds it. On
/// SQLite, where one server uses the file, it always succeeds.
#[boxed]
pub async fn lock(tx: &mut Tx, lane: EventLane) -> Result<bool> {
    let key = format!("plugin {} {} {}", lane.plugin, lane.stream, lane.shard);
    tx.query(sql!(
        sqlite: "SELECT TRUE WHERE $1 <> ''";
        postgres: "SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))"
    ))
    .bind(key)
    .scalar()
    .await
}

/// Deletes events; returns how many.
#[boxed]
pub async fn delete(tx: &mut Tx, events: &[i64]) -> Result<u64> {
    tx.query(sql!("DELETE FROM plugin_events WHERE seq" in("$1"))).bind(Ids::of(events.iter().copied())).execute().await
}

/// Reschedules events to `run_at` and moves them to `shard`; `tried`: whether this counts as an attempt.
#[boxed]
pub async fn reschedule(tx: &mut Tx, events: &[i64], shard: i64, tried: bool, run_at: Time, error: &str) -> Result<()> {
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

/// Parks events (dead letters), with the error of their last attempt: they are not delivered unless an admin retries
/// them.
#[boxed]
pub async fn dead_letter(tx: &mut Tx, events: &[i64], error: &str) -> Result<()> {
    tx.query(sql!(
        "UPDATE plugin_events SET state = 'parked', attempts = attempts + 1, last_error = $2 WHERE seq" in("$1")
    ))
    .bind(Ids::of(events.iter().copied()))
    .bind(error.to_owned())
    .execute()
    .await?;
    Ok(())
}

/// A parked event.
#[derive(Clone, Debug, model::Row)]
pub struct Parked {
    pub seq: i64,
    pub stream: String,
    pub kind: String,
    pub subject_id: Option<i64>,
    pub attempts: i64,
    pub last_error: Option<String>,
    pub created_at: Time,
}

/// The oldest `limit` parked events of `plugin`.
#[boxed]
pub async fn list_parked(db: Conn<'_>, plugin: PluginId, limit: i64) -> Result<Vec<Parked>> {
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

/// Makes all parked events of `plugin` ready again, with no attempts; returns how many. Wakes their delivery when the
/// transaction commits.
#[boxed]
pub async fn retry_parked(tx: &mut Tx, plugin: PluginId, now: Time) -> Result<u64> {
    tx.wake_event_delivery();
    tx.query(sql!(
        "UPDATE plugin_events SET state = 'ready', attempts = 0, run_at = $2 WHERE plugin_id = $1 AND state = 'parked'"
    ))
    .bind(plugin)
    .bind(now)
    .execute()
    .await
}

/// The highest sequence number among the stored events, of any plugin; 0 when there is none.
#[boxed]
pub async fn max_seq(db: Conn<'_>) -> Result<i64> {
    db.query(sql!("SELECT COALESCE(MAX(e.seq), 0) FROM plugin_events e")).scalar().await
}

/// True while an event with a sequence number up to `last` is stored for any plugin, ready or parked.
#[boxed]
pub async fn exists_up_to(db: Conn<'_>, last: i64) -> Result<bool> {
    db.query(sql!("SELECT EXISTS (SELECT 1 FROM plugin_events e WHERE e.seq <= $1)")).bind(last).scalar().await
}

/// Deletes events older than `time`, ready or parked, among the oldest 1,000; returns how many. Bounded so that the
/// transaction stays short: the caller repeats it while there are more.
#[boxed]
pub async fn delete_old(tx: &mut Tx, time: Time) -> Result<u64> {
    tx.query(sql!(
        "DELETE FROM plugin_events
         WHERE created_at < $1 AND seq IN (SELECT e.seq FROM plugin_events e ORDER BY e.seq LIMIT 1000)"
    ))
    .bind(time)
    .execute()
    .await
}

/// The number of stored events for `plugin`, ready or parked, counted up to `most`.
#[boxed]
pub async fn count_up_to(db: Conn<'_>, plugin: PluginId, most: i64) -> Result<i64> {
    db.query(sql!(
        "SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM plugin_events e
                                       WHERE e.plugin_id = $1 AND e.state = 'ready' LIMIT $2) ready)
              + (SELECT COUNT(*) FROM (SELECT 1 FROM plugin_events e
                                       WHERE e.plugin_id = $1 AND e.state = 'parked' LIMIT $2) parked)"
    ))
    .bind(plugin)
    .bind(most)
    .scalar()
    .await
}

/// Deletes up to `limit` events of `plugin`, whatever their state; returns how many.
#[boxed]
pub async fn delete_some(tx: &mut Tx, plugin: PluginId, limit: i64) -> Result<u64> {
    tx.query(sql!(
        "DELETE FROM plugin_events
         WHERE seq IN (SELECT e.seq FROM plugin_events e WHERE e.plugin_id = $1 AND e.state = 'ready' LIMIT $2)
            OR seq IN (SELECT e.seq FROM plugin_events e WHERE e.plugin_id = $1 AND e.state = 'parked' LIMIT $2)"
    ))
    .bind(plugin)
    .bind(limit)
    .execute()
    .await
}

/// The number of ready and of parked events of `plugin`.
#[boxed]
pub async fn count(db: Conn<'_>, plugin: PluginId) -> Result<(i64, i64)> {
    db.query(sql!(
        "SELECT (SELECT COUNT(*) FROM plugin_events e WHERE e.plugin_id = $1 AND e.state = 'ready') AS waiting,
                (SELECT COUNT(*) FROM plugin_events e WHERE e.plugin_id = $1 AND e.state = 'parked') AS parked"
    ))
    .bind(plugin)
    .one()
    .await
}
