//! Jobs of plugins: those they queued, and those their manifests schedule.
//!
//! Reached from the core's worker through the extension port. The jobs are rows of the server's one queue, of the kind
//! `plugin.NAME`, in a lane of their own so that no job of the server waits for them. A job's changes and its removal
//! are one transaction, so it takes effect exactly once or is retried as a whole. Jobs of a plugin that is not active
//! wait without a time limit; a schedule that fell due meanwhile runs once when the plugin is active again.
//!
//! A schedule is a job that queues its own next run: once per cluster, whatever the number of nodes.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use croner::Cron;
use rookery_plugin_host::CallErrorKind;
use rookery_plugin_host::exports::jobs::{Outcome, Task};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Cx;
use crate::call::{Call, Caller, Mode};
use crate::cx::LANE;
use crate::manifest::{self, Schedule};
use crate::{Active, Registry};
use model::{JobId, Time};
use rookery_core::Origin;
use rookery_core::error::Result;
use rookery_core::queue::{Done, Failure};
use store::Tx;
use store::job::{JobRow, NewKeyedJob};

/// Prefix of the kinds of plugin jobs.
const PREFIX: &str = "plugin.";
/// Attempts of a scheduled run before it is given up until its next time.
const SCHEDULED_ATTEMPTS: u8 = 5;

/// The kind of all jobs of the plugin called `name`.
#[must_use]
pub(crate) fn kind_of(name: &str) -> String {
    format!("{PREFIX}{name}")
}

/// The deduplication key of a job of `kind` that is unique by `unique`.
#[must_use]
pub(crate) fn key_of(kind: &str, unique: &str) -> String {
    format!("{kind}:{unique}")
}

/// The key of a job that is never deduplicated.
#[must_use]
pub(crate) fn key_of_one(id: i64) -> String {
    format!("#{id}")
}

/// The payload of a plugin job's row.
#[derive(Debug, Serialize, Deserialize)]
pub struct Queued {
    /// The plugins whose actions led to it, as JSON; none for a schedule.
    #[serde(default)]
    pub origin: Option<String>,
    /// One of the kinds that the manifest declares.
    pub kind: String,
    /// The payload that the plugin gave it.
    pub payload: Value,
    /// Attempts before it is a dead letter; 0 for the queue's default.
    pub max_attempts: u8,
    /// Milliseconds since the epoch.
    pub scheduled_for: i64,
}

impl From<Queued> for Value {
    fn from(queued: Queued) -> Self {
        serde_json::json!({
            "origin": queued.origin,
            "kind": queued.kind,
            "payload": queued.payload,
            "max_attempts": queued.max_attempts,
            "scheduled_for": queued.scheduled_for,
        })
    }
}

/// The part of a scheduled job's payload that names its schedule; absent from other jobs.
#[derive(Debug, Default, Deserialize)]
struct Scheduled {
    #[serde(default)]
    schedule: Option<String>,
}

/// The kinds of jobs that can run now: those of plugins that are active and not paused.
pub(super) fn kinds(cx: &Cx, registry: &Registry) -> Vec<String> {
    let called = registry.plugins.iter().filter(|active| !cx.plugins.pauses.stops(active));
    called.map(|active| kind_of(active.name())).collect()
}

/// The name of the plugin that jobs of `kind` belong to.
pub(super) fn plugin_of(kind: &str) -> Option<&str> {
    kind.strip_prefix(PREFIX)
}

/// Makes sure that the next run of every schedule of every active plugin is queued; does nothing while the registry's
/// generation is unchanged.
pub(super) async fn schedule(cx: &Cx, registry: &Registry) -> Result<()> {
    if cx.plugins.calls.is_scheduled(registry.generation) {
        return Ok(());
    }
    for active in registry.plugins.iter().filter(|active| !active.manifest.schedules.is_empty()) {
        if cx.plugins.pauses.incompatible(active.name()).is_some() {
            continue;
        }
        let mut tx = cx.db.begin().await?;
        for schedule in &active.manifest.schedules {
            queue_next(cx, &mut tx, active, schedule).await?;
        }
        tx.commit().await?;
    }
    cx.plugins.calls.scheduled(registry.generation);
    Ok(())
}

