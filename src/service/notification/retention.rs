//! Retention: a job deletes notifications at a configured age, in batches.

use chrono::TimeDelta;

use context::error::Result;
use context::queue::{DeleteOldNotifications, Failure, Next};
use context::{Cx, job};
use database::Tx;
use model::{NotificationId, Time};

/// Notifications deleted in one transaction.
const BATCH: i64 = 1_000;

/// Deletes the next batch of notifications older than `notifications.retention_days`; true when more may be left. The
/// last batch also deletes requests of that age without notifications, and severances of that age.
#[model::use_case]
pub async fn delete_old(cx: &Cx, tx: &mut Tx) -> Result<bool> {
    let days = cx.config.notifications.retention_days;
    if days == 0 {
        return Ok(false);
    }
    let before = first_id(cx.clock.now() - TimeDelta::days(days.into()));
    if store::notification::delete_old(tx, before, BATCH).await? == BATCH.unsigned_abs() {
        return Ok(true);
    }
    let requests = store::notification::requests::delete_empty(tx, i64::from(before).into(), BATCH).await?;
    let severances = store::severance::delete_old(tx, before, BATCH).await?;
    Ok(requests.max(severances) == BATCH.unsigned_abs())
}

/// The lowest id assigned at `time`: milliseconds and a sequence of 16 bits (docs/contract/rules.md#1-transport).
fn first_id(time: Time) -> NotificationId {
    (time.timestamp_millis() << 16).into()
}

/// How often a walk begins.
const INTERVAL: TimeDelta = TimeDelta::hours(6);

#[model::use_case]
#[job]
async fn delete_old_notifications(
    cx: &Cx,
    tx: &mut Tx,
    job: DeleteOldNotifications,
) -> Result<Next<DeleteOldNotifications>, Failure> {
    let more = delete_old(cx, tx).await?;
    Ok(if more { Next::Now(job) } else { Next::At(cx.clock.now() + INTERVAL, job) })
}
