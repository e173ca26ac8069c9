//! Read positions (markers) of timelines, shared between a user's clients.
//!
//! Spec: docs/contract/rules.md#21-markers.

use context::Cx;
use context::error::{Error, Result};
use model::Actor;
use model::marker::{MarkedTimeline, Marker};

/// The markers of `timelines` that `viewer` has set.
#[model::use_case]
pub async fn list(cx: &Cx, viewer: &Actor, timelines: &[MarkedTimeline]) -> Result<Vec<Marker>> {
    if timelines.is_empty() {
        return Ok(Vec::new());
    }
    let mut markers = store::marker::list(&cx.db, viewer.id).await?;
    markers.retain(|marker| timelines.contains(&marker.timeline));
    Ok(markers)
}

/// Sets `positions`, all or none, and returns the markers of those timelines. A version grows only when its value
/// changes.
///
/// # Errors
/// [`Error::Invalid`] for a negative position, [`Error::Conflict`] when another client changed one concurrently.
#[model::use_case]
pub async fn save(cx: &Cx, actor: &Actor, positions: &[(MarkedTimeline, i64)]) -> Result<Vec<Marker>> {
    if let Some((timeline, _)) = positions.iter().find(|(_, position)| *position < 0) {
        return Err(Error::invalid(format!("{timeline}[last_read_id] must be an id")));
    }
    let now = cx.clock.now();
    let mut tx = cx.db.begin().await?;
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
