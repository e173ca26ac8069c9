//! The worker: claims jobs under a lease, runs them, removes them, or retries them with exponential back-off.
//!
//! `service` defines most kinds of jobs beside their use cases. This crate defines the jobs that render something or
//! have no use case (feeds, recurring clean-up, the removal of a plugin's rows), and runs feed jobs, mostly without a
//! lease ([`feed_lane`]). Jobs of extensions run through the port. A job that fails for good becomes a dead letter. A
//! job that panics, or whose worker is killed, has failed in this attempt. A lease is renewed for as long as its job
//! runs (heartbeat), so that only a node that died or is cut off loses it. A job may run twice, so every kind is
//! idempotent.

mod archives;
pub mod cron;
mod feed;
mod feed_lane;
mod purge_plugin;
mod reconcile_feeds;
mod record_changes;
mod send_push;
mod shares;
mod trim_feeds;

#[cfg(test)]
mod tests;

use std::any::Any;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use chrono::TimeDelta;
use futures_util::FutureExt as _;
use tokio::sync::watch;
use tokio::task::JoinSet;

use context::hosts::PUSH_REQUESTS as REQUESTS_TO_A_HOST;
use context::queue::{self, Done, Failure};
use context::{Cx, Result};
use database::Tx;
use model::job::Lane;
use model::{Time, boxed};
use store::job::{Attempt, Claim, JobRow};
use store::shared_lane::SharedRow;

use shares::Shares;

/// Pause before a lane that panicked restarts.
const AFTER_PANIC: Duration = Duration::from_secs(1);

/// Later than any lease ends.
const FOR_EVER: TimeDelta = TimeDelta::days(365 * 100);
/// How many times a lease is renewed before it would expire.
const BEATS: u32 = 4;
/// Most hosts that are sent to concurrently: one that hangs delays few others.
const DELIVERIES: usize = 64;
/// Most senders whose activities are processed concurrently, and most jobs that ask other servers.
const INBOXES: usize = 16;
/// The first back-off; each further one is twice as long.
const FIRST_BACK_OFF: TimeDelta = TimeDelta::seconds(5);
/// The longest back-off, before jitter.
const LONGEST_BACK_OFF: TimeDelta = TimeDelta::hours(6);

/// Runs a job by the name of its kind.
async fn dispatch(cx: &Cx, row: JobRow) -> Result<Done, Failure> {
    if cx.extensions().owns_job(&row.kind) {
        return cx.extensions().run_job(cx, row).await;
    }
    match queue::run::runner(&row.kind) {
        Some(runner) => (runner.run)(cx, row).await,
        None => Err(Failure::Fail(format!("unknown kind {}", row.kind))),
    }
}

/// Runs jobs until `stop` is true, then waits for the running ones to end (drain). A process without workers notifies
/// the other nodes of the jobs that it queues.
#[boxed]
pub async fn run(cx: Cx, stop: watch::Receiver<bool>) {
    if cx.config.jobs.workers == 0 {
        return pass_on(&cx, &stop).await;
    }
    if cx.db.engine() == database::Engine::Sqlite {
        // Only one server uses a SQLite file, so a kill interrupted every job that is still claimed at start. This
        // includes leases that end later than a lease can last, because the clock was set back meanwhile.
        if let Err(error) = reclaim_expired(&cx, FOR_EVER).await {
            tracing::error!(%error, "could not put lost jobs back");
        }
    }
    let mut lanes = JoinSet::new();
    for lane in Lane::ALL {
        lanes.spawn(keep_running(cx.clone(), *lane, stop.clone()));
    }
    while lanes.join_next().await.is_some() {}
}

/// Notifies other nodes, until `stop` is true, of jobs queued on this node, which has no workers. Does nothing on
/// SQLite, which has no other nodes.
async fn pass_on(cx: &Cx, stop: &watch::Receiver<bool>) {
    if cx.db.engine() == database::Engine::Sqlite {
        return;
    }
    let mut lanes = JoinSet::new();
    for lane in Lane::ALL {
        lanes.spawn(pass_on_lane(cx.clone(), *lane, stop.clone()));
    }
    while lanes.join_next().await.is_some() {}
}

