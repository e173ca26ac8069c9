//! The rows of the durable queue.

use serde::Serialize;

use super::sql::Texts;
use super::{Executor, Result, Tx};
use crate::model::job::Lane;
use crate::model::{JobId, Json, Time};
use crate::sql;

/// A job that was claimed.
#[derive(Clone, Debug, sqlx::FromRow)]
#[expect(missing_docs, reason = "columns of the table jobs")]
pub struct JobRow {
    pub id: JobId,
    pub kind: String,
    pub payload: Json<serde_json::Value>,
    /// How often it was tried, this time included.
    pub attempts: i64,
}

/// A new job.
#[derive(Debug)]
#[expect(missing_docs, reason = "columns of the table jobs")]
pub struct NewJob {
    pub id: JobId,
    pub lane: Lane,
    pub kind: &'static str,
    pub key: Option<String>,
    pub payload: serde_json::Value,
    pub run_at: Time,
    pub now: Time,
}

/// Queues a job, unless one of its kind and key waits already.
///
/// # Errors
/// When the database does.
pub async fn insert(tx: &mut Tx, job: NewJob) -> Result<()> {
    tx.wake_workers();
    tx.query(sql!(
        "INSERT INTO jobs (id, lane, kind, key, payload, state, attempts, run_at, created_at)
         VALUES ($1, $2, $3, $4, $5, 'ready', 0, $6, $7)
         ON CONFLICT (kind, key) WHERE key IS NOT NULL AND state = 'ready' DO NOTHING"
    ))
    .bind(job.id)
    .bind(job.lane)
    .bind(job.kind)
    .bind(job.key)
    .bind(Json(job.payload))
    .bind(job.run_at)
    .bind(job.now)
    .execute()
    .await?;
    Ok(())
}

/// Takes up to `limit` jobs of `lane` that are due; nobody else gets them until `lease_until`.
///
/// # Errors
/// When the database does.
pub async fn claim(tx: &mut Tx, lane: Lane, now: Time, lease_until: Time, limit: i64) -> Result<Vec<JobRow>> {
    tx.query(sql!(
        sqlite: "UPDATE jobs SET state = 'running', attempts = attempts + 1, lease_until = $3
                 WHERE id IN (SELECT id FROM jobs WHERE lane = $1 AND state = 'ready' AND run_at <= $2 ORDER BY run_at, id LIMIT $4)
                 RETURNING id, kind, payload, attempts";
        postgres: "UPDATE jobs SET state = 'running', attempts = attempts + 1, lease_until = $3
                   WHERE id IN (SELECT id FROM jobs WHERE lane = $1 AND state = 'ready' AND run_at <= $2
                                ORDER BY run_at, id LIMIT $4 FOR UPDATE SKIP LOCKED)
                   RETURNING id, kind, payload, attempts"
    ))
    .bind(lane)
    .bind(now)
    .bind(lease_until)
    .bind(limit)
    .all()
    .await
}

/// True when a job of `lane` is due: asked before a transaction is opened for claiming it.
///
/// # Errors
/// When the database does.
pub async fn is_due(db: impl Executor, lane: Lane, now: Time) -> Result<bool> {
    let due: Option<(i64,)> = db
        .query(sql!("SELECT id FROM jobs WHERE lane = $1 AND state = 'ready' AND run_at <= $2 LIMIT 1"))
        .bind(lane)
        .bind(now)
        .optional()
        .await?;
    Ok(due.is_some())
}

/// Removes a job that is done.
///
/// # Errors
/// When the database does.
pub async fn delete(tx: &mut Tx, id: JobId) -> Result<()> {
    tx.query(sql!("DELETE FROM jobs WHERE id = $1")).bind(id).execute().await?;
    Ok(())
}

/// Puts a job back for `run_at`, with what went wrong. Where one of its kind and key waits already, it is dropped: that
/// one will do the work.
///
/// # Errors
/// When the database does.
pub async fn retry(tx: &mut Tx, id: JobId, run_at: Time, error: &str) -> Result<()> {
    let freed = tx
        .query(sql!(
            "UPDATE jobs SET state = 'ready', run_at = $2, lease_until = NULL, last_error = $3
             WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM jobs o WHERE o.kind = jobs.kind AND o.key = jobs.key AND o.state = 'ready')"
        ))
        .bind(id)
        .bind(run_at)
        .bind(error.to_owned())
        .execute()
        .await?;
    if freed == 0 {
        delete(tx, id).await?;
    }
    Ok(())
}

