//! Follows, blocks and mutes of a viewer, cached in memory until their version increases.
//!
//! Reached from [`visibility`](crate::visibility), which interprets the relations. The version is in the row that
//! every request reads to load its [`Actor`], so a set is never older than the request, on this node or another.
//! [`follow`](crate::follow) and [`relationship`](crate::relationship) change relations.

use std::sync::Arc;

use context::Cx;
use context::error::Result;
use model::Actor;
use store::relation_set::{self, Relations};

/// The relations of `viewer`, at least as recent as the [`Actor`]. No statement unless they changed since they were
/// last read.
#[model::use_case]
pub async fn of(cx: &Cx, viewer: &Actor) -> Result<Arc<Relations>> {
    if let Some(relations) = cx.caches.relations.at_least(&viewer.id, viewer.relations_version) {
        return Ok(relations);
    }
    let relations = Arc::new(relation_set::find(&cx.db, viewer.id).await?);
    cx.caches.relations.insert_at(viewer.id, relations.version, Arc::clone(&relations));
    Ok(relations)
}
