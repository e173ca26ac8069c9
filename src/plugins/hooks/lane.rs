//! One batch of one lane of the outbox: read, handed to the plugin, removed in the transaction of the plugin's changes.
//!
//! Exactly once: the rows are deleted in the plugin's own transaction, which commits only when every one of them was
//! still there. A crash before that leaves everything as it was.

use std::sync::Arc;

use chrono::TimeDelta;
use rookery_plugin_host::exports::events::{Event, Subject};
use rookery_plugin_host::imports::types::Status;
use rookery_plugin_host::{CallError, CallErrorKind, Host, Part};

use super::outbox::{has_account, has_status};
use super::subscription::Subscription;
use super::table::FANOUT;
use crate::Cx;
use crate::call::{Call, Caller, Mode, feeds, records};
use context::Origin;
use context::change::ChangeKind;
use context::error::{Error, Result};
use model::{AccountId, StatusId};
use store::plugin_event::{self, EventLane, EventRow};

/// Attempts before an event is a dead letter (`parked`).
const ATTEMPTS: i64 = 8;
/// Back-off after the first failed attempt; four times as long after each further one.
const FIRST_BACK_OFF: TimeDelta = TimeDelta::seconds(1);
const LONGEST_BACK_OFF: TimeDelta = TimeDelta::minutes(5);
/// Delay when the event is not to blame: the plugin is busy, being replaced, or its breaker is open.
const BUSY_DELAY: TimeDelta = TimeDelta::seconds(5);
/// The shard to which failed `fanout` statuses are moved, so that they do not block others.
pub(super) const RETRY_SHARD: i64 = 1;

/// The outcome of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Batch {
    /// Nothing is due, or another server delivers it.
    Nothing,
    /// This many events were delivered.
    Done(usize),
    /// They were rescheduled, or are dead letters.
    Failed,
}

/// Why a batch failed.
#[derive(Debug)]
struct DeliveryError {
    message: String,
    /// The plugin is to blame, so it counts as an attempt.
    counts: bool,
}

impl From<CallError> for DeliveryError {
    fn from(error: CallError) -> Self {
        let counts = !matches!(error.kind, CallErrorKind::Busy | CallErrorKind::Open | CallErrorKind::Drained);
        Self { message: error.to_string(), counts }
    }
}
impl From<Error> for DeliveryError {
    fn from(error: Error) -> Self {
        Self { message: error.to_string(), counts: true }
    }
}

/// Delivers the first events of `lane` to `hook`.
///
/// # Errors
/// When the database fails; nothing was delivered then.
pub(super) async fn handle(cx: &Cx, hook: &Subscription, lane: EventLane) -> Result<Batch> {
    let rows = first(cx, hook, lane).await?;
    let Some(oldest) = rows.first() else { return Ok(Batch::Nothing) };
    let behind = (cx.clock.now() - oldest.created_at).as_seconds_f64();
    metrics::gauge!("rookery_plugin_events_lag_seconds", "plugin" => hook.active.name().to_owned(), "stream" => lane.stream)
        .set(behind);
    let delivered =
        Box::pin(deliver(&cx.with_origin(Origin::from_json(oldest.origin.as_deref())), hook, lane, &rows)).await;
    match delivered {
        Ok(true) => Ok(Batch::Done(rows.len())),
        Ok(false) => Ok(Batch::Nothing),
        Err(obstacle) => {
            reschedule(cx, hook, lane, &rows, &obstacle).await?;
            Ok(Batch::Failed)
        }
    }
}

/// The events of the next batch: due and of the same origin; a single one if it failed before.
async fn first(cx: &Cx, hook: &Subscription, lane: EventLane) -> Result<Vec<EventRow>> {
    let most = i64::try_from(hook.batch).unwrap_or(i64::MAX);
    let mut rows = plugin_event::list_next(&cx.db, lane, most).await?;
    let now = cx.clock.now();
    let Some(first) = rows.first().cloned() else { return Ok(rows) };
    if first.attempts > 0 {
        rows.truncate(1);
    }
    let fits = |row: &&EventRow| row.run_at <= now && row.origin == first.origin && row.attempts == first.attempts;
    let fitting = rows.iter().take_while(fits).count();
    rows.truncate(fitting);
    Ok(rows)
}

/// Calls the plugin and commits its changes. False when another server delivered the batch first.
async fn deliver(cx: &Cx, hook: &Subscription, lane: EventLane, rows: &[EventRow]) -> Result<bool, DeliveryError> {
    let author = rows.first().and_then(|first| first.actor_id).filter(|author| is_alone(*author, rows));
    let caller = Caller { author: author.map(AccountId::from), ..Caller::system() };
    let call = Call::new(cx, &hook.active, Part::Jobs, caller, Mode::Ambient);
    if cx.db.engine() == database::Engine::Postgres {
        let mut tx = call.ambient().await?;
        if !plugin_event::lock(&mut tx, lane).await.map_err(Error::from)? {
            return Ok(false);
        }
    }
    let component = &hook.active.component;
    if lane.stream == FANOUT {
        let statuses = placed(cx, hook, rows).await?;
        if !statuses.is_empty() {
            let host: Arc<dyn Host> = Arc::clone(&call) as _;
            let entries = hook.count(cx, async { component.fanout(Arc::clone(&host), statuses).await }).await?;
            for part in entries.chunks(feeds::ENTRIES) {
                let put = host.feeds_insert(part.to_vec()).await;
                put.map_err(|failure| DeliveryError { message: failure.message, counts: true })?;
            }
        }
    } else {
        let events = events(cx, hook, rows).await?;
        if !events.is_empty() {
            let host = Arc::clone(&call);
            hook.count(cx, async { component.events(host, events).await }).await?;
        }
    }
    commit(&call, rows).await
}

