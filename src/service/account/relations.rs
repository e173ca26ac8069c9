//! Follows, blocks and mutes of a viewer, from memory: read once, and again when their version grew.
//!
//! Reached from [`visibility`](crate::visibility), which decides what the relations mean. The version is in the row that
//! every request reads to know its [`Actor`], so a set is never older than the request, on this node or another. Changing
//! relations is the work of [`follow`](crate::follow) and [`relationship`](crate::relationship).

use std::sync::Arc;

use context::Cx;
use context::error::Result;
use model::Actor;
use store::relation_set::{self, Relations};

/// The relations of `viewer`, as they were when it was read as an [`Actor`] or later: no statement unless they changed
/// since they were last read.
#[model::use_case]
pub async fn of(cx: &Cx, viewer: &Actor) -> Result<Arc<Relations>> {
    if let Some(relations) = cx.caches.relations.at_least(&viewer.id, viewer.relations_version) {
        return Ok(relations);
    }
    let relations = Arc::new(relation_set::find(&cx.db, viewer.id).await?);
    cx.caches.relations.insert_at(viewer.id, relations.version, Arc::clone(&relations));
    Ok(relations)
}
