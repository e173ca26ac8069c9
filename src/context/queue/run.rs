//! How a kind of job runs: a function with the attribute [`job`](macro@crate::job) in the file of its use case, and
//! the registry in which the worker finds it.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::LazyLock;

use super::job::{Done, Failure, Job};
use super::{enqueue, enqueue_at, finish};
use crate::Cx;
use database::Tx;
#[doc(hidden)]
pub use linkme;
use linkme::distributed_slice;
use model::{Json, Time};
use serde_json::Value;
use store::job::Claim;
pub use store::job::JobRow;

/// The follow-up job of a step.
#[derive(Debug)]
pub enum Next<J> {
    /// None: the work is complete.
    Nothing,
    /// Continues immediately.
    Now(J),
    /// Continues, or starts again, at a time.
    At(Time, J),
}

impl<J> From<()> for Next<J> {
    fn from((): ()) -> Self {
        Self::Nothing
    }
}

impl<J> From<Option<J>> for Next<J> {
    fn from(job: Option<J>) -> Self {
        job.map_or(Self::Nothing, Self::Now)
    }
}

/// A running job. Boxed, so that callers do not reserve the size of the largest kind.
pub type Running<'a> = Pin<Box<dyn Future<Output = Result<Done, Failure>> + Send + 'a>>;

/// A kind of job with its function. Created by the attribute [`job`](macro@crate::job).
#[derive(Debug)]
pub struct Runner {
    /// The kind's name in the database.
    pub kind: &'static str,
    /// Runs a job of the kind.
    pub run: fn(&Cx, JobRow) -> Running<'_>,
}

/// The runners of all kinds of job, except kinds of the feed lane, which run in batches.
#[distributed_slice]
pub static RUNNERS: [Runner];

/// The runner of a kind of job; `None` for an unknown kind.
#[must_use]
pub fn runner(kind: &str) -> Option<&'static Runner> {
    static BY_KIND: LazyLock<HashMap<&str, &Runner>> =
        LazyLock::new(|| RUNNERS.iter().map(|runner| (runner.kind, runner)).collect());
    BY_KIND.get(kind).copied()
}

/// Deserialises a job from its row.
///
/// # Errors
/// [`Failure::Fail`] when the payload has the format of another version.
pub fn payload<J: Job>(payload: Json<Value>) -> Result<J, Failure> {
    serde_json::from_value(payload.0).map_err(|error| Failure::Fail(format!("payload: {error}")))
}

/// Ends a step of work in its transaction: queues the next job, removes this one, commits. After a kill at any point
/// the work continues, and nothing is done twice.
///
/// # Errors
/// As [`finish`].
pub async fn end_step<J: Job>(cx: &Cx, mut tx: Tx, next: Next<J>, claim: Claim) -> Result<Done, Failure> {
    match next {
        Next::Nothing => {}
        Next::Now(job) => enqueue(cx, &mut tx, &job).await?,
        Next::At(time, job) => enqueue_at(cx, &mut tx, &job, time).await?,
    }
    finish(&mut tx, claim).await?;
    tx.commit().await?;
    Ok(Done::Removed)
}
