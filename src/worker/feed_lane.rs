//! The feed lane: jobs that only write rows, several of them run and deleted in one transaction.
//!
//! Reached from [`run`](super::run()) and [`drain`](super::drain). Such a job needs no claim: it stays ready until
//! the transaction of its work is committed, so a kill rolls its work back and leaves the job. Waiting statuses are
//! fanned out together, so that each feed is written once for all of them.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::{caught, count, feed, put_back, reconcile_feeds};
use context::queue::{
    Failure, FanOut, Job, Merge, MergeTag, Rebuild, RebuildList, ReconcileHome, ReconcileList, Unmerge, UnmergeDomain,
    UnmergeTag,
};
use context::{Cx, Result};
use database::Tx;
use model::JobId;
use model::job::Lane;
use store::job::JobRow;

/// Most jobs of a transaction.
const BATCH: i64 = 64;
/// How long the lane waits for further jobs when one was queued.
const GATHER: Duration = Duration::from_millis(25);
/// The longest wait of a busy lane.
const LONGEST_GATHER: Duration = Duration::from_millis(200);
/// Skip the wait when the lane was idle this long, to keep streaming latency low.
const CALM: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Batch {
    /// Jobs that ended, successfully or not.
    pub(super) ended: usize,
    /// More may be due.
    pub(super) more: bool,
}

/// Runs jobs of the lane until `stop` is true.
pub(super) async fn run(cx: Cx, mut stop: watch::Receiver<bool>) {
    let pause = Duration::from_millis(cx.config.jobs.poll_interval_ms);
    let mut queued_here = false;
    let mut worked: Option<Instant> = None;
    while !*stop.borrow() {
        // Registered before the query, so that a job queued in between is not missed.
        let queued = cx.db.jobs_queued(Lane::Feed);
        tokio::pin!(queued);
        queued.as_mut().enable();
        let begun = Instant::now();
        let done = round(&cx, queued_here).await;
        // A lane that is busy half of the time finds twice as many jobs per batch: each feed, and each database page
        // of feeds, is then written once for all of them.
        let gather = begun.elapsed().clamp(GATHER, LONGEST_GATHER);
        if queued_here {
            worked = Some(Instant::now());
        }
        match done {
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => context::log_failure!(error, "could not run jobs of feeds"),
        }
        queued_here = tokio::select! {
            () = &mut queued => true,
            () = tokio::time::sleep(pause) => false,
            _ = stop.changed() => false,
        };
        if queued_here && worked.is_some_and(|worked| worked.elapsed() < CALM) {
            tokio::time::sleep(gather).await;
        }
    }
}

/// Runs one batch, if jobs are due or were `queued_here` just now. Returns true when more may be due.
async fn round(cx: &Cx, queued_here: bool) -> Result<bool> {
    if !queued_here && !store::job::is_due(&cx.db, Lane::Feed, cx.clock.now()).await? {
        return Ok(false);
    }
    Ok(batch(cx).await?.more)
}

/// Runs the first due jobs in one transaction. If that fails, tries the first one alone.
pub(super) async fn batch(cx: &Cx) -> Result<Batch> {
    let cx = &cx.begin(None);
    let (jobs, more, done) = attempt(cx, BATCH).await?;
    match done {
        Ok(()) => {
            jobs.iter().for_each(|job| count(&job.kind, true));
            Ok(Batch { ended: jobs.len(), more })
        }
        Err(failure) => {
            if jobs.len() > 1 {
                tracing::warn!(jobs = jobs.len(), ?failure, "a batch of jobs failed: trying the first one alone");
            }
            alone(cx).await?;
            Ok(Batch { ended: 1, more: true })
        }
    }
}

/// Runs the first due job, and puts it back when it fails.
async fn alone(cx: &Cx) -> Result<()> {
    let (jobs, _, done) = attempt(cx, 1).await?;
    let Some(job) = jobs.first() else { return Ok(()) };
    count(&job.kind, done.is_ok());
    let Err(failure) = done else { return Ok(()) };
    let mut tx = cx.db.begin().await?;
    if let Some(claim) = store::job::claim_ids(&mut tx, &[job.claim.id], cx.clock.now()).await?.first() {
        put_back(cx, &mut tx, *claim, &job.kind, failure).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// Tries at most `most` of the first due jobs in one transaction. Returns the jobs, whether more may be due, and the
/// result.
async fn attempt(cx: &Cx, most: i64) -> Result<(Vec<JobRow>, bool, Result<(), Failure>)> {
    let mut tx = cx.db.begin().await?;
    let due = store::job::lock_due(&mut tx, Lane::Feed, cx.clock.now(), most).await?;
    let found = due.len();
    let jobs = together(due);
    let more = jobs.len() < found || i64::try_from(found).is_ok_and(|found| found == most);
    let done = match jobs.first() {
        Some(first) => caught(&first.kind, work(cx, tx, &jobs)).await,
        None => Ok(()),
    };
    Ok((jobs, more, done))
}

/// Selects the jobs to run first from `due`, which is in queue order: one, or all that fan out.
fn together(mut due: Vec<JobRow>) -> Vec<JobRow> {
    match due.first() {
        Some(first) if first.kind == FanOut::KIND => due.retain(|job| job.kind == FanOut::KIND),
        Some(_) | None => due.truncate(1),
    }
    due
}

async fn work(cx: &Cx, mut tx: Tx, jobs: &[JobRow]) -> Result<(), Failure> {
    let ids: Vec<JobId> = jobs.iter().map(|job| job.claim.id).collect();
    let Some(first) = jobs.first() else { return Ok(()) };
    match first.kind.as_str() {
        FanOut::KIND => {
            let fan_outs: Vec<FanOut> = jobs.iter().map(read).collect::<Result<_, _>>()?;
            tx = feed::fan_out(cx, tx, &ids, &fan_outs).await?;
        }
        Merge::KIND => feed::merge(cx, &mut tx, first.claim.id, &read(first)?).await?,
        Unmerge::KIND => feed::unmerge(cx, &mut tx, &read(first)?).await?,
        UnmergeDomain::KIND => feed::unmerge_domain(&mut tx, &read(first)?).await?,
        Rebuild::KIND => feed::rebuild(cx, &mut tx, &read(first)?).await?,
        MergeTag::KIND => reconcile_feeds::merge_tag(cx, &mut tx, first.claim.id, &read(first)?).await?,
        UnmergeTag::KIND => reconcile_feeds::unmerge_tag(cx, &mut tx, &read(first)?).await?,
        ReconcileList::KIND => reconcile_feeds::list(cx, &mut tx, first.claim.id, &read(first)?).await?,
        ReconcileHome::KIND => reconcile_feeds::home(cx, &mut tx, first.claim.id, &read(first)?).await?,
        RebuildList::KIND => reconcile_feeds::rebuild_list(cx, &mut tx, &read(first)?).await?,
        other => return Err(Failure::Fail(format!("unknown kind {other}"))),
    }
    store::job::delete_ids(&mut tx, &ids).await?;
    Ok(tx.commit().await?)
}

fn read<J: Job>(row: &JobRow) -> Result<J, Failure> {
    serde_json::from_value(row.payload.0.clone()).map_err(|error| Failure::Fail(format!("payload: {error}")))
}