/// Jobs queued during a notification are covered by one further notification. A lost notification only delays a job,
/// since workers poll too.
async fn pass_on_lane(cx: Cx, lane: Lane, mut stop: watch::Receiver<bool>) {
    let queued = cx.db.jobs_queued(lane);
    tokio::pin!(queued);
    queued.as_mut().enable();
    loop {
        tokio::select! {
            () = &mut queued => {}
            _ = stop.changed() => return,
        }
        queued.set(cx.db.jobs_queued(lane));
        queued.as_mut().enable();
        if let Err(error) = cx.db.tell_jobs_queued(lane).await {
            tracing::warn!(%error, "failed to notify other nodes of queued jobs");
        }
    }
}

/// Runs a lane until `stop` is true. A lane that panics, which no job can cause, restarts: the jobs that it had
/// claimed are put back when their leases expire.
async fn keep_running(cx: Cx, lane: Lane, mut stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        let (cx, stopped) = (cx.clone(), stop.clone());
        let run = async {
            match lane {
                Lane::Feed => feed_lane::run(cx, stopped).await,
                _ => run_lane(cx, lane, stopped).await,
            }
        };
        let Err(panic) = AssertUnwindSafe(run).catch_unwind().await else { return };
        metrics::counter!("rookery_lanes_panicked_total", "lane" => lane.as_str()).increment(1);
        tracing::error!(lane = lane.as_str(), "a lane of jobs panicked and restarts: {}", message(panic.as_ref()));
        tokio::select! {
            () = tokio::time::sleep(AFTER_PANIC) => {}
            _ = stop.changed() => {}
        }
    }
}

/// The lanes whose jobs are claimed under a lease.
fn claimed_lanes() -> impl Iterator<Item = Lane> {
    Lane::ALL.iter().copied().filter(|lane| *lane != Lane::Feed)
}

/// How many jobs of `lane` run concurrently. Jobs that send pushes spend nearly all their time waiting for other
/// servers.
fn most_running(cx: &Cx, lane: Lane) -> usize {
    match lane {
        Lane::Push => cx.config.jobs.workers.max(2 * REQUESTS_TO_A_HOST),
        Lane::Delivery => cx.config.jobs.workers.max(DELIVERIES),
        Lane::Inbox | Lane::Remote => cx.config.jobs.workers.max(INBOXES),
        _ => cx.config.jobs.workers,
    }
}

async fn run_lane(cx: Cx, lane: Lane, mut stop: watch::Receiver<bool>) {
    let pause = Duration::from_millis(cx.config.jobs.poll_interval_ms);
    let mut running = JoinSet::new();
    let mut shares = Shares::new(lane, most_running(&cx, lane));
    let mut queued_here = false;
    while !*stop.borrow() {
        // Registered before the query, so that a job queued in between is not missed.
        let queued = cx.db.jobs_queued(lane);
        tokio::pin!(queued);
        queued.as_mut().enable();
        let room = most_running(&cx, lane).saturating_sub(running.len());
        let (room, full) = (shares.room(room), shares.full());
        let claimed = if room == 0 { Ok(Vec::new()) } else { claim(&cx, lane, room, queued_here, &full).await };
        queued_here = false;
        match claimed {
            Ok(jobs) if !jobs.is_empty() => {
                for SharedRow { job, share } in jobs {
                    let cx = cx.clone();
                    shares.begin(share.as_ref());
                    running.spawn(async move {
                        work(&cx, job).await;
                        share
                    });
                }
                continue;
            }
            Ok(_) => {}
            Err(error) => context::log_failure!(error, "could not claim jobs"),
        }
        tokio::select! {
            () = &mut queued => queued_here = true,
            // `work` catches the panics of jobs.
            Some(ended) = running.join_next(), if !running.is_empty() => shares.end(ended.ok().flatten().as_ref()),
            () = tokio::time::sleep(pause) => {
                if let Err(error) = reclaim_expired(&cx, TimeDelta::zero()).await {
                    context::log_failure!(error, "could not put lost jobs back");
                }
            }
            _ = stop.changed() => {}
        }
    }
    while running.join_next().await.is_some() {}
}

