//! Events of the server: blocks, and accounts that were deleted.

use rookery_plugin::prelude::*;

use crate::{sql, tell};

/// A block in either direction removes both from each other's collections. Rows that belong to a deleted account as an owner
/// are deleted by the server.
#[on(events)]
fn hear(batch: &[Event]) -> Result<()> {
    let mut ended = Vec::new();
    for event in batch.iter().filter(|event| event.kind == "account.blocked") {
        let (one, other) = event.pair("account", "target")?;
        ended.extend([sql::forget_pair(one, other), sql::forget_pair(other, one)]);
    }
    let removed = if ended.is_empty() { Vec::new() } else { sql::batch(ended)? };
    let items: Vec<Id> = removed.into_iter().flat_map(|rows| rows.values).filter_map(|value| id(&value)).collect();
    tell::retract(&items)?;
    let purged: Vec<i64> = batch.iter().filter(|event| event.kind == "account.purged").filter_map(Event::id).collect();
    if !purged.is_empty() {
        sql::forget_listed(purged).exec()?;
    }
    Ok(())
}

fn id(value: &sql::Value) -> Option<Id> {
    if let sql::Value::Integer(id) = value { Some(Id(*id)) } else { None }
}
