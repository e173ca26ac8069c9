//! Queueing jobs and removing finished ones, in the caller's transaction.

use super::job::{Failure, Job, Queued};
use crate::{Cx, Error, Result};
use database::Tx;
use model::{JobId, Time};
use store::job::Claim;

/// Queues `job` in `tx`, to run as soon as the transaction is committed.
pub async fn enqueue<J: Job>(cx: &Cx, tx: &mut Tx, job: &J) -> Result<()> {
    enqueue_any(cx, tx, Queued::of(job, None)?).await
}

/// Queues `job` in `tx`, to run at `run_at`.
pub async fn enqueue_at<J: Job>(cx: &Cx, tx: &mut Tx, job: &J, run_at: Time) -> Result<()> {
    enqueue_any(cx, tx, Queued::of(job, Some(run_at))?).await
}

/// Queues a job of any kind in `tx`.
pub async fn enqueue_any(cx: &Cx, tx: &mut Tx, job: Queued) -> Result<()> {
    let Queued { lane, kind, key, payload, share, run_at } = job;
    let now = cx.clock.now();
    let run_at = run_at.unwrap_or(now);
    let new = store::job::NewJob { id: cx.ids.next(), lane, kind, key, payload, share, run_at, now };
    Ok(store::job::insert(tx, new).await?)
}

/// Queues `jobs`, which have keys, in one statement, to run as soon as the transaction is committed.
pub async fn enqueue_all<J: Job>(cx: &Cx, tx: &mut Tx, jobs: &[J]) -> Result<()> {
    enqueue_all_at(cx, tx, jobs, cx.clock.now()).await
}

/// As [`enqueue_all`], to run at `run_at`.
pub async fn enqueue_all_at<J: Job>(cx: &Cx, tx: &mut Tx, jobs: &[J], run_at: Time) -> Result<()> {
    let run_at = run_at.timestamp_micros();
    let row = |job: &J| {
        let payload = serde_json::to_value(job).map_err(Error::internal)?;
        let id: JobId = cx.ids.next();
        Ok(store::job::NewKeyedJob { id: id.into(), key: job.key(), payload, run_at })
    };
    let rows = jobs.iter().map(row).collect::<Result<Vec<_>>>()?;
    store::job::insert_many(tx, J::LANE, J::KIND, rows, cx.clock.now()).await?;
    Ok(())
}

/// Removes a job in the transaction of its work.
///
/// # Errors
/// [`Failure::NotNow`] when the lease expired and another worker has the job: the transaction must not be committed.
pub async fn finish(tx: &mut Tx, claim: Claim) -> Result<(), Failure> {
    if store::job::delete(tx, claim).await? {
        return Ok(());
    }
    Err(Failure::NotNow("its lease expired before its work was done".into()))
}