/// Runs all due jobs, and the jobs that they queue, until none is due. Returns how many ran. For tests and the
/// command line. A failing job is rescheduled as usual and is not an error here.
#[boxed]
pub async fn drain(cx: &Cx) -> Result<usize> {
    let mut count = 0;
    loop {
        let before = count;
        count += feed_lane::batch(cx).await?.ended;
        for lane in claimed_lanes() {
            for claimed in claim(cx, lane, 16, false, &[]).await? {
                work(cx, claimed.job).await;
                count += 1;
            }
        }
        if count == before {
            return Ok(count);
        }
    }
}

/// Claims due jobs of a lane, in a shared one none of the domains `full`. Checks first whether any is due, unless one was
/// `queued_here` just now.
async fn claim(cx: &Cx, lane: Lane, room: usize, queued_here: bool, full: &[String]) -> Result<Vec<SharedRow>> {
    let now = cx.clock.now();
    let room = i64::try_from(room).unwrap_or(i64::MAX);
    let own = |job| SharedRow { job, share: None };
    if lane == Lane::Plugin {
        return Ok(claim_of_extensions(cx, now, room).await?.into_iter().map(own).collect());
    }
    if !queued_here && !store::job::is_due(&cx.db, lane, now).await? {
        return Ok(Vec::new());
    }
    let mut tx = cx.db.begin().await?;
    let until = now + lease(cx);
    let mut jobs = match lane {
        _ if shares::is_shared(lane) => store::shared_lane::claim(&mut tx, lane, now, until, room, full).await?,
        _ => store::job::claim(&mut tx, lane, now, until, room).await?.into_iter().map(own).collect(),
    };
    tx.commit().await?;
    jobs.sort_unstable_by_key(|row| row.job.claim.id);
    Ok(jobs)
}

/// Claims jobs of active extensions; jobs of other extensions wait. Makes no query if no extension is active.
async fn claim_of_extensions(cx: &Cx, now: Time, room: i64) -> Result<Vec<JobRow>> {
    let kinds = cx.extensions().job_kinds(cx).await?;
    if kinds.is_empty() || !store::job::is_due_for(&cx.db, Lane::Plugin, &kinds, now).await? {
        return Ok(Vec::new());
    }
    let mut tx = cx.db.begin().await?;
    let mut jobs = store::job::claim_for(&mut tx, Lane::Plugin, &kinds, now, now + lease(cx), room).await?;
    tx.commit().await?;
    jobs.sort_unstable_by_key(|job| job.claim.id);
    Ok(jobs)
}

/// Duration of a claim. A job still claimed after that is put back, since its worker is presumed dead.
fn lease(cx: &Cx) -> TimeDelta {
    TimeDelta::seconds(i64::try_from(cx.config.jobs.lease_seconds).unwrap_or(i64::MAX / 1_000))
}

async fn work(cx: &Cx, job: JobRow) {
    let (claim, kind) = (job.claim, job.kind.clone());
    let running = cx.begin(None);
    let ended = tokio::select! {
        biased;
        ended = caught(&kind, dispatch(&running, job)) => ended,
        never = keep_lease(cx, claim) => match never {},
    };
    count(&kind, ended.is_ok());
    let settled = match ended {
        Ok(Done::Removed) => Ok(()),
        Ok(Done::Remove) => finish(cx, claim, &kind, None).await,
        Err(failure) => finish(cx, claim, &kind, Some(failure)).await,
    };
    if let Err(error) = settled {
        // The job is claimed again when its lease expires.
        context::log_failure!(error, "could not settle job {}", claim.id);
    }
}

/// Runs `work` of a job of `kind`. A panic counts as a failure that can be retried.
async fn caught<T>(kind: &str, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    // A panic drops the state of the work: transactions are rolled back and locks released.
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(ended) => ended,
        Err(panic) => {
            let message = message(panic.as_ref());
            metrics::counter!("rookery_jobs_panicked_total", "kind" => kind.to_owned()).increment(1);
            tracing::error!(job.kind = kind, "a job panicked: {message}");
            Err(Failure::Retry(format!("panicked: {message}")))
        }
    }
}

/// The message of a panic.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

