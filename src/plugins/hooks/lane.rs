//! One batch of one lane of the outbox: read, handed to the plugin, removed in the transaction of what it did.
//!
//! Exactly once: rows go in the plugin's own transaction, and only when every one of them is still there. A kill before
//! that leaves everything as it was.

use std::sync::Arc;

use chrono::TimeDelta;
use rookery_plugin_host::exports::events::{Event, Subject};
use rookery_plugin_host::imports::types::Status;
use rookery_plugin_host::{CallError, Ended, Host as _};

use super::outbox::{FANOUT, Kind};
use super::subscription::Subscription;
use crate::app::App;
use crate::error::{Error, Result};
use crate::plugins::call::{Call, Caller, Mode, feeds};
use crate::plugins::origin::Origin;
use crate::plugins::records;
use model::{AccountId, StatusId};
use store::plugin_event::{self, EventRow, Lane};

/// So often an event is tried before it is laid aside.
const ATTEMPTS: i64 = 8;
/// The pause after the first attempt; each further one is four times as long.
const FIRST_PAUSE: TimeDelta = TimeDelta::seconds(1);
/// The longest pause.
const LONGEST_PAUSE: TimeDelta = TimeDelta::minutes(5);
/// The pause when it is not the event's fault: the plugin is busy, being replaced, or kept from being called.
const BUSY_PAUSE: TimeDelta = TimeDelta::seconds(5);
/// Where statuses wait that are to be placed once more, so that they keep no other waiting.
pub(super) const AGAIN: i64 = 1;

/// What became of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Batch {
    /// Nothing is due, or another server does it.
    Nothing,
    /// So many events are done.
    Done(usize),
    /// They are put off, or laid aside.
    Failed,
}

/// Why a batch is to be tried again.
#[derive(Debug)]
struct Obstacle {
    message: String,
    /// It was the plugin's doing, and counts.
    counts: bool,
}

impl From<CallError> for Obstacle {
    fn from(error: CallError) -> Self {
        let counts = !matches!(error.ended, Ended::Busy | Ended::Open | Ended::Drained);
        Self { message: error.to_string(), counts }
    }
}
impl From<Error> for Obstacle {
    fn from(error: Error) -> Self {
        Self { message: error.to_string(), counts: true }
    }
}

/// Handles the first events of `lane` by `hook`.
///
/// # Errors
/// When the database does; nothing happened then.
pub(super) async fn handle(app: &App, hook: &Subscription, lane: Lane) -> Result<Batch> {
    let rows = first(app, hook, lane).await?;
    let Some(oldest) = rows.first() else { return Ok(Batch::Nothing) };
    let behind = (app.clock.now() - oldest.created_at).as_seconds_f64();
    metrics::gauge!("rookery_plugin_events_lag_seconds", "plugin" => hook.active.name().to_owned(), "stream" => lane.stream)
        .set(behind);
    let told = Origin::from_json(oldest.origin.as_deref()).scope(Box::pin(tell(app, hook, lane, &rows))).await;
    match told {
        Ok(true) => Ok(Batch::Done(rows.len())),
        Ok(false) => Ok(Batch::Nothing),
        Err(obstacle) => {
            put_off(app, hook, lane, &rows, &obstacle).await?;
            Ok(Batch::Failed)
        }
    }
}

/// The events of the next batch: due, led to by the same plugins; one alone when it failed before.
async fn first(app: &App, hook: &Subscription, lane: Lane) -> Result<Vec<EventRow>> {
    let most = i64::try_from(hook.batch).unwrap_or(i64::MAX);
    let mut rows = plugin_event::head(&app.db, lane, most).await?;
    let now = app.clock.now();
    let Some(first) = rows.first().cloned() else { return Ok(rows) };
    if first.attempts > 0 {
        rows.truncate(1);
    }
    let fits = |row: &&EventRow| row.run_at <= now && row.origin == first.origin && row.attempts == first.attempts;
    let fitting = rows.iter().take_while(fits).count();
    rows.truncate(fitting);
    Ok(rows)
}

/// Tells the plugin, and commits what it does about it. False when somebody else was faster.
async fn tell(app: &App, hook: &Subscription, lane: Lane, rows: &[EventRow]) -> Result<bool, Obstacle> {
    let call = Call::new(app, &hook.active, Caller::system(), Mode::Ambient);
    if app.db.engine() == store::Engine::Postgres {
        let mut tx = call.ambient().await?;
        if !plugin_event::lock(&mut tx, lane).await.map_err(Error::from)? {
            return Ok(false);
        }
    }
    let component = &hook.active.component;
    if lane.stream == FANOUT {
        let statuses = placed(app, hook, rows).await?;
        if !statuses.is_empty() {
            let host = Arc::clone(&call);
            let entries = hook.count(app, async { component.fanout(host, statuses).await }).await?;
            for part in entries.chunks(feeds::ENTRIES) {
                let put = call.feeds_insert(part.to_vec()).await;
                put.map_err(|failure| Obstacle { message: failure.message, counts: true })?;
            }
        }
    } else {
        let events = events(app, hook, rows).await?;
        if !events.is_empty() {
            let host = Arc::clone(&call);
            hook.count(app, async { component.events(host, events).await }).await?;
        }
    }
    settle(&call, rows).await
}

