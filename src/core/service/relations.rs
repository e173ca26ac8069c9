//! What a viewer follows, blocks and mutes, in memory: read once, and again when its version says that it changed.
//!
//! Reached from [`visibility`](super::visibility), which decides what the relations mean. The version is in the row that
//! every request reads to know its [`Actor`], so a set is never older than the request, on this node or another. Changing
//! relations is the work of [`follow`](super::follow) and [`relationship`](super::relationship).

use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::Cx;
use crate::error::Result;
use model::{AccountId, Actor};
use store::relation_set::{self, Relations};

/// Capacity, in bytes. A set takes 8 bytes for each account that is followed, and 150 besides.
const BYTES: u64 = 32 * 1024 * 1024;
/// Expected number of entries. Lower than it could be, because it limits the number of shards to 8, each of which must
/// have room for the largest set.
const ENTRIES: usize = 256;

/// Relations by account.
#[derive(Debug)]
pub struct RelationsCache(Cache<AccountId, Arc<Relations>, Bytes>);

#[derive(Clone, Debug)]
struct Bytes;

impl Weighter<AccountId, Arc<Relations>> for Bytes {
    fn weight(&self, _: &AccountId, relations: &Arc<Relations>) -> u64 {
        relations.size_bytes() as u64
    }
}

impl Default for RelationsCache {
    fn default() -> Self {
        Self(Cache::with_weighter(ENTRIES, BYTES, Bytes))
    }
}

/// The relations of `viewer`, as they were when it was read as an [`Actor`] or later: no statement unless they changed
/// since they were last asked for.
pub async fn of(cx: &Cx, viewer: &Actor) -> Result<Arc<Relations>> {
    let kept = cx.relations.0.get(&viewer.id).filter(|kept| kept.version >= viewer.relations_version);
    if let Some(relations) = kept {
        return Ok(relations);
    }
    let relations = Arc::new(relation_set::find(&cx.db, viewer.id).await?);
    cx.relations.0.insert(viewer.id, Arc::clone(&relations));
    Ok(relations)
}