/// Renews the lease of `claim` for as long as it is polled. A lost lease is not claimed again: the job that still
/// runs here cannot settle its row.
async fn keep_lease(cx: &Cx, claim: Claim) -> Infallible {
    let pause = Duration::from_secs(cx.config.jobs.lease_seconds) / BEATS;
    loop {
        tokio::time::sleep(pause).await;
        match renew(cx, claim).await {
            Ok(true) => {}
            Ok(false) => {
                tracing::debug!(job.id = %claim.id, "the lease of a running job was lost, or the job has just ended");
                std::future::pending::<()>().await;
            }
            Err(error) => context::log_failure!(error, "could not renew the lease of job {}", claim.id),
        }
    }
}

/// Renews one lease. Returns false if it was lost.
async fn renew(cx: &Cx, claim: Claim) -> Result<bool> {
    let mut tx = cx.db.begin().await?;
    let renewed = store::job::renew(&mut tx, &[claim], cx.clock.now() + lease(cx)).await?;
    tx.commit().await?;
    Ok(renewed > 0)
}

fn count(kind: &str, well: bool) {
    let result = if well { "ok" } else { "failed" };
    metrics::counter!("rookery_jobs_total", "kind" => kind.to_owned(), "result" => result).increment(1);
}

async fn finish(cx: &Cx, claim: Claim, kind: &str, failure: Option<Failure>) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    match failure {
        None => store::job::delete(&mut tx, claim).await.map(drop)?,
        Some(failure) => put_back(cx, &mut tx, claim, kind, failure).await?,
    }
    tx.commit().await?;
    Ok(())
}

/// Reschedules a job that failed, or makes it a dead letter.
async fn put_back(cx: &Cx, tx: &mut Tx, claim: Claim, kind: &str, failure: Failure) -> Result<()> {
    match failure {
        // Retried every few seconds for as long as the fault of the machine lasts.
        Failure::NotNow(_) => tracing::debug!(job.id = %claim.id, job.kind = kind, ?failure, "a job must wait"),
        Failure::Retry(_) | Failure::Fail(_) => {
            tracing::warn!(job.id = %claim.id, job.kind = kind, job.attempts = claim.attempts, ?failure, "a job failed");
        }
    }
    let now = cx.clock.now();
    match failure {
        Failure::Retry(error) if claim.attempts < i64::from(cx.config.jobs.max_attempts) => {
            store::job::retry(tx, claim, Attempt::Counts, now + back_off(claim.attempts), &error).await?;
        }
        Failure::NotNow(error) => {
            store::job::retry(tx, claim, Attempt::TakenBack, now + FIRST_BACK_OFF, &error).await?;
        }
        Failure::Retry(error) | Failure::Fail(error) => {
            store::job::dead_letter(tx, claim, &error).await?;
        }
    }
    Ok(())
}

/// Exponential back-off with jitter: 5 s, 10 s, 20 s … 6 h, each up to a quarter longer, so that jobs which failed
/// together are not retried together.
fn back_off(attempts: i64) -> TimeDelta {
    let doublings = u32::try_from(attempts.clamp(1, 20) - 1).unwrap_or(0);
    let pause = (FIRST_BACK_OFF * 2_i32.pow(doublings)).min(LONGEST_BACK_OFF);
    let mut byte = [0];
    crypto::fill_random(&mut byte);
    pause + pause * i32::from(byte[0]) / 1024
}

/// Puts back jobs whose lease has expired or expires within `early`. This counts as a failed attempt.
async fn reclaim_expired(cx: &Cx, early: TimeDelta) -> Result<()> {
    let by = cx.clock.now() + early;
    if !store::job::is_expired(&cx.db, by).await? {
        return Ok(());
    }
    let mut tx = cx.db.begin().await?;
    for lost in store::job::lock_expired(&mut tx, by).await? {
        metrics::counter!("rookery_jobs_expired_total", "kind" => lost.kind.clone()).increment(1);
        let why = Failure::Retry("its worker was killed, or cut off from the database".to_owned());
        put_back(cx, &mut tx, lost.claim, &lost.kind, why).await?;
    }
    tx.commit().await?;
    Ok(())
}
