//! Jobs: trim feeds to their maximum length. Home and list feeds are trimmed hourly, when the feeds of inactive
//! accounts are dropped as well; feeds of plugins after an insertion. In batches, so that no transaction holds the
//! write lock for long.
//!
//! A dropped feed is rebuilt when its owner returns (docs/contract/rules.md#12-timelines).

use chrono::TimeDelta;
use context::Cx;
use context::job;
use context::queue::{Failure, MaintainFeeds, Next, PLUGIN_FEED_LENGTH, TrimFeeds};
use database::Tx;
use store::feed::{HOME, LIST};

/// How often a walk begins.
const INTERVAL: TimeDelta = TimeDelta::hours(1);
/// How long an account may be inactive before its feed is dropped.
const INACTIVE_AFTER: TimeDelta = TimeDelta::days(7);
/// Owners of feeds per transaction.
const BATCH: i64 = 200;

#[job]
async fn maintain_feeds(cx: &Cx, tx: &mut Tx, job: MaintainFeeds) -> Result<Next<MaintainFeeds>, Failure> {
    let now = cx.clock.now();
    if i64::from(job.after) == 0 {
        store::feed::drop_unused(tx, now - INACTIVE_AFTER).await?;
    }
    let owners = store::feed::list_owners(&mut *tx, job.after, BATCH).await?;
    let keep = i64::from(cx.config.timelines.home_limit);
    store::feed::trim(tx, HOME, &owners, keep).await?;
    let lists = store::list::list_ids(&mut *tx, &owners).await?;
    store::feed::trim(tx, LIST, &lists, keep).await?;
    Ok(match owners.last() {
        Some(last) => Next::Now(MaintainFeeds { after: *last }),
        None => Next::At(now + INTERVAL, MaintainFeeds::begin()),
    })
}

#[job]
async fn trim_feeds(_: &Cx, tx: &mut Tx, job: TrimFeeds) -> Result<Next<TrimFeeds>, Failure> {
    let owners = store::plugin_feed::list_owners(&mut *tx, job.kind, job.after, BATCH).await?;
    store::feed::trim(tx, job.kind, &owners, PLUGIN_FEED_LENGTH).await?;
    Ok(owners.last().map(|last| TrimFeeds { after: *last, ..job }).into())
}
