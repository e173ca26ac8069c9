//! The heads of statuses, in memory: on SQLite a page of statuses that nobody changed is decided about without reading
//! them again.
//!
//! Reached from [`visibility`](super::visibility), which decides what they mean. On PostgreSQL, where other nodes change
//! them, none is kept.

use quick_cache::sync::Cache;

use crate::Cx;
use crate::error::Result;
use database::versions::{Dependency, Versions};
use model::StatusId;
use store::status::Head;

/// Most heads that are kept, about 150 bytes each.
const HEADS: usize = 20_000;

/// Heads by status.
#[derive(Debug)]
pub struct HeadsCache(Cache<StatusId, Kept>);

/// A head, and when it was read.
#[derive(Clone, Copy, Debug)]
struct Kept {
    head: Head,
    noted: u64,
}

impl Default for HeadsCache {
    fn default() -> Self {
        Self(Cache::new(HEADS))
    }
}

impl HeadsCache {
    /// Forgets all of them.
    pub fn clear(&self) {
        self.0.clear();
    }

    fn get(&self, versions: &Versions, id: StatusId) -> Option<Head> {
        let Kept { head, noted } = self.0.get(&id)?;
        let dependencies = [Dependency::Status(head.id), Dependency::Account(head.account_id)];
        versions.is_current(noted, &dependencies).then_some(head)
    }

    /// Adds the head of `id` to `found`, and that of its original; false when one is not kept.
    fn take(&self, versions: &Versions, id: StatusId, found: &mut Vec<Head>) -> bool {
        let Some(head) = self.get(versions, id) else { return false };
        if let Some(original) = head.reblog_of_id {
            let Some(original) = self.get(versions, original) else { return false };
            found.push(original);
        }
        found.push(head);
        true
    }
}

/// Heads of the statuses that exist among `ids` and of the originals of reblogs among them, ordered by id, each once: one
/// statement, or none when all are kept.
pub async fn find(cx: &Cx, ids: &[StatusId]) -> Result<Vec<Head>> {
    let Some(versions) = cx.db.versions() else { return Ok(store::status::heads(&cx.db, ids).await?) };
    let mut found = Vec::with_capacity(2 * ids.len());
    let missing: Vec<StatusId> = ids.iter().copied().filter(|id| !cx.heads.take(versions, *id, &mut found)).collect();
    if !missing.is_empty() {
        let noted = versions.now();
        for head in store::status::heads(&cx.db, &missing).await? {
            cx.heads.0.insert(head.id, Kept { head, noted });
            found.push(head);
        }
    }
    found.sort_unstable_by_key(|head| head.id);
    found.dedup_by_key(|head| head.id);
    Ok(found)
}
