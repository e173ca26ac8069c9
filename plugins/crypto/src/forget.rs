//! Deletes devices and messages after revoked tokens and deleted accounts.
//!
//! A device is hidden from the moment at which its token is revoked (`devices_of` reads tokens). The event deletes its
//! row; deletions without an event, while the plugin was off, are found once a day.

use rookery_plugin::prelude::*;

use crate::{device, sql};

/// How many devices one job looks at.
const PART: u16 = 1_000;

/// Devices go with their tokens, and messages with who sent them.
#[on(events)]
fn forget(batch: &[Event]) -> Result<()> {
    let revoked = || batch.iter().filter(|event| event.kind == "token.revoked");
    let tokens: Vec<i64> = revoked().filter_map(Event::id).collect();
    if !tokens.is_empty() {
        device::hold(revoked().filter_map(|event| event.actor))?;
        sql::forget_tokens(tokens).exec()?;
    }
    let purged = batch.iter().filter(|event| event.kind == "account.purged");
    let purged: Vec<i64> = purged.filter_map(Event::id).collect();
    if !purged.is_empty() {
        sql::forget_senders(purged).exec()?;
    }
    Ok(())
}

/// Where to look on.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Part {
    after: i64,
}

/// Devices whose tokens are gone, a part in each job.
#[job("sweep")]
fn sweep(task: &Task) -> Result<()> {
    let Part { after } = task.payload()?;
    let part: Vec<i64> = sql::devices_after(after, PART).all()?;
    let Some(last) = part.last() else { return Ok(()) };
    sql::sweep(after, *last).exec()?;
    if part.len() < usize::from(PART) {
        return Ok(());
    }
    let job = queue::job("sweep", &Part { after: *last })?;
    queue::enqueue(&[queue::Job { unique: Some(last.to_string()), ..job }])?;
    Ok(())
}