/// True when all of `rows` are acts of `author`.
fn is_alone(author: i64, rows: &[EventRow]) -> bool {
    rows.iter().all(|row| row.actor_id == Some(author))
}

/// Deletes `rows` and commits the changes of the call; false, and nothing committed, when some rows are gone already.
async fn commit(call: &Call, rows: &[EventRow]) -> Result<bool, DeliveryError> {
    let seqs: Vec<i64> = rows.iter().map(|row| row.seq).collect();
    let removed = plugin_event::delete(&mut *call.ambient().await?, &seqs).await.map_err(Error::from)?;
    if usize::try_from(removed).ok() != Some(rows.len()) {
        return Ok(false);
    }
    call.commit().await?;
    Ok(true)
}

/// The statuses of a `fanout` batch; those deleted meanwhile are skipped.
async fn placed(cx: &Cx, hook: &Subscription, rows: &[EventRow]) -> Result<Vec<Status>> {
    let ids: Vec<StatusId> = rows.iter().filter_map(|row| row.subject_id).map(StatusId::from).collect();
    let mut statuses = records::statuses(&cx.db, (&*hook.active).into(), &ids).await?;
    Ok(ids.iter().filter_map(|id| statuses.remove(id)).collect())
}

/// The events of a batch with their subjects: one query for each kind. A subject that is gone is passed by id where the
/// contract allows that; otherwise the event is skipped, since the deletion is an event as well.
async fn events(cx: &Cx, hook: &Subscription, rows: &[EventRow]) -> Result<Vec<Event>> {
    let kind = |row: &EventRow| row.kind.parse::<ChangeKind>().ok();
    let subjects = |wanted: fn(ChangeKind) -> bool| {
        let rows = rows.iter().filter(move |row| kind(row).is_some_and(wanted));
        rows.filter_map(|row| row.subject_id)
    };
    let ids: Vec<StatusId> = subjects(has_status).map(StatusId::from).collect();
    let statuses = records::statuses(&cx.db, (&*hook.active).into(), &ids).await?;
    let ids: Vec<AccountId> = subjects(has_account).map(AccountId::from).collect();
    let accounts = records::accounts(&cx.db, &ids).await?;
    let event = |row: &EventRow| {
        let subject = match (kind(row)?, row.subject_id) {
            (kind, Some(id)) if has_status(kind) => Subject::Status(statuses.get(&id.into())?.clone()),
            (kind, Some(id)) if has_account(kind) => Subject::Account(accounts.get(&id.into())?.clone()),
            (_, Some(id)) => Subject::Id(id),
            (_, None) => Subject::Json(row.payload.clone()?),
        };
        Some(Event {
            seq: u64::try_from(row.seq).unwrap_or_default(),
            kind: row.kind.clone(),
            at: row.created_at.timestamp_millis(),
            actor: row.actor_id,
            subject,
        })
    };
    Ok(rows.iter().filter_map(event).collect())
}

/// Reschedules a batch with back-off, or parks it as dead letters after the last attempt.
async fn reschedule(
    cx: &Cx,
    hook: &Subscription,
    lane: EventLane,
    rows: &[EventRow],
    obstacle: &DeliveryError,
) -> Result<()> {
    let seqs: Vec<i64> = rows.iter().map(|row| row.seq).collect();
    let attempts = rows.first().map_or(0, |row| row.attempts);
    let mut tx = cx.db.begin().await?;
    if obstacle.counts && attempts + 1 >= ATTEMPTS {
        plugin_event::dead_letter(&mut tx, &seqs, &obstacle.message).await?;
        let plugin = hook.active.name();
        metrics::counter!("rookery_plugin_events_parked_total", "plugin" => plugin.to_owned(), "stream" => lane.stream)
            .increment(seqs.len() as u64);
        tracing::error!(plugin.name = plugin, events = seqs.len(), error = %obstacle.message,
            "events of a plugin became dead letters: see rookery plugin inspect {plugin}");
    } else {
        let back_off = if obstacle.counts { back_off(attempts) } else { BUSY_DELAY };
        let shard = if lane.stream == FANOUT && obstacle.counts { RETRY_SHARD } else { lane.shard };
        let run_at = cx.clock.now() + back_off;
        plugin_event::reschedule(&mut tx, &seqs, shard, obstacle.counts, run_at, &obstacle.message).await?;
    }
    Ok(tx.commit().await?)
}

/// 1 s, 4 s, 16 s … 5 min.
fn back_off(attempts: i64) -> TimeDelta {
    let fourfold = u32::try_from(attempts.clamp(0, 10)).unwrap_or(0);
    (FIRST_BACK_OFF * 4_i32.pow(fourfold)).min(LONGEST_BACK_OFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_five_minutes() {
        assert_eq!(back_off(0), TimeDelta::seconds(1));
        assert_eq!(back_off(2), TimeDelta::seconds(16));
        assert_eq!(back_off(7), LONGEST_BACK_OFF);
    }

    #[test]
    fn unavailable_plugin_is_not_fault_of_events() {
        let error = |ended| CallError {
            kind: ended,
            message: String::new(),
            failure: None,
            backtrace: Vec::new(),
            person: None,
        };
        assert!(!DeliveryError::from(error(CallErrorKind::Open)).counts);
        assert!(!DeliveryError::from(error(CallErrorKind::Drained)).counts);
        assert!(DeliveryError::from(error(CallErrorKind::Trap)).counts);
        assert!(DeliveryError::from(error(CallErrorKind::Failure)).counts);
    }
}