/// Removes `rows` and makes everything happen that this call did; nothing of it when they are gone already.
async fn settle(call: &Call, rows: &[EventRow]) -> Result<bool, Obstacle> {
    let seqs: Vec<i64> = rows.iter().map(|row| row.seq).collect();
    let removed = plugin_event::delete(&mut *call.ambient().await?, &seqs).await.map_err(Error::from)?;
    if usize::try_from(removed).ok() != Some(rows.len()) {
        return Ok(false);
    }
    call.commit().await?;
    Ok(true)
}

/// The statuses of a batch that is about to be placed. One that is gone is not placed.
async fn placed(app: &App, hook: &Subscription, rows: &[EventRow]) -> Result<Vec<Status>> {
    let ids: Vec<StatusId> = rows.iter().filter_map(|row| row.subject_id).map(StatusId::from).collect();
    let mut statuses = records::statuses(&app.db, (&*hook.active).into(), &ids).await?;
    Ok(ids.iter().filter_map(|id| statuses.remove(id)).collect())
}

/// The events of a batch with what they are about: one statement for each kind of thing. What is gone by now is told
/// by its id where the contract has that, and else left out: that it is gone is told as well.
async fn events(app: &App, hook: &Subscription, rows: &[EventRow]) -> Result<Vec<Event>> {
    let kind = |row: &EventRow| row.kind.parse::<Kind>().ok();
    let subjects = |wanted: fn(Kind) -> bool| {
        let rows = rows.iter().filter(move |row| kind(row).is_some_and(wanted));
        rows.filter_map(|row| row.subject_id)
    };
    let ids: Vec<StatusId> = subjects(Kind::has_status).map(StatusId::from).collect();
    let statuses = records::statuses(&app.db, (&*hook.active).into(), &ids).await?;
    let ids: Vec<AccountId> = subjects(Kind::has_account).map(AccountId::from).collect();
    let accounts = records::accounts(&app.db, &ids).await?;
    let event = |row: &EventRow| {
        let subject = match (kind(row)?, row.subject_id) {
            (kind, Some(id)) if kind.has_status() => Subject::Status(statuses.get(&id.into())?.clone()),
            (kind, Some(id)) if kind.has_account() => Subject::Account(accounts.get(&id.into())?.clone()),
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

/// Puts a batch off, or lays it aside when it was tried often enough.
async fn put_off(app: &App, hook: &Subscription, lane: Lane, rows: &[EventRow], obstacle: &Obstacle) -> Result<()> {
    let seqs: Vec<i64> = rows.iter().map(|row| row.seq).collect();
    let attempts = rows.first().map_or(0, |row| row.attempts);
    let mut tx = app.db.begin().await?;
    if obstacle.counts && attempts + 1 >= ATTEMPTS {
        plugin_event::park(&mut tx, &seqs, &obstacle.message).await?;
        let plugin = hook.active.name();
        metrics::counter!("rookery_plugin_events_parked_total", "plugin" => plugin.to_owned(), "stream" => lane.stream)
            .increment(seqs.len() as u64);
        tracing::error!(plugin.name = plugin, events = seqs.len(), error = %obstacle.message,
            "events of a plugin are laid aside: see rookery plugin inspect {plugin}");
    } else {
        let pause = if obstacle.counts { pause(attempts) } else { BUSY_PAUSE };
        let shard = if lane.stream == FANOUT && obstacle.counts { AGAIN } else { lane.shard };
        let run_at = app.clock.now() + pause;
        plugin_event::put_off(&mut tx, &seqs, shard, obstacle.counts, run_at, &obstacle.message).await?;
    }
    Ok(tx.commit().await?)
}

/// 1 s, 4 s, 16 s … 5 min.
fn pause(attempts: i64) -> TimeDelta {
    let fourfold = u32::try_from(attempts.clamp(0, 10)).unwrap_or(0);
    (FIRST_PAUSE * 4_i32.pow(fourfold)).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_five_minutes() {
        assert_eq!(pause(0), TimeDelta::seconds(1));
        assert_eq!(pause(2), TimeDelta::seconds(16));
        assert_eq!(pause(7), LONGEST_PAUSE);
    }

    #[test]
    fn a_plugin_that_cannot_be_called_now_is_no_fault_of_the_events() {
        let error = |ended| CallError { ended, message: String::new(), failure: None, backtrace: Vec::new() };
        assert!(!Obstacle::from(error(Ended::Open)).counts);
        assert!(!Obstacle::from(error(Ended::Drained)).counts);
        assert!(Obstacle::from(error(Ended::Trap)).counts);
        assert!(Obstacle::from(error(Ended::Failure)).counts);
    }
}
