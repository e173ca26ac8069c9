//! The job queue: background work, done by functions marked `#[job]`.

use serde::Serialize;

use super::imports::queue as host;
use crate::Result;
pub use crate::contract::queue::Job;

/// Queues jobs; returns how many. One with the same `unique` as a waiting job is not queued again.
pub fn enqueue(jobs: &[Job]) -> Result<u32> {
    Ok(host::enqueue(jobs)?)
}

/// Removes waiting jobs.
pub fn cancel(kind: &str, unique: &[String]) -> Result<u32> {
    Ok(host::cancel(kind, unique)?)
}

/// A job to run as soon as possible, with at most eight attempts.
pub fn job<T: Serialize + ?Sized>(kind: &str, payload: &T) -> Result<Job> {
    let payload = serde_json::to_string(payload)?;
    Ok(Job { kind: kind.into(), payload, not_before: None, unique: None, max_attempts: 8 })
}
