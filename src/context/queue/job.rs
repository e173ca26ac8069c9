//! The trait of jobs, and the outcomes of a run.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Error, Result};
use model::Time;
use model::job::Lane;

/// A kind of job.
pub trait Job: Serialize + DeserializeOwned + Send {
    /// Its name in the database; never changed once released.
    const KIND: &'static str;
    const LANE: Lane;

    /// Its lane, where that depends on the job.
    fn lane(&self) -> Lane {
        Self::LANE
    }

    /// The registrable domain that caused it, which has a bounded share of the lane; `None` for this server.
    fn share(&self) -> Option<&str> {
        None
    }

    /// Deduplication: while a job of the same kind and key is queued, another is not queued, since it would do the
    /// same work.
    fn key(&self) -> Option<String> {
        None
    }
}

/// A job of any kind, ready to be queued.
#[derive(Debug)]
pub struct Queued {
    pub(super) lane: Lane,
    pub(super) kind: &'static str,
    pub(super) key: Option<String>,
    pub(super) payload: Value,
    pub(super) share: Option<String>,
    /// `None`: as soon as the transaction is committed.
    pub(super) run_at: Option<Time>,
}

impl Queued {
    /// `job`, to run at `run_at`.
    ///
    /// # Errors
    /// [`Error::Internal`] when it cannot be serialised.
    pub fn of<J: Job>(job: &J, run_at: Option<Time>) -> Result<Self> {
        let payload = serde_json::to_value(job).map_err(Error::internal)?;
        let share = job.share().filter(|share| !share.is_empty()).map(str::to_owned);
        Ok(Self { lane: job.lane(), kind: J::KIND, key: job.key(), payload, share, run_at })
    }
}

/// How a job succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// The worker removes it.
    Remove,
    /// The job removed itself, by [`finish`](super::finish), in the transaction of its work.
    Removed,
}

/// How a job failed, which decides whether it is retried.
#[derive(Clone, Debug)]
pub enum Failure {
    /// Temporary: retried after a back-off, until the configured number of attempts is used up.
    Retry(String),
    /// It did not start: retried soon, and this attempt does not count.
    NotNow(String),
    /// Permanent: becomes a dead letter for an admin to inspect.
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
