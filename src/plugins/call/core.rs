//! Reads core data (contract: interface `core`). Each function runs as many queries for a thousand items as for one.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use rookery_plugin_host::ByteSize;
use rookery_plugin_host::host::Core;
use rookery_plugin_host::imports::core::Emoji;
use rookery_plugin_host::imports::types::{Account, Failure, Page, Relationship, Status, Viewer};

use super::Call;
use super::result_budget::Room;
use crate::call::records::{self, Reader};
use crate::failure::{OrFailure as _, at_most};
use model::{AccountId, Actor, Cursor, StatusId};

/// Most ids or names of one call.
const ITEMS: usize = 1_000;
/// Most candidate ids among which followers are looked up.
const AMONG: usize = 100_000;

#[async_trait]
impl Core for Call {
    async fn statuses(&self, viewer: Viewer, ids: Vec<i64>) -> Result<Vec<Option<Status>>, Failure> {
        let eyes = self.eyes(viewer).await?;
        at_most(ids.len(), ITEMS, "ids")?;
        let seen = self.seen(&eyes, &distinct(&ids)).await?;
        let shown: Vec<StatusId> = seen.iter().map(|seen| seen.head().id).collect();
        let mut reader = Reader::from(&*self.active);
        // As the caller may read them with the same token; a hook has no token.
        let reads = |caller: &Actor| caller.scopes.allows(&["read:statuses"]);
        reader.private |= !self.caller.scopes.is_empty() && self.caller.actor.as_deref().is_some_and(reads);
        let mut found = records::statuses(&self.cx.db, reader, &shown).await.or_failure()?;
        in_order(&ids, &mut self.room(), |id| found.remove(&StatusId::from(id)))
    }

    async fn accounts(&self, ids: Vec<i64>) -> Result<Vec<Option<Account>>, Failure> {
        self.need_core("read")?;
        at_most(ids.len(), ITEMS, "ids")?;
        let mut found = records::accounts(&self.cx.db, &distinct(&ids)).await.or_failure()?;
        in_order(&ids, &mut self.room(), |id| found.remove(&AccountId::from(id)))
    }

    async fn accounts_by_acct(&self, accts: Vec<String>) -> Result<Vec<Option<Account>>, Failure> {
        self.need_core("read")?;
        at_most(accts.len(), ITEMS, "names")?;
        let handles: Vec<Option<String>> = accts.iter().map(|acct| self.normal_acct(acct)).collect();
        let wanted: Vec<String> = handles.iter().flatten().cloned().collect();
        if wanted.is_empty() {
            return Ok(vec![None; handles.len()]);
        }
        let rows = store::account::list_by_handles(&self.cx.db, &wanted).await.or_failure()?;
        let ids: HashMap<String, i64> = rows.iter().map(|row| (row.acct().to_lowercase(), row.id.into())).collect();
        let of = |handle: &Option<String>| handle.as_ref().and_then(|handle| ids.get(handle)).copied();
        // Id 0 is not an account: it represents unknown handles.
        self.accounts(handles.iter().map(|handle| of(handle).unwrap_or(0)).collect()).await
    }

    async fn relationships(&self, of: i64, others: Vec<i64>) -> Result<Vec<Relationship>, Failure> {
        self.need_core("read")?;
        at_most(others.len(), ITEMS, "ids")?;
        let now = self.cx.clock.now();
        let ties = store::relationship::list(&self.cx.db, of.into(), &distinct(&others), now).await.or_failure()?;
        let all = self.is_caller(of.into()) || self.need_core("read-as-any").is_ok();
        let shown = |other: AccountId| if all || self.is_caller(other) { u32::MAX } else { !SECRET };
        let bits: HashMap<i64, u32> = ties.iter().map(|tie| (tie.id.into(), bits(tie) & shown(tie.id))).collect();
        let relationship =
            |account: &i64| Relationship { account: *account, bits: bits.get(account).copied().unwrap_or(0) };
        Ok(others.iter().map(relationship).collect())
    }

    async fn visible(&self, viewer: Viewer, ids: Vec<i64>) -> Result<Vec<bool>, Failure> {
        let eyes = self.eyes(viewer).await?;
        at_most(ids.len(), ITEMS, "ids")?;
        let seen = self.seen(&eyes, &distinct(&ids)).await?;
        let seen: HashSet<i64> = seen.iter().map(|seen| seen.head().id.into()).collect();
        Ok(ids.iter().map(|id| seen.contains(id)).collect())
    }

    async fn followers_among(&self, of: i64, among: Vec<i64>) -> Result<Vec<i64>, Failure> {
        self.need_core("read")?;
        at_most(among.len(), AMONG, "ids")?;
        let found =
            store::follow::list_followers_among(&self.cx.db, of.into(), &distinct(&among)).await.or_failure()?;
        let found: HashSet<i64> = found.into_iter().map(i64::from).collect();
        Ok(among.into_iter().filter(|id| found.contains(id)).collect())
    }

    async fn emojis(&self, names: Vec<String>) -> Result<Vec<Option<Emoji>>, Failure> {
        self.read_emojis(names).await
    }

    async fn normalise(&self, kind: String, texts: Vec<String>) -> Result<Vec<Option<String>>, Failure> {
        self.normal_forms(&kind, &texts)
    }
}

/// The cursor of a page; `default` applies without a limit, `most` caps it.
pub(super) fn cursor(page: &Page, (default, most): (i64, i64)) -> Cursor {
    let limit = match page.limit {
        0 => default,
        limit => i64::from(limit).min(most),
    };
    Cursor { limit, max_id: page.max_id, since_id: page.since_id, min_id: page.min_id }
}

/// The distinct ids, as any id type.
pub(super) fn distinct<T: From<i64>>(ids: &[i64]) -> Vec<T> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    ids.into_iter().map(T::from).collect()
}

/// One result for each of `ids`, in order; duplicates are repeated, and count as often in `room`.
fn in_order<T: Clone + ByteSize>(
    ids: &[i64],
    room: &mut Room<'_>,
    mut take: impl FnMut(i64) -> Option<T>,
) -> Result<Vec<Option<T>>, Failure> {
    let mut taken: HashMap<i64, Option<T>> = HashMap::with_capacity(ids.len());
    let mut one = |id: &i64| {
        let found = taken.entry(*id).or_insert_with(|| take(*id));
        room.take(found)?;
        Ok(found.clone())
    };
    ids.iter().map(&mut one).collect()
}

/// Bits that only the two accounts may know: blocking, blocked by, muting, domain blocking, notifying.
const SECRET: u32 = 4 | 8 | 16 | 64 | 256;

/// The relationship as the contract's bits.
fn bits(tie: &store::relationship::RelationshipRow) -> u32 {
    let bits = [
        (tie.following, 1),
        (tie.followed_by, 2),
        (tie.blocking, 4),
        (tie.blocked_by, 8),
        (tie.muting, 16),
        (tie.requested, 32),
        (tie.domain_blocking, 64),
        (tie.endorsed, 128),
        (tie.notify && tie.following, 256),
    ];
    bits.into_iter().filter(|(set, _)| *set).map(|(_, bit)| bit).sum()
}
