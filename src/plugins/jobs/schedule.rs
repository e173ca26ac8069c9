//! Schedules of plugins' manifests: the next run of each waits in the queue.
//!
//! A schedule is a job that queues its own next run: once per cluster, whatever the number of nodes. Running it is no
//! different from other jobs, and is in the parent module.

use chrono::{DateTime, TimeDelta, Utc};
use croner::Cron;
use serde::Deserialize;

use crate::call::job_kind::{Queued, kind_of};
use crate::cx::LANE;
use crate::{Active, Cx, Registry};
use context::error::Result;
use database::Tx;
use model::Time;
use plugin_package::manifest::{self, Schedule};
use store::job::NewKeyedJob;

/// Attempts of a scheduled run before it is given up until its next time.
const SCHEDULED_ATTEMPTS: u8 = 5;

/// The part of a scheduled job's payload that names its schedule; absent from other jobs.
#[derive(Debug, Default, Deserialize)]
struct Scheduled {
    #[serde(default)]
    schedule: Option<String>,
}

/// The schedule that `queued` is a run of, if it is one that the manifest still has.
pub(super) fn of<'a>(active: &'a Active, queued: &Queued) -> Option<&'a Schedule> {
    let cron = serde_json::from_value::<Scheduled>(queued.payload.clone()).unwrap_or_default().schedule?;
    active.manifest.schedules.iter().find(|schedule| schedule.job == queued.kind && schedule.cron == cron)
}

/// Makes sure that the next run of every schedule of every active plugin is queued; does nothing while the registry's
/// generation is unchanged.
pub(crate) async fn schedule(cx: &Cx, registry: &Registry) -> Result<()> {
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
pub(super) async fn queue_next(cx: &Cx, tx: &mut Tx, active: &Active, schedule: &Schedule) -> Result<()> {
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
    let row = NewKeyedJob { id: cx.ids.next(), key: Some(key), payload: queued.into(), run_at };
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
}
