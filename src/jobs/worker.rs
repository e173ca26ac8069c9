//! Claims jobs, runs them, removes them or puts them back with growing pauses.

use std::time::Duration;

use chrono::TimeDelta;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::{Done, Failure, dispatch, plugin};
use crate::app::App;
use crate::error::Result;
use model::Time;
use model::job::Lane;
use store::job::JobRow;

/// A job whose worker has not come back for so long is put back: the process was killed.
const LEASE: TimeDelta = TimeDelta::minutes(5);
/// The first pause; each further one is twice as long.
const FIRST_PAUSE: TimeDelta = TimeDelta::seconds(5);
/// The longest pause.
const LONGEST_PAUSE: TimeDelta = TimeDelta::hours(6);

/// Works until `stop` says true, then ends what it began.
pub async fn run(app: App, stop: watch::Receiver<bool>) {
    if app.config.jobs.workers == 0 {
        return;
    }
    if app.db.engine() == store::Engine::Sqlite {
        // One process works on a SQLite file: whatever runs there was killed.
        if let Err(error) = put_back_lost(&app, LEASE).await {
            tracing::error!(%error, "could not put lost jobs back");
        }
    }
    let mut lanes = JoinSet::new();
    for lane in Lane::ALL {
        lanes.spawn(run_lane(app.clone(), *lane, stop.clone()));
    }
    while lanes.join_next().await.is_some() {}
}

async fn run_lane(app: App, lane: Lane, mut stop: watch::Receiver<bool>) {
    let pause = Duration::from_millis(app.config.jobs.poll_interval_ms);
    let mut running = JoinSet::new();
    while !*stop.borrow() {
        // Registered before looking, so that a job queued meanwhile is not overslept.
        let queued = app.db.jobs_queued();
        tokio::pin!(queued);
        queued.as_mut().enable();
        let room = app.config.jobs.workers.saturating_sub(running.len());
        let claimed = if room == 0 { Ok(Vec::new()) } else { claim(&app, lane, room).await };
        match claimed {
            Ok(jobs) if !jobs.is_empty() => {
                for job in jobs {
                    let app = app.clone();
                    running.spawn(async move { work(&app, job).await });
                }
                continue;
            }
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "could not claim jobs"),
        }
        tokio::select! {
            () = &mut queued => {}
            Some(_) = running.join_next(), if !running.is_empty() => {}
            () = tokio::time::sleep(pause) => {
                if let Err(error) = put_back_lost(&app, TimeDelta::zero()).await {
                    tracing::error!(%error, "could not put lost jobs back");
                }
            }
            _ = stop.changed() => {}
        }
    }
    while running.join_next().await.is_some() {}
}

/// Runs what is due, and what that queues, until nothing is due: for tests and the command line.
///
/// # Errors
/// When the database does; a failing job is put back and is no error here.
pub async fn drain(app: &App) -> Result<usize> {
    let mut count = 0;
    loop {
        let before = count;
        for lane in Lane::ALL {
            for job in claim(app, *lane, 16).await? {
                work(app, job).await;
                count += 1;
            }
        }
        if count == before {
            return Ok(count);
        }
    }
}

async fn claim(app: &App, lane: Lane, room: usize) -> Result<Vec<JobRow>> {
    let now = app.clock.now();
    let room = i64::try_from(room).unwrap_or(i64::MAX);
    if lane == plugin::LANE {
        return claim_of_plugins(app, now, room).await;
    }
    if !store::job::is_due(&app.db, lane, now).await? {
        return Ok(Vec::new());
    }
    let mut tx = app.db.begin().await?;
    let mut jobs = store::job::claim(&mut tx, lane, now, now + LEASE, room).await?;
    tx.commit().await?;
    jobs.sort_unstable_by_key(|job| job.id);
    Ok(jobs)
}

/// Jobs of plugins that serve; those of others wait. Without plugins this costs nothing.
async fn claim_of_plugins(app: &App, now: Time, room: i64) -> Result<Vec<JobRow>> {
    let registry = app.plugins.current();
    if registry.plugins.is_empty() {
        return Ok(Vec::new());
    }
    plugin::schedule(app, &registry).await?;
    let kinds = plugin::kinds(app, &registry);
    if !store::job::is_due_of(&app.db, plugin::LANE, &kinds, now).await? {
        return Ok(Vec::new());
    }
    let mut tx = app.db.begin().await?;
    let mut jobs = store::job::claim_of(&mut tx, plugin::LANE, &kinds, now, now + LEASE, room).await?;
    tx.commit().await?;
    jobs.sort_unstable_by_key(|job| job.id);
    Ok(jobs)
}

async fn work(app: &App, job: JobRow) {
    let (id, attempts, kind) = (job.id, job.attempts, job.kind.clone());
    let ended = dispatch(app, job).await;
    metrics::counter!("rookery_jobs_total", "kind" => kind.clone(), "result" => if ended.is_ok() { "ok" } else { "failed" }).increment(1);
    let settled = match ended {
        Ok(Done::Removed) => Ok(()),
        Ok(Done::Remove) => settle(app, id, None, attempts).await,
        Err(failure) => {
            tracing::warn!(job.id = %id, job.kind = %kind, job.attempts = attempts, ?failure, "a job failed");
            settle(app, id, Some(failure), attempts).await
        }
    };
    if let Err(error) = settled {
        // Its lease runs out, and it is tried again.
        tracing::error!(job.id = %id, %error, "could not settle a job");
    }
}

async fn settle(app: &App, id: model::JobId, failure: Option<Failure>, attempts: i64) -> Result<()> {
    let mut tx = app.db.begin().await?;
    match failure {
        None => store::job::delete(&mut tx, id).await?,
        Some(Failure::Retry(error)) if attempts < i64::from(app.config.jobs.max_attempts) => {
            store::job::retry(&mut tx, id, app.clock.now() + pause_after(attempts), &error).await?;
        }
        Some(Failure::NotNow(error)) => {
            store::job::postpone(&mut tx, id, app.clock.now() + FIRST_PAUSE, &error).await?;
        }
        Some(Failure::Retry(error) | Failure::Fail(error)) => store::job::bury(&mut tx, id, &error).await?,
    }
    tx.commit().await?;
    Ok(())
}

/// 5 s, 10 s, 20 s … 6 h, each up to a quarter longer, so that what failed together does not come back together.
fn pause_after(attempts: i64) -> TimeDelta {
    let doublings = u32::try_from(attempts.clamp(1, 20) - 1).unwrap_or(0);
    let pause = (FIRST_PAUSE * 2_i32.pow(doublings)).min(LONGEST_PAUSE);
    let mut byte = [0];
    crypto::fill_random(&mut byte);
    pause + pause * i32::from(byte[0]) / 1024
}

/// Puts back the jobs whose lease ran out `early` before its time.
async fn put_back_lost(app: &App, early: TimeDelta) -> Result<()> {
    let now = app.clock.now();
    let lost = store::job::list_lost(&app.db, now + early).await?;
    if lost.is_empty() {
        return Ok(());
    }
    let mut tx = app.db.begin().await?;
    for id in &lost {
        store::job::retry(&mut tx, *id, now, "its worker was killed").await?;
    }
    tx.commit().await?;
    tracing::info!(jobs = lost.len(), "put jobs back whose worker was killed");
    Ok(())
}
