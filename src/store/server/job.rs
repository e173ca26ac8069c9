//! The durable job queue: its rows, claimed with a lease.
//!
//! Reached from `worker` and, for jobs that plugins queue, from `plugins`. A job is `ready` until a worker claims it,
//! `running` until it is deleted or put back, and `dead` (a dead letter) after a permanent failure. Delivery is at
//! least once: a job whose lease has expired is put back and runs again. Its worker renews the lease while it runs.
//! The worker computes the back-off between attempts.

use serde::Serialize;

use database::sql::{Ids, Texts};
use database::{Conn, Result, Tx, sql};
use model::job::Lane;
use model::{JobId, Json, Time, boxed};

/// A worker's claim on a job: it affects the row only while the job is running in this attempt, so that a worker that
/// overran its lease does not undo changes of another worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, model::Row)]
pub struct Claim {
    pub id: JobId,
    /// The number of attempts, including this one.
    pub attempts: i64,
}

/// A job claimed by a worker.
#[derive(Clone, Debug, model::Row)]
pub struct JobRow {
    #[row(flatten)]
    pub claim: Claim,
    pub kind: String,
    pub payload: Json<serde_json::Value>,
}

#[derive(Debug)]
pub struct NewJob {
    pub id: JobId,
    pub lane: Lane,
    pub kind: &'static str,
    pub key: Option<String>,
    pub payload: serde_json::Value,
    /// The registrable domain that caused it; `None` for this server.
    pub share: Option<String>,
    pub run_at: Time,
    pub now: Time,
}

/// Queues a job, unless a job of the same kind and key is already ready: the conflict target is the partial unique
/// index `jobs_key`. Wakes the workers of its lane in this process when the transaction commits.
#[boxed]
pub async fn insert(tx: &mut Tx, job: NewJob) -> Result<()> {
    tx.wake_workers(job.lane);
    tx.query(sql!(
        "INSERT INTO jobs (id, lane, kind, key, payload, state, attempts, run_at, created_at, share)
         VALUES ($1, $2, $3, $4, $5, 'ready', 0, $6, $7, $8)
         ON CONFLICT (kind, key) WHERE key IS NOT NULL AND state = 'ready' DO NOTHING"
    ))
    .bind(job.id)
    .bind(job.lane)
    .bind(job.kind)
    .bind(job.key)
    .bind(Json(job.payload))
    .bind(job.run_at)
    .bind(job.now)
    .bind(job.share)
    .execute()
    .await?;
    Ok(())
}

/// The due jobs of a lane that satisfy `$which`, the longest waiting first: the index `jobs_ready`.
macro_rules! due {
    ($which:literal, $limit:literal) => {
        concat!(
            "FROM jobs WHERE lane = $1 AND state = 'ready' AND run_at <= $2",
            $which,
            " ORDER BY run_at, id LIMIT ",
            $limit
        )
    };
}

/// Claims up to `limit` due jobs of `lane`, with a lease until `lease_until`; returns them in no particular order.
///
/// On PostgreSQL, `FOR UPDATE SKIP LOCKED` lets concurrent workers claim different jobs instead of waiting for each
/// other, and `ARRAY` evaluates the subquery once, however the update is planned; on SQLite there is one writer.
#[boxed]
pub async fn claim(tx: &mut Tx, lane: Lane, now: Time, lease_until: Time, limit: i64) -> Result<Vec<JobRow>> {
    tx.query(sql!(
        sqlite: "UPDATE jobs SET state = 'running', attempts = attempts + 1, lease_until = $3
                 WHERE id IN (SELECT id " due!("", "$4") ")
                 RETURNING id, attempts, kind, payload";
        postgres: "UPDATE jobs SET state = 'running', attempts = attempts + 1, lease_until = $3
                   WHERE id = ANY(ARRAY(SELECT id " due!("", "$4") " FOR UPDATE SKIP LOCKED))
                   RETURNING id, attempts, kind, payload"
    ))
    .bind(lane)
    .bind(now)
    .bind(lease_until)
    .bind(limit)
    .all()
    .await
}

/// The first `limit` due jobs of `lane`, in order, for a worker that deletes them in the same transaction: they stay
/// `ready`, with the same number of attempts, and are locked until it ends.
#[boxed]
pub async fn lock_due(tx: &mut Tx, lane: Lane, now: Time, limit: i64) -> Result<Vec<JobRow>> {
    tx.query(sql!(
        sqlite: "SELECT id, attempts, kind, payload " due!("", "$3");
        postgres: "SELECT id, attempts, kind, payload " due!("", "$3") " FOR UPDATE SKIP LOCKED"
    ))
    .bind(lane)
    .bind(now)
    .bind(limit)
    .all()
    .await
}

