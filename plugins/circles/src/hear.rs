//! Events: statuses that enter a circle's history and leave it, and follows that end.

use std::collections::BTreeMap;

use rookery_plugin::prelude::*;

use crate::sql;

/// The data that the filter stored with a status.
#[derive(Deserialize)]
struct CircleExtra {
    circle: Id,
}

/// This data in the event, under this plugin's name.
#[derive(Default, Deserialize)]
struct Further {
    circles: Option<CircleExtra>,
}

#[on(events)]
fn hear(batch: &[Event]) -> Result<()> {
    let mut posted: Vec<(Id, i64, i64)> = Vec::new();
    for status in batch.iter().filter(|event| event.kind == "status.created").filter_map(Event::status) {
        posted.extend(circle_of(status)?.map(|circle| (circle, status.id, status.account)));
    }
    enter(posted)?;
    let deleted: Vec<i64> = batch.iter().filter(|event| event.kind == "status.deleted").filter_map(Event::id).collect();
    if !deleted.is_empty() {
        sql::forget_statuses(deleted).exec()?;
    }
    let mut ended: Vec<(Id, Id)> = Vec::new();
    for event in batch.iter().filter(|event| event.kind == "follow.deleted") {
        let (member, owner) = event.pair("account", "target")?;
        ended.push((owner, member));
    }
    sql::many::forget_member(ended)?;
    Ok(())
}

/// The circle that a status was posted to.
fn circle_of(status: &Status) -> Result<Option<Id>> {
    let further = status.extra.as_deref().map(serde_json::from_str::<Further>).transpose()?;
    Ok(further.and_then(|further| further.circles).map(|kept| kept.circle))
}

/// Adds (circle, status, author) to the histories of circles that are still there, and are the author's.
fn enter(posted: Vec<(Id, i64, i64)>) -> Result<()> {
    if posted.is_empty() {
        return Ok(());
    }
    let circles: Vec<i64> = posted.iter().map(|(circle, ..)| circle.0).collect();
    let owners: BTreeMap<i64, i64> = sql::known(circles).all::<(i64, i64)>()?.into_iter().collect();
    sql::many::enter(posted.into_iter().filter(|(circle, _, author)| owners.get(&circle.0) == Some(author)))?;
    Ok(())
}
