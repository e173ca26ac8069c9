//! Deletes reactions with their statuses. The host deletes the reactions of a deleted account.

use rookery_plugin::prelude::*;

use crate::{sql, tell};

/// How many reactions are looked at or deleted in one go.
const PART: u16 = 1_000;

/// An emoji that is gone, or cannot be used for now.
#[derive(Deserialize)]
struct Gone {
    id: Id,
}

/// Reactions go with their status and their emoji.
#[on(events)]
fn forget(batch: &[Event]) -> Result<()> {
    let deleted: Vec<i64> = batch.iter().filter(|event| event.kind == "status.deleted").filter_map(Event::id).collect();
    if !deleted.is_empty() {
        sql::forget_statuses(deleted).exec()?;
    }
    if batch.iter().any(|event| event.kind == "account.purged") {
        look_after(0)?;
    }
    for event in batch.iter().filter(|event| event.kind == "emoji.deleted") {
        forget_emoji(&event.json()?)?;
    }
    Ok(())
}

/// Forgets the reactions with an emoji that is gone for good.
fn forget_emoji(gone: &Gone) -> Result<()> {
    loop {
        let forgotten: Vec<(i64, i64)> = sql::forget_emoji(gone.id, PART).all()?;
        if forgotten.is_empty() {
            return Ok(());
        }
        let (reactions, statuses): (Vec<i64>, Vec<i64>) = forgotten.into_iter().unzip();
        tell::retract(&reactions)?;
        core_write::touch("status", &statuses)?;
    }
}

/// The statuses of an account that is gone go without an event each: all reactions are looked at, a part in each job.
#[job("forget_missing")]
fn forget_missing(task: &Task) -> Result<()> {
    let after: i64 = task.payload()?;
    let part: Vec<i64> = sql::some(after, PART).all()?;
    let Some(last) = part.last() else { return Ok(()) };
    sql::forget_missing(after, *last).exec()?;
    if part.len() < usize::from(PART) { Ok(()) } else { look_after(*last) }
}

/// Queues the part after a reaction, unless it waits already.
fn look_after(reaction: i64) -> Result<()> {
    let job = queue::job("forget_missing", &reaction)?;
    queue::enqueue(&[queue::Job { unique: Some(reaction.to_string()), ..job }])?;
    Ok(())
}