/// Queues the next run of `schedule`, unless it waits already.
async fn queue_next(cx: &Cx, tx: &mut Tx, active: &Active, schedule: &Schedule) -> Result<()> {
    let now = cx.clock.now();
    let Some(at) = next(schedule, now) else { return Ok(()) };
    let queued = Queued {
        origin: None,
        kind: schedule.job.clone(),
        payload: serde_json::json!({ "schedule": schedule.cron }),
        max_attempts: SCHEDULED_ATTEMPTS,
        scheduled_for: at.timestamp_millis(),
    };
    let run_at = (at + jitter(schedule)).timestamp_micros();
    let key = format!("@{}:{}", schedule.job, schedule.cron);
    let row = NewKeyedJob { id: cx.ids.next(), key, payload: queued.into(), run_at };
    store::job::insert_many(tx, LANE, &kind_of(active.name()), vec![row], now).await?;
    Ok(())
}

/// The next time a schedule is due, UTC; none for an invalid cron expression, which the manifest's checks refuse.
fn next(schedule: &Schedule, now: Time) -> Option<Time> {
    let cron: Cron = schedule.cron.parse().ok()?;
    let next: DateTime<Utc> = cron.find_next_occurrence(&*now, false).ok()?;
    Some(next.into())
}

/// A random delay below the schedule's `jitter`, so that not everything starts on the full minute.
fn jitter(schedule: &Schedule) -> TimeDelta {
    let most = schedule.jitter.as_deref().and_then(manifest::duration).unwrap_or_default();
    let most = TimeDelta::from_std(most).unwrap_or_default();
    let mut byte = [0];
    crypto::fill_random(&mut byte);
    most * i32::from(byte[0]) / 256
}

/// Runs a job of a plugin.
pub(super) async fn run(cx: &Cx, row: JobRow) -> Result<Done, Failure> {
    let registry = cx.registry();
    let name = plugin_of(&row.kind).unwrap_or_default();
    let Some(active) = registry.plugins.iter().find(|active| active.name() == name) else {
        return Err(Failure::Retry(format!("the plugin {name} does not serve now")));
    };
    let queued: Queued =
        serde_json::from_value(row.payload.0).map_err(|error| Failure::Fail(format!("payload: {error}")))?;
    let cron = serde_json::from_value::<Scheduled>(queued.payload.clone()).unwrap_or_default().schedule;
    let due = |schedule: &&Schedule| schedule.job == queued.kind && Some(&schedule.cron) == cron.as_ref();
    let schedule = active.manifest.schedules.iter().find(due);
    let attempts = u8::try_from(row.attempts).unwrap_or(u8::MAX);
    let last = queued.max_attempts > 0 && attempts >= queued.max_attempts;
    let cx = &cx.with_origin(Origin::from_json(queued.origin.as_deref()));
    let ended = Box::pin(ask(cx, active, row.id, queued, attempts, schedule)).await;
    match ended {
        Err(Failure::Retry(why)) if last => {
            if let Some(schedule) = schedule {
                let mut tx = cx.db.begin().await?;
                queue_next(cx, &mut tx, active, schedule).await?;
                tx.commit().await?;
            }
            Err(Failure::Fail(why))
        }
        ended => ended,
    }
}