/// As [`retry`], of a job that was not tried after all.
///
/// # Errors
/// When the database does.
pub async fn postpone(tx: &mut Tx, id: JobId, run_at: Time, error: &str) -> Result<()> {
    tx.query(sql!("UPDATE jobs SET attempts = attempts - 1 WHERE id = $1 AND attempts > 0")).bind(id).execute().await?;
    retry(tx, id, run_at, error).await
}

/// Lays a job aside for an admin.
///
/// # Errors
/// When the database does.
pub async fn bury(tx: &mut Tx, id: JobId, error: &str) -> Result<()> {
    tx.query(sql!("UPDATE jobs SET state = 'dead', lease_until = NULL, last_error = $2 WHERE id = $1"))
        .bind(id)
        .bind(error.to_owned())
        .execute()
        .await?;
    Ok(())
}

/// The jobs whose worker did not come back before `now`: they are to be put back.
///
/// # Errors
/// When the database does.
pub async fn list_lost(db: impl Executor, now: Time) -> Result<Vec<JobId>> {
    db.query(sql!("SELECT id FROM jobs WHERE state = 'running' AND lease_until <= $1 ORDER BY lease_until LIMIT 500"))
        .bind(now)
        .scalars()
        .await
}

/// How many jobs are in each state of each lane.
///
/// # Errors
/// When the database does.
pub async fn counts(db: impl Executor) -> Result<Vec<(String, String, i64)>> {
    db.query(sql!("SELECT lane, state, COUNT(*) AS jobs FROM jobs GROUP BY lane, state")).all().await
}

/// One of many new jobs of a kind that is known only at run time. Every one has a key, so that they can be counted.
#[derive(Debug, Serialize)]
pub struct NewOfMany {
    /// Its id.
    pub id: i64,
    /// It is not queued while one of its kind and key waits.
    pub key: String,
    /// What it is about.
    pub payload: serde_json::Value,
    /// When: microseconds since the epoch.
    pub run_at: i64,
}

/// Queues jobs of `kind`, all in one statement; gives how many there are now that there were not.
///
/// # Errors
/// When the database does.
pub async fn insert_many(tx: &mut Tx, lane: Lane, kind: &str, jobs: Vec<NewOfMany>, now: Time) -> Result<u64> {
    tx.wake_workers();
    macro_rules! insert {
        ($time:literal) => {
            concat!(
                "INSERT INTO jobs (id, lane, kind, key, payload, state, attempts, run_at, created_at)
                 SELECT CAST(value ->> 'id' AS BIGINT), $2, $3, value ->> 'key', value -> 'payload', 'ready', 0, ", $time, ", $4
                 FROM "
            )
        };
    }
    macro_rules! sqlite {
        () => {
            insert!("CAST(value ->> 'run_at' AS BIGINT)")
        };
    }
    macro_rules! postgres {
        () => {
            insert!("TIMESTAMPTZ 'epoch' + CAST(value ->> 'run_at' AS BIGINT) * INTERVAL '1 microsecond'")
        };
    }
    tx.query(sql!(
        sqlite: sqlite!() rows("$1") "WHERE TRUE ON CONFLICT (kind, key) WHERE key IS NOT NULL AND state = 'ready' DO NOTHING";
        postgres: postgres!() rows("$1") "WHERE TRUE ON CONFLICT (kind, key) WHERE key IS NOT NULL AND state = 'ready' DO NOTHING"
    ))
    .bind(Json(jobs))
    .bind(lane)
    .bind(kind.to_owned())
    .bind(now)
    .execute()
    .await
}

/// How many jobs of `kind` that have keys wait.
///
/// # Errors
/// When the database does.
pub async fn count_waiting(db: impl Executor, kind: &str) -> Result<i64> {
    db.query(sql!("SELECT COUNT(*) FROM jobs WHERE kind = $1 AND key IS NOT NULL AND state = 'ready'"))
        .bind(kind.to_owned())
        .scalar()
        .await
}