/// Claims the ready jobs among `ids`, with a lease until `lease_until`; returns the claims.
#[boxed]
pub async fn claim_ids(tx: &mut Tx, ids: &[JobId], lease_until: Time) -> Result<Vec<Claim>> {
    tx.query(sql!(
        "UPDATE jobs SET state = 'running', attempts = attempts + 1, lease_until = $2
         WHERE id" in("$1") "AND state = 'ready'
         RETURNING id, attempts"
    ))
    .bind(Ids::of(ids.iter().copied()))
    .bind(lease_until)
    .all()
    .await
}

/// Deletes jobs that this transaction locked or claimed; returns how many.
#[boxed]
pub async fn delete_ids(tx: &mut Tx, ids: &[JobId]) -> Result<u64> {
    tx.query(sql!("DELETE FROM jobs WHERE id" in("$1"))).bind(Ids::of(ids.iter().copied())).execute().await
}

/// True when a job of `lane` is due. Checked before claiming, so that an idle worker opens no transaction.
#[boxed]
pub async fn is_due(db: Conn<'_>, lane: Lane, now: Time) -> Result<bool> {
    let due: Option<(i64,)> = db.query(sql!("SELECT id " due!("", "1"))).bind(lane).bind(now).optional().await?;
    Ok(due.is_some())
}

/// Deletes a finished job; false when `claim` is no longer valid.
#[boxed]
pub async fn delete(tx: &mut Tx, claim: Claim) -> Result<bool> {
    let deleted = tx
        .query(sql!("DELETE FROM jobs WHERE id = $1 AND state = 'running' AND attempts = $2"))
        .bind(claim.id)
        .bind(claim.attempts)
        .execute()
        .await?;
    Ok(deleted > 0)
}

/// Whether an attempt counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// The job ran.
    Counts,
    /// The job did not run: the claim is withdrawn.
    TakenBack,
}

/// Makes a job ready again at `run_at`, with the error of this attempt, if `claim` is still valid. If another job of
/// its kind and key is already ready, this one is deleted instead: the index `jobs_key` allows only one, and the
/// other one does the same work.
#[boxed]
pub async fn retry(tx: &mut Tx, claim: Claim, attempt: Attempt, run_at: Time, error: &str) -> Result<()> {
    let freed = tx
        .query(sql!(
            "UPDATE jobs SET state = 'ready', attempts = attempts - $3, run_at = $4, lease_until = NULL, last_error = $5
             WHERE id = $1 AND state = 'running' AND attempts = $2
               AND NOT EXISTS (SELECT 1 FROM jobs o WHERE o.kind = jobs.kind AND o.key = jobs.key AND o.state = 'ready')"
        ))
        .bind(claim.id)
        .bind(claim.attempts)
        .bind(i64::from(attempt == Attempt::TakenBack))
        .bind(run_at)
        .bind(error.to_owned())
        .execute()
        .await?;
    if freed == 0 {
        delete(tx, claim).await?;
    }
    Ok(())
}

/// Makes a job a dead letter: it stays, with its error, and does not run again; false when `claim` is no longer
/// valid.
#[boxed]
pub async fn dead_letter(tx: &mut Tx, claim: Claim, error: &str) -> Result<bool> {
    let ended = tx
        .query(sql!(
            "UPDATE jobs SET state = 'dead', lease_until = NULL, last_error = $3
             WHERE id = $1 AND state = 'running' AND attempts = $2"
        ))
        .bind(claim.id)
        .bind(claim.attempts)
        .bind(error.to_owned())
        .execute()
        .await?;
    Ok(ended > 0)
}

