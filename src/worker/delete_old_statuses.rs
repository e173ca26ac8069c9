//! Recurring job: deletes old statuses of accounts that want that (`service::status_cleanup`).
//!
//! Walks over the policies once a day, in batches, so that no transaction holds the write lock for long.

use super::Run;
use chrono::TimeDelta;
use context::Cx;
use context::queue::{DeleteOldStatuses, Done, Failure, enqueue, enqueue_at, finish};
use service::status_cleanup;
use store::job::Claim;

/// How often a walk begins.
const INTERVAL: TimeDelta = TimeDelta::days(1);

impl Run for DeleteOldStatuses {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        let found = status_cleanup::next(cx, self).await?;
        let mut tx = cx.db.begin().await?;
        match found {
            Some(old) => {
                let next = status_cleanup::delete(cx, &mut tx, old).await?;
                enqueue(cx, &mut tx, &next).await?;
            }
            None => enqueue_at(cx, &mut tx, &Self::begin(), cx.clock.now() + INTERVAL).await?,
        }
        finish(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
