//! The heads of statuses, from memory while SQLite reports no change of their rows.
//!
//! Reached from [`visibility`](crate::visibility), which interprets them.

use context::Cx;
use context::caches::before_read;
use context::error::Result;
use database::versions::Dependency;
use model::StatusId;
use store::status::Head;

/// Heads of the statuses that exist among `ids` and of the originals of reblogs among them, ordered by id, each once.
/// One statement, or none when all are cached.
#[model::use_case]
pub async fn find(cx: &Cx, ids: &[StatusId]) -> Result<Vec<Head>> {
    let mut found = Vec::with_capacity(2 * ids.len());
    let missing: Vec<StatusId> = ids.iter().copied().filter(|id| !take(cx, *id, &mut found)).collect();
    if !missing.is_empty() {
        let read = before_read(&cx.db);
        for head in store::status::heads(&cx.db, &missing).await? {
            if let Some(read) = read {
                cx.caches.heads.insert_at(head.id, read, head);
            }
            found.push(head);
        }
    }
    found.sort_unstable_by_key(|head| head.id);
    found.dedup_by_key(|head| head.id);
    Ok(found)
}

/// Adds the head of `id` to `found`, and the head of its original; false when one is not cached.
fn take(cx: &Cx, id: StatusId, found: &mut Vec<Head>) -> bool {
    let Some(head) = cached(cx, id) else { return false };
    if let Some(original) = head.reblog_of_id {
        let Some(original) = cached(cx, original) else { return false };
        found.push(original);
    }
    found.push(head);
    true
}

fn cached(cx: &Cx, id: StatusId) -> Option<Head> {
    let rows = |head: &Head| [Dependency::Status(head.id), Dependency::Account(head.account_id)];
    cx.caches.heads.unchanged(&cx.db, &id, rows)
}