/// Renews the leases of the valid claims among `claims`, until `lease_until` (heartbeat); returns how many.
#[boxed]
pub async fn renew(tx: &mut Tx, claims: &[Claim], lease_until: Time) -> Result<usize> {
    let held: Vec<(JobId, i64)> = claims.iter().map(|claim| (claim.id, claim.attempts)).collect();
    let renewed = tx
        .query(sql!(
            "UPDATE jobs SET lease_until = $2
             WHERE state = 'running' AND (id, attempts) IN (
                 SELECT CAST(value ->> 0 AS BIGINT), CAST(value ->> 1 AS BIGINT) FROM" rows("$1")
            ")"
        ))
        .bind(Json(held))
        .bind(lease_until)
        .execute()
        .await?;
    Ok(usize::try_from(renewed).unwrap_or(usize::MAX))
}

/// Running jobs whose lease expired by `$1`, the longest waiting first: the index `jobs_running`.
macro_rules! expired {
    ($limit:literal) => {
        concat!("FROM jobs WHERE state = 'running' AND lease_until <= $1 ORDER BY lease_until LIMIT ", $limit)
    };
}

/// True when the lease of a running job expired by `now`. Checked before [`lock_expired`], so that an idle worker
/// opens no transaction.
#[boxed]
pub async fn is_expired(db: Conn<'_>, now: Time) -> Result<bool> {
    let expired: Option<(i64,)> = db.query(sql!("SELECT id " expired!("1"))).bind(now).optional().await?;
    Ok(expired.is_some())
}

/// A running job whose worker was killed or cut off, with its kind.
#[derive(Clone, Debug, model::Row)]
pub struct ExpiredRow {
    #[row(flatten)]
    pub claim: Claim,
    pub kind: String,
}

/// Up to 500 running jobs whose lease expired by `now`, to be put back in this transaction. Jobs that another
/// transaction is renewing or putting back are skipped.
#[boxed]
pub async fn lock_expired(tx: &mut Tx, now: Time) -> Result<Vec<ExpiredRow>> {
    tx.query(sql!(
        sqlite: "SELECT id, attempts, kind " expired!("500");
        postgres: "SELECT id, attempts, kind " expired!("500") " FOR UPDATE SKIP LOCKED"
    ))
    .bind(now)
    .all()
    .await
}

/// Makes ready jobs due at `now` that were queued to run immediately when the clock was ahead of `latest`; returns
/// how many.
#[boxed]
pub async fn make_due_after_set_back(tx: &mut Tx, now: Time, latest: Time) -> Result<u64> {
    tx.query(sql!("UPDATE jobs SET run_at = $1 WHERE state = 'ready' AND created_at > $2 AND run_at <= created_at"))
        .bind(now)
        .bind(latest)
        .execute()
        .await
}

/// Makes the ready job of this kind and key, which is in `lane`, due at `at`, if it was to run later.
#[boxed]
pub async fn make_due(tx: &mut Tx, lane: Lane, kind: &'static str, key: &str, at: Time) -> Result<()> {
    tx.wake_workers(lane);
    tx.query(sql!("UPDATE jobs SET run_at = $3 WHERE kind = $1 AND key = $2 AND state = 'ready' AND run_at > $3"))
        .bind(kind)
        .bind(key.to_owned())
        .bind(at)
        .execute()
        .await?;
    Ok(())
}

/// The number of jobs of each lane and state, as (lane, state, count). Reads the whole table.
#[boxed]
pub async fn counts(db: Conn<'_>) -> Result<Vec<(String, String, i64)>> {
    db.query(sql!("SELECT lane, state, COUNT(*) AS jobs FROM jobs GROUP BY lane, state")).all().await
}

/// A job for [`insert_many`]. Jobs of plugins always have a key: [`count_ready`] and [`delete_ready`] use the index of
/// keys.
#[derive(Debug, Serialize)]
pub struct NewKeyedJob {
    pub id: i64,
    /// The deduplication key: the job is not queued while another one of its kind and key is ready.
    pub key: Option<String>,
    pub payload: serde_json::Value,
    /// When it is due, in microseconds since the epoch.
    pub run_at: i64,
}

/// Queues jobs of a kind that is known only at run time, in one statement; returns how many were new. The texts
/// differ because a time is an integer of microseconds on SQLite.
#[boxed]
pub async fn insert_many(tx: &mut Tx, lane: Lane, kind: &str, jobs: Vec<NewKeyedJob>, now: Time) -> Result<u64> {
    tx.wake_workers(lane);
    macro_rules! insert {
        ($time:literal) => {
            concat!(
                "INSERT INTO jobs (id, lane, kind, key, payload, state, attempts, run_at, created_at)
                 SELECT CAST(value ->> 'id' AS BIGINT), $2, $3, value ->> 'key', value -> 'payload', 'ready', 0, ", $time, ", $4
                 FROM "
            )
        };
    }
    macro_rules! unless_ready {
        () => {
            "WHERE TRUE ON CONFLICT (kind, key) WHERE key IS NOT NULL AND state = 'ready' DO NOTHING"
        };
    }
    tx.query(sql!(
        sqlite: insert!("CAST(value ->> 'run_at' AS BIGINT)") rows("$1") unless_ready!();
        postgres: insert!("TIMESTAMPTZ 'epoch' + CAST(value ->> 'run_at' AS BIGINT) * INTERVAL '1 microsecond'")
                  rows("$1") unless_ready!()
    ))
    .bind(Json(jobs))
    .bind(lane)
    .bind(kind.to_owned())
    .bind(now)
    .execute()
    .await
}

/// The number of ready jobs of `kind` that have a key.
#[boxed]
pub async fn count_ready(db: Conn<'_>, kind: &str) -> Result<i64> {
    db.query(sql!("SELECT COUNT(*) FROM jobs WHERE kind = $1 AND key IS NOT NULL AND state = 'ready'"))
        .bind(kind.to_owned())
        .scalar()
        .await
}

/// True while the job of `kind` with `key` is ready or running.
#[boxed]
pub async fn exists(db: Conn<'_>, kind: &str, key: &str) -> Result<bool> {
    let query = db.query(sql!(
        "SELECT EXISTS (SELECT 1 FROM jobs WHERE kind = $1 AND key = $2 AND key IS NOT NULL AND state = 'ready')
             OR EXISTS (SELECT 1 FROM jobs WHERE kind = $1 AND key = $2 AND key IS NOT NULL AND state = 'running')"
    ));
    query.bind(kind.to_owned()).bind(key.to_owned()).scalar().await
}

/// Deletes the ready jobs of `kind` with these keys; returns how many.
#[boxed]
pub async fn delete_ready(tx: &mut Tx, kind: &str, keys: &[String]) -> Result<u64> {
    tx.query(sql!("DELETE FROM jobs WHERE kind = $1 AND key IS NOT NULL AND state = 'ready' AND key" in("$2")))
        .bind(kind.to_owned())
        .bind(Texts::of(keys.iter().cloned()))
        .execute()
        .await
}

/// Deletes the oldest dead letters of `kind`, up to a thousand, so that `most` are left; returns how many. Uses the
/// index `jobs_dead_kind`.
#[boxed]
pub async fn delete_dead_beyond(tx: &mut Tx, kind: &str, most: i64) -> Result<u64> {
    tx.query(sql!(
        "DELETE FROM jobs WHERE id IN (
             SELECT j.id FROM jobs j WHERE j.kind = $1 AND j.state = 'dead' ORDER BY j.id DESC LIMIT 1000 OFFSET $2
         )"
    ))
    .bind(kind.to_owned())
    .bind(most)
    .execute()
    .await
}

