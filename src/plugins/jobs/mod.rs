//! Jobs of plugins: those they queued, and those their manifests schedule.
//!
//! Reached from the core's worker through the extension port. The jobs are rows of the server's one queue, of the kind
//! `plugin.NAME`, in a lane of their own so that no job of the server waits for them. A job's changes and its removal
//! are one transaction, so it takes effect exactly once or is retried as a whole. Jobs of a plugin that is not active
//! wait without a time limit; a schedule that fell due meanwhile runs once when the plugin is active again.

mod schedule;

use std::sync::Arc;

use chrono::{DateTime, TimeDelta};
use rookery_plugin_host::exports::jobs::{Outcome, Task};
use rookery_plugin_host::{CallErrorKind, Part};

use crate::call::{Call, Caller, Mode};
use crate::{Active, Cx, Registry};
use context::Origin;
use context::error::Result;
use context::queue::{Done, Failure};
use database::Tx;
use model::Time;
use plugin_package::manifest::Schedule;
use store::job::{Claim, JobRow};

use crate::call::job_kind::{Queued, kind_of, plugin_of};
use crate::cx::Session;
use async_trait::async_trait;
use context::extension::RunJobs;
pub(crate) use schedule::schedule;

#[async_trait]
impl RunJobs for Session {
    async fn job_kinds(&self, cx: &context::Cx) -> Result<Vec<String>> {
        let registry = self.registry();
        if registry.plugins.is_empty() {
            return Ok(Vec::new());
        }
        let cx = Cx::of(cx)?;
        schedule(&cx, &registry).await?;
        Ok(kinds(&cx, &registry))
    }

    fn owns_job(&self, kind: &str) -> bool {
        plugin_of(kind).is_some()
    }

    async fn run_job(&self, cx: &context::Cx, row: JobRow) -> Result<Done, Failure> {
        run(&Cx::of(cx)?, row).await
    }
}

/// The kinds of jobs that can run now: the jobs of plugins that are active and not paused.
pub(super) fn kinds(cx: &Cx, registry: &Registry) -> Vec<String> {
    let called = registry.plugins.iter().filter(|active| !cx.plugins.pauses.stops(active));
    called.map(|active| kind_of(active.name())).collect()
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
    let schedule = schedule::of(active, &queued);
    let attempts = u8::try_from(row.claim.attempts).unwrap_or(u8::MAX);
    let last = queued.max_attempts > 0 && attempts >= queued.max_attempts;
    let cx = &cx.with_origin(Origin::from_json(queued.origin.as_deref()));
    if attempts > 1 {
        // It may become a dead letter: make room for it.
        let mut tx = cx.db.begin().await?;
        trim_dead(&mut tx, active).await?;
        tx.commit().await?;
    }
    let ended = Box::pin(call(cx, active, row.claim, queued, attempts, schedule)).await;
    match ended {
        Err(Failure::Retry(why)) if last => {
            if let Some(schedule) = schedule {
                let mut tx = cx.db.begin().await?;
                schedule::queue_next(cx, &mut tx, active, schedule).await?;
                tx.commit().await?;
            }
            Err(Failure::Fail(why))
        }
        ended => ended,
    }
}

/// Calls the plugin; its changes and the outcome of the job are one transaction.
async fn call(
    cx: &Cx,
    active: &Arc<Active>,
    claim: Claim,
    queued: Queued,
    attempt: u8,
    schedule: Option<&Schedule>,
) -> Result<Done, Failure> {
    let kind = queued.kind.clone();
    let task = Task {
        id: u64::try_from(i64::from(claim.id)).unwrap_or_default(),
        kind: queued.kind,
        payload: queued.payload.to_string(),
        attempt,
        scheduled_for: queued.scheduled_for,
    };
    cx.plugins.pauses.check(active).map_err(|busy| Failure::NotNow(busy.message))?;
    let call = Call::new(cx, active, Part::Jobs, Caller::system(), Mode::Ambient);
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
        Outcome::Done => store::job::delete(&mut tx, claim).await?,
        Outcome::Again(at) => store::job::reschedule(&mut tx, claim, again(cx.clock.now(), *at)).await?,
        Outcome::GiveUp(why) => {
            trim_dead(&mut tx, active).await?;
            store::job::dead_letter(&mut tx, claim, why).await?
        }
    };
    if !still_ours {
        // The lease ran out and another worker ran the job: what this run changed must not happen as well.
        return Ok(Done::Removed);
    }
    if let (Some(schedule), Outcome::Done | Outcome::GiveUp(_)) = (schedule, &outcome) {
        schedule::queue_next(cx, &mut tx, active, schedule).await?;
    }
    drop(tx);
    call.commit().await?;
    Ok(Done::Removed)
}

/// Makes room for one more dead letter of the plugin: as many are kept as jobs may wait, the newest ones.
async fn trim_dead(tx: &mut Tx, active: &Active) -> Result<(), database::Error> {
    let most = i64::from(active.limits.jobs) - 1;
    store::job::delete_dead_beyond(tx, &kind_of(active.name()), most).await.map(drop)
}

/// The time the plugin asked for, at least a second from now.
fn again(now: Time, millis: i64) -> Time {
    let named = DateTime::from_timestamp_millis(millis).map(Time::from);
    named.unwrap_or(now).max(now + TimeDelta::seconds(1))
}

#[cfg(test)]
mod tests {
    use chrono::Utc;

    use super::*;

    fn at(text: &str) -> Time {
        text.parse::<DateTime<Utc>>().unwrap().into()
    }

    #[test]
    fn job_does_not_come_back_at_once() {
        let now = at("2026-01-15T12:00:00Z");
        assert_eq!(again(now, 0), now + TimeDelta::seconds(1));
        assert_eq!(again(now, i64::MAX), now + TimeDelta::seconds(1));
        let later = now + TimeDelta::hours(1);
        assert_eq!(again(now, later.timestamp_millis()), later);
    }
}
