//! Deletes messages that were not fetched for a month, and counts of claims from earlier hours, in batches, one per job.

use rookery_plugin::prelude::*;

use crate::{HOUR, sql};

/// How long a message waits for its device, in milliseconds: 30 days.
const WAITS: i64 = 30 * 24 * HOUR;
/// Messages deleted by one job; messages of the same millisecond as the last are deleted with it.
const PART: u16 = 500;

/// Nothing is left from before `:before`, or this job is queued again.
#[job("expire")]
fn expire(task: &Task) -> Result<()> {
    let now = system::now();
    let part: Vec<i64> = sql::expired(now - WAITS, PART).all()?;
    if let Some(last) = part.last() {
        sql::expire(*last).exec()?;
    }
    let counts = sql::forget_claims(now / HOUR).exec()?;
    if part.len() < usize::from(PART) && counts == 0 {
        return Ok(());
    }
    let job = queue::job("expire", &json!({}))?;
    queue::enqueue(&[queue::Job { unique: Some(format!("after {}", task.id)), ..job }])?;
    Ok(())
}
