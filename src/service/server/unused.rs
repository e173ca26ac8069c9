//! Deletion of rows without use: threads without statuses, hashtags, applications, publishers, servers and hosts, dead
//! letters and counts of long ago.
//!
//! A recurring job walks through each table in the order of its key, a bounded number of rows in each step. What is
//! deleted is made again when it is needed.
//!
//! Spec: docs/growth.md

use chrono::TimeDelta;
use context::error::Error;
use context::queue::{self, Done, Failure, Next, PruneUnused};
use context::{Cx, job};
use database::Tx;
use model::clock::Ids;
use model::retention::UnusedPart;
use store::job::Claim;
use store::{cleaning, unused};

/// Rows of one step.
const BATCH: i64 = 500;
/// How often a walk begins.
const EVERY: TimeDelta = TimeDelta::days(7);
/// The age of rows without use.
const AGE: TimeDelta = TimeDelta::days(30);
/// How long a host that failed is remembered while it is owed nothing.
const HOST_AGE: TimeDelta = TimeDelta::days(180);

/// How long a job that was given up can be looked at.
const DEAD_JOB_AGE: TimeDelta = TimeDelta::days(90);
/// Most dead letters deleted in one run.
const DEAD_JOBS: i64 = 1_000;
/// For how many weeks, and days, activity and sign-ups are counted: more than is shown or limited.
const ACTIVE_WEEKS: i64 = 60;
const SIGN_UP_DAYS: i64 = 60;

/// Deletes old dead letters of the queue, and counts of past weeks and days; true when there may be more. Called by the
/// hourly clean-up.
#[model::use_case]
pub async fn clean(cx: &Cx, tx: &mut Tx) -> Result<bool, Error> {
    let now = cx.clock.now();
    let today = now.timestamp_millis() / TimeDelta::days(1).num_milliseconds();
    cleaning::delete_weeks(tx, today / 7 - ACTIVE_WEEKS).await?;
    cleaning::delete_sign_up_days(tx, today - SIGN_UP_DAYS).await?;
    let jobs = cleaning::delete_dead_jobs(tx, Ids::first_at(now - DEAD_JOB_AGE), DEAD_JOBS).await?;
    Ok(i64::try_from(jobs).is_ok_and(|jobs| jobs == DEAD_JOBS))
}

#[model::use_case]
#[job]
async fn prune_unused(cx: &Cx, job: PruneUnused, claim: Claim) -> Result<Done, Failure> {
    let now = cx.clock.now();
    let next = match step(cx, &job).await? {
        Some(job) => Next::Now(job),
        None => match job.part.next() {
            Some(part) => Next::Now(PruneUnused::of(part)),
            None => Next::At(now + EVERY, PruneUnused::begin()),
        },
    };
    let tx = cx.db.begin().await?;
    queue::run::end_step(cx, tx, next, claim).await
}

/// Deletes the next rows of a part; `None` at its end.
async fn step(cx: &Cx, job: &PruneUnused) -> Result<Option<PruneUnused>, Error> {
    let old = cx.clock.now() - AGE;
    let (after, before) = (job.after, Ids::first_at(old));
    let found = match job.part {
        UnusedPart::Servers | UnusedPart::Hosts => return step_of_names(cx, job).await,
        UnusedPart::Conversations => unused::list_conversations(&cx.db, after, before, BATCH).await?,
        UnusedPart::Tags => unused::list_tags(&cx.db, after, before, BATCH).await?,
        UnusedPart::Applications => unused::list_applications(&cx.db, old, after, before, BATCH).await?,
        UnusedPart::Publishers => unused::list_publishers(&cx.db, old, after, before, BATCH).await?,
    };
    let Some((after, _)) = found.last().copied() else { return Ok(None) };
    let ids: Vec<i64> = found.into_iter().filter(|(_, unused)| *unused).map(|(id, _)| id).collect();
    if !ids.is_empty() {
        let mut tx = cx.db.begin().await?;
        match job.part {
            UnusedPart::Servers | UnusedPart::Hosts => 0,
            UnusedPart::Conversations => unused::delete_conversations(&mut tx, &ids).await?,
            UnusedPart::Tags => unused::delete_tags(&mut tx, &ids).await?,
            UnusedPart::Applications => unused::delete_applications(&mut tx, old, &ids).await?,
            UnusedPart::Publishers => unused::delete_publishers(&mut tx, old, &ids).await?,
        };
        tx.commit().await?;
    }
    Ok(Some(PruneUnused { after, ..PruneUnused::of(job.part) }))
}

/// As [`step`], for a part whose rows have names.
async fn step_of_names(cx: &Cx, job: &PruneUnused) -> Result<Option<PruneUnused>, Error> {
    let now = cx.clock.now();
    let servers = job.part == UnusedPart::Servers;
    let found = match servers {
        true => unused::list_servers(&cx.db, now - AGE, &job.after_name, BATCH).await?,
        false => unused::list_hosts(&cx.db, now - HOST_AGE, &job.after_name, BATCH).await?,
    };
    let Some((after_name, _)) = found.last().cloned() else { return Ok(None) };
    let names: Vec<String> = found.into_iter().filter(|(_, unused)| *unused).map(|(name, _)| name).collect();
    if !names.is_empty() {
        let mut tx = cx.db.begin().await?;
        match servers {
            true => unused::delete_servers(&mut tx, now - AGE, &names).await?,
            false => unused::delete_hosts(&mut tx, now - HOST_AGE, &names).await?,
        };
        tx.commit().await?;
    }
    Ok(Some(PruneUnused { after_name, ..PruneUnused::of(job.part) }))
}