/// Removes the jobs of `kind` and these keys that wait; gives how many there were.
///
/// # Errors
/// When the database does.
pub async fn delete_waiting(tx: &mut Tx, kind: &str, keys: &[String]) -> Result<u64> {
    tx.query(sql!("DELETE FROM jobs WHERE kind = $1 AND key IS NOT NULL AND state = 'ready' AND key" in("$2")))
        .bind(kind.to_owned())
        .bind(Texts::of(keys.iter().cloned()))
        .execute()
        .await
}

/// Removes every job of `kind`, whatever became of it; gives how many there were.
///
/// # Errors
/// When the database does.
pub async fn delete_kind(tx: &mut Tx, kind: &str) -> Result<u64> {
    tx.query(sql!("DELETE FROM jobs WHERE kind = $1")).bind(kind.to_owned()).execute().await
}

/// As [`is_due`], for these kinds alone.
///
/// # Errors
/// When the database does.
pub async fn is_due_of(db: impl Executor, lane: Lane, kinds: &[String], now: Time) -> Result<bool> {
    let due: Option<(i64,)> = db
        .query(sql!(
            "SELECT id FROM jobs WHERE lane = $1 AND state = 'ready' AND run_at <= $2 AND kind" in("$3") "LIMIT 1"
        ))
        .bind(lane)
        .bind(now)
        .bind(Texts::of(kinds.iter().cloned()))
        .optional()
        .await?;
    Ok(due.is_some())
}

/// As [`claim`], for these kinds alone.
///
/// # Errors
/// When the database does.
pub async fn claim_of(
    tx: &mut Tx,
    lane: Lane,
    kinds: &[String],
    now: Time,
    lease_until: Time,
    limit: i64,
) -> Result<Vec<JobRow>> {
    tx.query(sql!(
        sqlite: "UPDATE jobs SET state = 'running', attempts = attempts + 1, lease_until = $3
                 WHERE id IN (SELECT id FROM jobs WHERE lane = $1 AND state = 'ready' AND run_at <= $2 AND kind" in("$5")
                             "ORDER BY run_at, id LIMIT $4)
                 RETURNING id, kind, payload, attempts";
        postgres: "UPDATE jobs SET state = 'running', attempts = attempts + 1, lease_until = $3
                   WHERE id IN (SELECT id FROM jobs WHERE lane = $1 AND state = 'ready' AND run_at <= $2 AND kind" in("$5")
                               "ORDER BY run_at, id LIMIT $4 FOR UPDATE SKIP LOCKED)
                   RETURNING id, kind, payload, attempts"
    ))
    .bind(lane)
    .bind(now)
    .bind(lease_until)
    .bind(limit)
    .bind(Texts::of(kinds.iter().cloned()))
    .all()
    .await
}

/// Removes a job that is done; false when it was not running any more.
///
/// # Errors
/// When the database does.
pub async fn delete_claimed(tx: &mut Tx, id: JobId) -> Result<bool> {
    Ok(tx.query(sql!("DELETE FROM jobs WHERE id = $1 AND state = 'running'")).bind(id).execute().await? > 0)
}

/// Lets a job that ended well wait for `run_at`, as if it was never tried; false when it was not running any more. Where
/// one of its kind and key waits already, it is removed: that one will do the work.
///
/// # Errors
/// When the database does.
pub async fn put_back(tx: &mut Tx, id: JobId, run_at: Time) -> Result<bool> {
    let waits = tx
        .query(sql!(
            "UPDATE jobs SET state = 'ready', attempts = 0, run_at = $2, lease_until = NULL, last_error = NULL
             WHERE id = $1 AND state = 'running'
               AND NOT EXISTS (SELECT 1 FROM jobs o WHERE o.kind = jobs.kind AND o.key = jobs.key AND o.state = 'ready')"
        ))
        .bind(id)
        .bind(run_at)
        .execute()
        .await?;
    Ok(waits > 0 || delete_claimed(tx, id).await?)
}
