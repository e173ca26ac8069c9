//! Work for later, done by the functions marked `#[job]`.

use serde::Serialize;

use super::imports::queue as host;
use crate::Result;
pub use crate::contract::queue::Job;

/// Queues jobs; says how many.
///
/// # Errors
/// The host's.
pub fn enqueue(jobs: &[Job]) -> Result<u32> {
    Ok(host::enqueue(jobs)?)
}

/// Removes waiting jobs.
///
/// # Errors
/// The host's.
pub fn cancel(kind: &str, unique: &[String]) -> Result<u32> {
    Ok(host::cancel(kind, unique)?)
}

/// A job to do as soon as possible, at most eight times.
///
/// # Errors
/// When the payload does not serialise.
pub fn job<T: Serialize + ?Sized>(kind: &str, payload: &T) -> Result<Job> {
    let payload = serde_json::to_string(payload)?;
    Ok(Job { kind: kind.into(), payload, not_before: None, unique: None, max_attempts: 8 })
}
