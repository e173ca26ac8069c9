//! How far someone has read, shared between their clients.
//!
//! Spec: contract rules, section 21.

use crate::app::App;
use crate::error::{Error, Result};
use model::Actor;
use model::marker::{MarkedTimeline, Marker};

/// The markers of `timelines` that `viewer` has set.
///
/// # Errors
/// When the database does.
pub async fn list(app: &App, viewer: &Actor, timelines: &[MarkedTimeline]) -> Result<Vec<Marker>> {
    if timelines.is_empty() {
        return Ok(Vec::new());
    }
    let mut markers = store::marker::list(&app.db, viewer.id).await?;
    markers.retain(|marker| timelines.contains(&marker.timeline));
    Ok(markers)
}

/// Sets `positions`, all or none; the version grows only where the value changes. Gives the markers of those timelines.
///
/// # Errors
/// [`Error::Invalid`] for a position below 0, [`Error::Conflict`] when another client moved one of them at this moment.
pub async fn save(app: &App, actor: &Actor, positions: &[(MarkedTimeline, i64)]) -> Result<Vec<Marker>> {
    if let Some((timeline, _)) = positions.iter().find(|(_, position)| *position < 0) {
        return Err(Error::invalid(format!("{timeline}[last_read_id] must be an id")));
    }
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    let current = store::marker::list(&mut tx, actor.id).await?;
    for (timeline, position) in positions.iter().copied() {
        let saved = match current.iter().find(|marker| marker.timeline == timeline) {
            None => store::marker::insert(&mut tx, actor.id, timeline, position, now).await?,
            Some(marker) if marker.last_read_id == position => true,
            Some(marker) => store::marker::update(&mut tx, actor.id, timeline, marker.version, position, now).await?,
        };
        if !saved {
            return Err(Error::Conflict("Conflict during update, please try again".into()));
        }
    }
    let mut saved = store::marker::list(&mut tx, actor.id).await?;
    tx.commit().await?;
    saved.retain(|marker| positions.iter().any(|(timeline, _)| *timeline == marker.timeline));
    Ok(saved)
}
