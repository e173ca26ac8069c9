//! What reactions make of a status that may trend.
//!
//! Spec: the contract's matrix of seams, row "trends".

use std::collections::HashMap;

use rookery_plugin::prelude::*;

use crate::sql;

/// What everybody who reacts adds, where a favourite is 1.
const WEIGHT: f64 = 0.8;
/// How many statuses a statement looks at.
const PART: usize = 100;

/// Adds the people who reacted to the use of statuses.
#[on(decorate, kind = "trend")]
fn trends(_viewer: Option<Id>, targets: &[Target]) -> Result<Extras> {
    let statuses: Vec<i64> = targets.iter().map(|target| target.id).collect();
    let mut people: HashMap<i64, u32> = HashMap::new();
    for part in statuses.chunks(PART) {
        let rows: Vec<(i64, u32)> = sql::reactors(part).all()?;
        people.extend(rows);
    }
    let mut extras = Extras::new();
    for (index, target) in targets.iter().enumerate() {
        if let Some(people) = people.get(&target.id) {
            extras.set(index, "weight", &(WEIGHT * f64::from(*people)))?;
        }
    }
    Ok(extras)
}
