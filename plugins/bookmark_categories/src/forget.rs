//! What goes, and the entries that go with it.

use rookery_plugin::prelude::*;

use crate::sql;

/// How many statuses one job looks at.
const PART: u16 = 1_000;

/// Entries go with their bookmark and with their status.
#[on(events)]
fn forget(batch: &[Event]) -> Result<()> {
    let deleted: Vec<i64> = batch.iter().filter(|event| event.kind == "status.deleted").filter_map(Event::id).collect();
    if !deleted.is_empty() {
        sql::forget_statuses(deleted).exec()?;
    }
    for event in batch.iter().filter(|event| event.kind == "bookmark.deleted") {
        let (account, status) = event.pair("account", "status")?;
        sql::forget_bookmark(account, status, event.at).exec()?;
    }
    if batch.iter().any(|event| event.kind == "account.purged") {
        look_after(0)?;
    }
    Ok(())
}

/// The statuses of an account that is gone go without an event each: all entries are looked at, a part in each job.
#[job("forget_missing")]
fn forget_missing(task: &Task) -> Result<()> {
    let after: i64 = task.payload()?;
    let part: Vec<i64> = sql::filed(after, PART).all()?;
    let Some(last) = part.last() else { return Ok(()) };
    sql::forget_missing(after, *last).exec()?;
    if part.len() < usize::from(PART) { Ok(()) } else { look_after(*last) }
}

/// Queues the part after a status, unless it waits already.
fn look_after(status: i64) -> Result<()> {
    let job = queue::job("forget_missing", &status)?;
    queue::enqueue(&[queue::Job { unique: Some(status.to_string()), ..job }])?;
    Ok(())
}
