//! Recurring job: deletes notifications at the configured age, in batches, so that no transaction holds the write lock for
//! long.

use super::Run;
use chrono::TimeDelta;
use context::Cx;
use context::queue::{DeleteOldNotifications, Done, Failure, enqueue, enqueue_at, finish};
use service::notification;
use store::job::Claim;

/// How often a walk begins.
const INTERVAL: TimeDelta = TimeDelta::hours(6);

impl Run for DeleteOldNotifications {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        let mut tx = cx.db.begin().await?;
        if notification::delete_old(cx, &mut tx).await? {
            enqueue(cx, &mut tx, &self).await?;
        } else {
            enqueue_at(cx, &mut tx, &self, cx.clock.now() + INTERVAL).await?;
        }
        finish(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
