//! `List.antennas`: a list is shown with the antennas that write to it.

use rookery_plugin::prelude::*;

use crate::sql;

/// An antenna as its list shows it.
#[derive(Row, Serialize)]
struct Writing {
    #[serde(skip)]
    list_id: i64,
    id: Id,
    title: String,
    stl: bool,
}

/// Adds the antennas to lists: one statement for all of them.
#[on(decorate, kind = "list")]
fn lists(_viewer: Option<Id>, targets: &[Target]) -> Result<Extras> {
    let mut extras = Extras::new();
    let ids: Vec<i64> = targets.iter().map(|target| target.id).collect();
    let all: Vec<Writing> = sql::writing_to(&ids).all()?;
    for (index, target) in targets.iter().enumerate() {
        let own: Vec<&Writing> = all.iter().filter(|antenna| antenna.list_id == target.id).collect();
        if !own.is_empty() {
            extras.set(index, "antennas", &own)?;
        }
    }
    Ok(extras)
}