/// Calls the plugin; its changes and the outcome of the job are one transaction.
async fn ask(
    cx: &Cx,
    active: &Arc<Active>,
    id: JobId,
    queued: Queued,
    attempt: u8,
    schedule: Option<&Schedule>,
) -> Result<Done, Failure> {
    let kind = queued.kind.clone();
    let task = Task {
        id: u64::try_from(i64::from(id)).unwrap_or_default(),
        kind: queued.kind,
        payload: queued.payload.to_string(),
        attempt,
        scheduled_for: queued.scheduled_for,
    };
    cx.plugins.pauses.check(active).map_err(|busy| Failure::NotNow(busy.message))?;
    let call = Call::new(cx, active, Caller::system(), Mode::Ambient);
    let outcome = match active.component.job(Arc::clone(&call) as _, task).await {
        Ok(outcome) => outcome,
        Err(error) if !error.reached_guest() || cx.plugins.pauses.stops(active) => {
            return Err(Failure::NotNow(error.message));
        }
        Err(error) => {
            cx.plugins.report(active, "job", &kind, &error);
            let why = error.failure.as_ref().map_or(error.message.clone(), |failure| failure.message.clone());
            return Err(Failure::Retry(match error.kind {
                CallErrorKind::Failure => why,
                ended => format!("{ended:?}: {why}"),
            }));
        }
    };
    let mut tx = call.ambient().await?;
    let still_ours = match &outcome {
        Outcome::Done => store::job::delete_running(&mut tx, id).await?,
        Outcome::Again(at) => store::job::reschedule(&mut tx, id, again(cx.clock.now(), *at)).await?,
        Outcome::GiveUp(why) => store::job::dead_letter(&mut tx, id, why).await.map(|()| true)?,
    };
    if !still_ours {
        // The lease ran out and another worker ran the job: what this run changed must not happen as well.
        return Ok(Done::Removed);
    }
    if let (Some(schedule), Outcome::Done | Outcome::GiveUp(_)) = (schedule, &outcome) {
        queue_next(cx, &mut tx, active, schedule).await?;
    }
    drop(tx);
    call.commit().await?;
    Ok(Done::Removed)
}

/// The time the plugin asked for, at least a second from now.
fn again(now: Time, millis: i64) -> Time {
    let named = DateTime::from_timestamp_millis(millis).map(Time::from);
    named.unwrap_or(now).max(now + TimeDelta::seconds(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Time {
        text.parse::<DateTime<Utc>>().unwrap().into()
    }

    fn schedule(cron: &str, jitter: Option<&str>) -> Schedule {
        Schedule { job: "expire".to_owned(), cron: cron.to_owned(), jitter: jitter.map(str::to_owned) }
    }

    #[test]
    fn schedules_fall_due_in_utc_and_never_now() {
        for (cron, now, expected) in [
            ("*/10 * * * *", "2026-01-15T12:00:00Z", "2026-01-15T12:10:00Z"),
            ("*/10 * * * *", "2026-01-15T12:09:59.999999Z", "2026-01-15T12:10:00Z"),
            ("0 0 * * *", "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z"),
            ("30 2 29 2 *", "2026-01-15T12:00:00Z", "2028-02-29T02:30:00Z"),
            ("0 9 * * 1", "2026-01-15T12:00:00Z", "2026-01-19T09:00:00Z"),
        ] {
            assert_eq!(next(&schedule(cron, None), at(now)), Some(at(expected)), "{cron} after {now}");
        }
        assert_eq!(next(&schedule("every day", None), at("2026-01-15T12:00:00Z")), None);
    }

    #[test]
    fn jitter_stays_within_what_the_manifest_says() {
        for _ in 0..100 {
            let late = jitter(&schedule("* * * * *", Some("60s")));
            assert!(late >= TimeDelta::zero() && late < TimeDelta::seconds(60), "{late}");
        }
        assert_eq!(jitter(&schedule("* * * * *", None)), TimeDelta::zero());
    }

    #[test]
    fn a_job_does_not_come_back_at_once() {
        let now = at("2026-01-15T12:00:00Z");
        assert_eq!(again(now, 0), now + TimeDelta::seconds(1));
        assert_eq!(again(now, i64::MAX), now + TimeDelta::seconds(1));
        let later = now + TimeDelta::hours(1);
        assert_eq!(again(now, later.timestamp_millis()), later);
    }
}
