//! The durable queue as use cases see it: jobs are data, written in the transaction that makes them true.
//!
//! [`enqueue`] inserts a row; the crate `worker` claims rows under a lease, runs them and removes them, with exponential
//! back-off and dead letters. A job may run twice (a kill between its work and its removal), so every kind is idempotent.
//! The kinds are the structs of [`kinds`]; nothing here knows how they run.

pub mod kinds;

pub use kinds::*;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Cx, Error, Result};
use database::Tx;
use model::job::Lane;
use model::{JobId, Time};
use store::job::Claim;

/// A kind of job.
pub trait Job: Serialize + DeserializeOwned + Send {
    /// Its name in the database; never changed once released.
    const KIND: &'static str;
    /// Where it queues.
    const LANE: Lane;

    /// Deduplication: while a job of the same kind and key waits, another is not queued, since it would do the same work.
    fn key(&self) -> Option<String> {
        None
    }
}

/// How a job ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// The worker is to remove it.
    Remove,
    /// It removed itself, by [`finish`], in the transaction of its work.
    Removed,
}

/// How a job ended badly: trying again is a decision.
#[derive(Clone, Debug)]
pub enum Failure {
    /// Later it may work: again after a back-off, until the configured number of attempts is used up.
    Retry(String),
    /// It was not tried: again soon, and this attempt does not count.
    NotNow(String),
    /// It will never work: a dead letter for an admin to look at.
    Fail(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        if error.is_fault() { Self::NotNow(error.to_string()) } else { Self::Retry(error.to_string()) }
    }
}

impl From<database::Error> for Failure {
    fn from(error: database::Error) -> Self {
        Error::from(error).into()
    }
}

/// Queues `job` in `tx`, to run as soon as that is committed.
pub async fn enqueue<J: Job>(cx: &Cx, tx: &mut Tx, job: &J) -> Result<()> {
    enqueue_at(cx, tx, job, cx.clock.now()).await
}

/// Queues `job` in `tx`, to run at `run_at`.
pub async fn enqueue_at<J: Job>(cx: &Cx, tx: &mut Tx, job: &J, run_at: Time) -> Result<()> {
    let payload = serde_json::to_value(job).map_err(Error::internal)?;
    let new = store::job::NewJob {
        id: cx.ids.next(),
        lane: J::LANE,
        kind: J::KIND,
        key: job.key(),
        payload,
        run_at,
        now: cx.clock.now(),
    };
    Ok(store::job::insert(tx, new).await?)
}

/// Queues `jobs`, which have keys, in one statement, to run as soon as that is committed.
pub async fn enqueue_all<J: Job>(cx: &Cx, tx: &mut Tx, jobs: &[J]) -> Result<()> {
    enqueue_all_at(cx, tx, jobs, cx.clock.now()).await
}

/// As [`enqueue_all`], to run at `run_at`.
pub async fn enqueue_all_at<J: Job>(cx: &Cx, tx: &mut Tx, jobs: &[J], run_at: Time) -> Result<()> {
    let run_at = run_at.timestamp_micros();
    let row = |job: &J| {
        let payload = serde_json::to_value(job).map_err(Error::internal)?;
        let id: JobId = cx.ids.next();
        Ok(store::job::NewKeyedJob { id: id.into(), key: job.key().unwrap_or_default(), payload, run_at })
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
