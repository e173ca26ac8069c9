//! Recurring jobs: the hourly clean-up of expired rows and unused pages, and the queuing of each recurring job when a
//! server starts.
//!
//! A recurring job queues its own next run in the transaction that completes the current one. The job's key
//! deduplicates, so each runs once per server however many nodes there are.

use model::boxed;
use std::time::Duration;

use chrono::TimeDelta;
use context::Cx;
use context::error::Result;
use context::job;
use context::queue::{self, Clean, Done, Failure};
use database::Tx;
use model::Time;
use service::email_block;
use service::oauth::authorize::CODE_REPLAY_WINDOW;
use store::job::Claim;

/// How often expired rows are deleted.
const CLEAN_EVERY: TimeDelta = TimeDelta::hours(1);
/// Pause between two steps that release unused pages of the database file, so that other connections can use the
/// database.
const STEP_PAUSE: Duration = Duration::from_millis(20);
/// How long an idempotency key is kept (docs/contract/rules.md#10-statuses).
const IDEMPOTENCY_LIFETIME: TimeDelta = TimeDelta::hours(1);

/// How long an event is kept for a plugin that has not received it.
const EVENT_RETENTION: TimeDelta = TimeDelta::days(14);

/// How long an address that an account used is kept after its last use.
const IP_RETENTION: TimeDelta = TimeDelta::days(365);
/// Most such addresses deleted in one run.
const IP_BATCH: i64 = 10_000;

/// How long a processed activity is recognised: as long as its signature can be valid, a day at most.
const REPLAY_WINDOW: TimeDelta = TimeDelta::days(1);
/// How long an activity is kept that could not be processed.
const ACTIVITY_RETENTION: TimeDelta = TimeDelta::days(14);
/// How long a document is kept after all inboxes received it.
const SENT_RETENTION: TimeDelta = TimeDelta::hours(1);
/// How long a delivery that was given up can be looked at.
const DEAD_RETENTION: TimeDelta = TimeDelta::days(30);
/// How long deleted objects are remembered.
const TOMBSTONE_RETENTION: TimeDelta = TimeDelta::days(90);
/// Most rows of each kind deleted in one run.
const FEDERATION_BATCH: i64 = 1_000;

/// Queues every recurring job that is not queued yet. Called when a server starts.
#[boxed]
pub async fn schedule(cx: &Cx) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    queue::enqueue(cx, &mut tx, &Clean {}).await?;
    queue::enqueue(cx, &mut tx, &queue::MaintainFeeds::begin()).await?;
    queue::enqueue(cx, &mut tx, &queue::DeleteOldNotifications {}).await?;
    queue::enqueue(cx, &mut tx, &queue::DeleteOldStatuses::begin()).await?;
    queue::enqueue(cx, &mut tx, &queue::RefreshTrends { since: 0 }).await?;
    queue::enqueue(cx, &mut tx, &queue::PruneCards::begin()).await?;
    queue::enqueue(cx, &mut tx, &queue::TrimMediaCache {}).await?;
    queue::enqueue(cx, &mut tx, &queue::TrimRemoteFiles {}).await?;
    queue::enqueue(cx, &mut tx, &queue::PruneRemoteFiles::begin()).await?;
    queue::enqueue(cx, &mut tx, &queue::CountDays {}).await?;
    queue::enqueue(cx, &mut tx, &queue::RefreshDomainLists {}).await?;
    queue::enqueue(cx, &mut tx, &queue::PruneRemoteStatuses::begin()).await?;
    queue::enqueue(cx, &mut tx, &queue::PruneRemoteAccounts::begin()).await?;
    queue::enqueue(cx, &mut tx, &queue::PruneUnused::begin()).await?;
    tx.commit().await?;
    Ok(())
}

#[job]
async fn clean(cx: &Cx, job: Clean, claim: Claim) -> Result<Done, Failure> {
    while cx.db.release_pages().await? {
        tokio::time::sleep(STEP_PAUSE).await;
    }
    let now = cx.clock.now();
    let mut tx = cx.db.begin().await?;
    service::session::clean(cx, &mut tx).await?;
    store::one_time_link::delete_expired(&mut tx, now).await?;
    store::oauth_code::delete_expired(&mut tx, now - CODE_REPLAY_WINDOW).await?;
    store::cleaning::delete_idempotency_keys(&mut tx, now - IDEMPOTENCY_LIFETIME).await?;
    store::plugin_kv::delete_expired(&mut tx, now).await?;
    store::ip_block::delete_expired(&mut tx, now).await?;
    store::email_block::delete_old_attempts(&mut tx, email_block::first_kept_day(now)).await?;
    let old_ips = store::user_ip::delete_old(&mut tx, now - IP_RETENTION, IP_BATCH).await?;
    let old = store::plugin_event::delete_old(&mut tx, now - EVENT_RETENTION).await?;
    if old > 0 {
        tracing::warn!(events = old, "dropped undelivered plugin events older than 14 days");
    }
    let dead_jobs = service::server::unused::clean(cx, &mut tx).await?;
    let more = clean_federation(&mut tx, now).await? || dead_jobs;
    // Deleted in batches; the next run, one second later, deletes the rest.
    let next = if old > 0 || old_ips > 0 || more { TimeDelta::seconds(1) } else { CLEAN_EVERY };
    queue::enqueue_at(cx, &mut tx, &job, now + next).await?;
    queue::finish(&mut tx, claim).await?;
    tx.commit().await?;
    Ok(Done::Removed)
}

/// Deletes rows of federation that have no purpose any more; true when there may be more.
async fn clean_federation(tx: &mut Tx, now: Time) -> Result<bool, Failure> {
    let activities =
        store::inbound::delete_old(tx, now - REPLAY_WINDOW, now - ACTIVITY_RETENTION, FEDERATION_BATCH).await?;
    let documents = store::delivery::delete_sent(tx, now - SENT_RETENTION, FEDERATION_BATCH).await?;
    let tombstones = store::tombstone::delete_old(tx, now - TOMBSTONE_RETENTION, FEDERATION_BATCH).await?;
    let pauses = store::host::delete_old_pauses(tx, now - SENT_RETENTION, FEDERATION_BATCH).await?;
    let dead = store::host::delete_old_dead(tx, now - DEAD_RETENTION, FEDERATION_BATCH).await?;
    let batch = u64::try_from(FEDERATION_BATCH).unwrap_or(u64::MAX);
    Ok([activities, documents, tombstones, pauses, dead].contains(&batch))
}
