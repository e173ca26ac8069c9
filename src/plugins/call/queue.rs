//! Queues jobs (contract: interface `queue`); [`crate::jobs`] runs them.

use async_trait::async_trait;
use chrono::DateTime;
use rookery_plugin_host::host::Queue;
use rookery_plugin_host::imports::queue::Job;
use rookery_plugin_host::imports::types::Failure;

use super::Call;
use crate::call::job_kind::{Queued, key_of, key_of_one, kind_of};
use crate::cx::LANE;
use crate::failure::{OrFailure as _, at_most, denied, failure};
use crate::quota::count_reached;
use model::Time;

/// Most jobs or names of one call.
const ITEMS: usize = 1_000;
/// Largest payload, in bytes.
const SIZE: usize = 256 * 1024;
/// Longest deduplication key, in bytes.
const UNIQUE: usize = 256;

#[async_trait]
impl Queue for Call {
    async fn enqueue(&self, jobs: Vec<Job>) -> Result<u32, Failure> {
        at_most(jobs.len(), ITEMS, "jobs")?;
        self.check_kinds(jobs.iter().map(|job| job.kind.as_str()))?;
        let now = self.cx.clock.now();
        let bytes = jobs.iter().map(|job| job.payload.len()).sum();
        let rows: Vec<_> = jobs.into_iter().map(|job| self.job(job, now)).collect::<Result<_, _>>()?;
        if rows.is_empty() {
            return Ok(0);
        }
        self.charge_storage(bytes, "queue.quota").await?;
        let kind = kind_of(self.active.name());
        let mut work = self.change().await?;
        let tx = work.tx()?;
        let waiting = store::job::count_ready(&mut *tx, &kind).await.or_failure()?;
        let waiting = usize::try_from(waiting).unwrap_or(usize::MAX);
        let most = self.active.limits.jobs;
        if waiting.saturating_add(rows.len()) > usize::try_from(most).unwrap_or(usize::MAX) {
            work.done().await?;
            count_reached(self.active.name(), "jobs");
            return Err(failure(429, "limit.jobs", format!("{waiting} jobs wait: the limit jobs is {most}")));
        }
        let queued = store::job::insert_many(tx, LANE, &kind, rows, now).await.or_failure()?;
        work.done().await?;
        Ok(u32::try_from(queued).unwrap_or(u32::MAX))
    }

    async fn cancel(&self, kind: String, unique: Vec<String>) -> Result<u32, Failure> {
        at_most(unique.len(), ITEMS, "names")?;
        self.check_kinds([kind.as_str()])?;
        let keys: Vec<String> = unique.iter().map(|unique| key_of(&kind, unique)).collect();
        let mut work = self.change().await?;
        let cancelled = store::job::delete_ready(work.tx()?, &kind_of(self.active.name()), &keys).await.or_failure()?;
        work.done().await?;
        Ok(u32::try_from(cancelled).unwrap_or(u32::MAX))
    }
}

impl Call {
    fn check_kinds<'a>(&self, kinds: impl IntoIterator<Item = &'a str>) -> Result<(), Failure> {
        if !self.granted().queue {
            return Err(denied("queue = true"));
        }
        let declared = |kind: &str| self.active.manifest.jobs.iter().any(|declared| declared.kind == kind);
        match kinds.into_iter().find(|kind| !declared(kind)) {
            None => Ok(()),
            Some(kind) => Err(failure(422, "queue.undeclared", format!("The manifest has no job {kind:?}"))),
        }
    }

    fn job(&self, job: Job, now: Time) -> Result<store::job::NewKeyedJob, Failure> {
        at_most(job.payload.len(), SIZE, "bytes of payload")?;
        let wrong = |why: &str| failure(422, "queue.invalid", why);
        if job.payload.contains("\\u0000") {
            return Err(wrong("A payload must not hold the character NUL"));
        }
        let payload = serde_json::from_str(&job.payload).map_err(|_| wrong("A payload must be JSON"))?;
        let run_at = match job.not_before {
            None => now,
            Some(millis) => {
                let at = DateTime::from_timestamp_millis(millis).ok_or_else(|| wrong("There is no such time"))?;
                Time::from(at).max(now)
            }
        };
        let id: i64 = self.cx.ids.next();
        let key = match &job.unique {
            None => key_of_one(id),
            Some(unique) if unique.len() > UNIQUE || unique.contains('\0') => {
                return Err(wrong("What makes a job unique is a text of 256 bytes at most, without NUL"));
            }
            Some(unique) => key_of(&job.kind, unique),
        };
        let queued = Queued {
            origin: self.cx.origin().to_json(),
            kind: job.kind,
            payload,
            max_attempts: job.max_attempts,
            scheduled_for: run_at.timestamp_millis(),
        };
        Ok(store::job::NewKeyedJob { id, key: Some(key), payload: queued.into(), run_at: run_at.timestamp_micros() })
    }
}
