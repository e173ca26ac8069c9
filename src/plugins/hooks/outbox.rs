//! The outbox: events for plugins, written in the transaction of the change they report.
//!
//! Reached from the core's change log through the extension port. Where no plugin listens, that is a lookup in memory.
//! Delivery is in `dispatch`.

use super::table::Hooks;
use crate::cx::Session;
use crate::hooks::table::{EVENTS, FANOUT};
use crate::{Cx, Registry};
use async_trait::async_trait;
use context::change::{Change, ChangeKind};
use context::extension::ReceiveChanges;
use context::queue::{self, RecordChanges};
use context::{Origin, Result};
use database::Tx;
use model::AccountId;
use store::plugin_event::NewEvent;

/// Shards: events of one plugin that are delivered in parallel; events of one account share a shard and stay in order.
pub const SHARDS: i64 = 16;
#[async_trait]
impl ReceiveChanges for Session {
    fn listens_to(&self, kind: ChangeKind) -> bool {
        self.plugins.run_elsewhere() || self.ask(|registry| listens_to(registry, kind))
    }

    async fn record(&self, cx: &context::Cx, tx: &mut Tx, changes: &[Change]) -> Result<()> {
        if !self.plugins.run_elsewhere() && self.ask(|registry| registry.hooks.listeners().is_empty()) {
            return Ok(());
        }
        record(&Cx::of(cx)?, tx, changes).await
    }
}

/// True when plugins are given the status.
pub(super) fn has_status(kind: ChangeKind) -> bool {
    matches!(kind, ChangeKind::StatusPublished | ChangeKind::StatusEdited)
}

/// True when plugins are given the account.
pub(super) fn has_account(kind: ChangeKind) -> bool {
    matches!(kind, ChangeKind::AccountCreated | ChangeKind::AccountUpdated | ChangeKind::AccountSuspended)
}

/// The shard of `account`. Ids of one server hardly differ in their last bits, so all bits are hashed.
fn shard(account: AccountId) -> i64 {
    let mixed = i64::from(account).cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    mixed.cast_signed().rem_euclid(SHARDS)
}

/// True when a plugin subscribes to `kind`.
#[must_use]
pub fn listens_to(registry: &Registry, kind: ChangeKind) -> bool {
    registry.hooks.listeners().iter().any(|one| one.stream == EVENTS && one.has_kind(kind.as_str()))
}

/// Writes `changes` to the outbox for the plugins that subscribe to them, in one statement or none. A command beside
/// the server runs no plugins: it queues a job that does this in a process that does.
pub async fn record(cx: &Cx, tx: &mut Tx, changes: &[Change]) -> Result<()> {
    if cx.plugins.run_elsewhere() {
        return queue::enqueue(cx, tx, &RecordChanges { changes: changes.to_vec() }).await;
    }
    let registry = cx.registry();
    let rows: Vec<NewEvent> = changes.iter().flat_map(|change| rows(&registry.hooks, change, cx.origin())).collect();
    if rows.is_empty() {
        return Ok(());
    }
    Ok(store::plugin_event::insert(tx, rows, cx.clock.now()).await?)
}

/// One row for each plugin and stream that subscribes to `change`: none for a plugin in its `origin`, so that no plugin
/// reacts to itself in a loop, none for one that is so far behind that its quota of events is exhausted, and none at all
/// where the origin is too deep.
fn rows(hooks: &Hooks, change: &Change, origin: &Origin) -> Vec<NewEvent> {
    let kind = change.kind();
    let Some(event) = change.event() else { return Vec::new() };
    let mut rows: Vec<NewEvent> = Vec::new();
    for listener in hooks.listeners() {
        let stream = listener.stream;
        let subscribed = if stream == FANOUT { has_status(kind) } else { listener.has_kind(kind.as_str()) };
        let wanted = subscribed && event.traits.is_none_or(|traits| listener.when.admits(&traits));
        // A plugin with two hooks for the same kind gets one event.
        let known = rows.iter().any(|row| row.plugin == listener.plugin && row.stream == stream);
        if wanted && !known && origin.allows(listener.plugin) && listener.keeps_one() {
            rows.push(NewEvent {
                plugin: listener.plugin,
                stream,
                shard: if stream == FANOUT { 0 } else { shard(event.account) },
                kind: kind.as_str(),
                actor: event.actor.map(i64::from),
                subject: event.subject,
                payload: event.payload.clone(),
                origin: origin.to_json(),
            });
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn accounts_made_second_by_second_stand_in_many_lines() {
        let ids = (0..200).map(|second| (1_768_478_400_000 + second * 1000) << 16 | 7);
        let shards: HashSet<i64> = ids.map(|id| shard(AccountId::from(id))).collect();
        assert_eq!(shards.len(), 16);
        assert!(shards.iter().all(|shard| (0..SHARDS).contains(shard)));
    }
}