/// Deletes every job of `kind`, whatever its state; returns how many. No index leads, so it reads the whole table.
#[boxed]
pub async fn delete_kind(tx: &mut Tx, kind: &str) -> Result<u64> {
    tx.query(sql!("DELETE FROM jobs WHERE kind = $1")).bind(kind.to_owned()).execute().await
}

/// As [`is_due`], for these kinds only.
#[boxed]
pub async fn is_due_for(db: Conn<'_>, lane: Lane, kinds: &[String], now: Time) -> Result<bool> {
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

/// As [`claim`], for these kinds only.
#[boxed]
pub async fn claim_for(
    tx: &mut Tx,
    lane: Lane,
    kinds: &[String],
    now: Time,
    lease_until: Time,
    limit: i64,
) -> Result<Vec<JobRow>> {
    tx.query(sql!(
        sqlite: "UPDATE jobs SET state = 'running', attempts = attempts + 1, lease_until = $3
                 WHERE id IN (SELECT id " due!(" AND kind IN (SELECT value FROM json_each($5))", "$4") ")
                 RETURNING id, attempts, kind, payload";
        postgres: "UPDATE jobs SET state = 'running', attempts = attempts + 1, lease_until = $3
                   WHERE id = ANY(ARRAY(SELECT id " due!(" AND kind = ANY($5)", "$4") " FOR UPDATE SKIP LOCKED))
                   RETURNING id, attempts, kind, payload"
    ))
    .bind(lane)
    .bind(now)
    .bind(lease_until)
    .bind(limit)
    .bind(Texts::of(kinds.iter().cloned()))
    .all()
    .await
}

/// Makes a running job that succeeded ready again at `run_at`, with no attempts; false when `claim` is no longer
/// valid. If another job of its kind and key is already ready, this one is deleted instead, as in [`retry`].
#[boxed]
pub async fn reschedule(tx: &mut Tx, claim: Claim, run_at: Time) -> Result<bool> {
    let waits = tx
        .query(sql!(
            "UPDATE jobs SET state = 'ready', attempts = 0, run_at = $3, lease_until = NULL, last_error = NULL
             WHERE id = $1 AND state = 'running' AND attempts = $2
               AND NOT EXISTS (SELECT 1 FROM jobs o WHERE o.kind = jobs.kind AND o.key = jobs.key AND o.state = 'ready')"
        ))
        .bind(claim.id)
        .bind(claim.attempts)
        .bind(run_at)
        .execute()
        .await?;
    Ok(waits > 0 || delete(tx, claim).await?)
}
