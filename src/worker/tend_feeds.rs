//! Recurring job: trims home feeds and those of lists to the configured length, and drops those of inactive accounts.
//!
//! Walks over the local accounts once an hour, in batches, so that no transaction holds the write lock for long. A
//! dropped feed is rebuilt when its owner returns (docs/contract/rules.md#12-timelines).

use super::Run;
use chrono::TimeDelta;
use context::Cx;
use context::error::Result;
use context::queue::{Done, Failure, TendFeeds, enqueue, enqueue_at, finish};
use store::feed::{HOME, LIST};
use store::job::Claim;

/// How often a walk begins.
const INTERVAL: TimeDelta = TimeDelta::hours(1);
/// How long an account may be inactive before its feed is dropped.
const INACTIVE_AFTER: TimeDelta = TimeDelta::days(7);
/// Accounts per transaction.
const BATCH: i64 = 200;

impl Run for TendFeeds {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        let now = cx.clock.now();
        let mut tx = cx.db.begin().await?;
        if i64::from(self.after) == 0 {
            store::feed::drop_unused(&mut tx, now - INACTIVE_AFTER).await?;
        }
        let owners = store::feed::list_owners(&mut tx, self.after, BATCH).await?;
        let keep = i64::from(cx.config.timelines.home_limit);
        store::feed::trim(&mut tx, HOME, &owners, keep).await?;
        let lists = store::list::list_ids(&mut tx, &owners).await?;
        store::feed::trim(&mut tx, LIST, &lists, keep).await?;
        match owners.last() {
            Some(last) => enqueue(cx, &mut tx, &Self { after: *last }).await?,
            None => enqueue_at(cx, &mut tx, &Self::begin(), now + INTERVAL).await?,
        }
        finish(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
