//! Job: removes the feeds and notifications of a purged plugin, one batch per transaction.
//!
//! There may be millions of rows, and other writers must not wait for their removal.

use context::Cx;
use context::job;
use context::queue::{Failure, Next, PurgePlugin};
use database::Tx;

/// Rows deleted per transaction.
const BATCH: i64 = 2_000;

#[job]
async fn purge_plugin(_: &Cx, tx: &mut Tx, mut job: PurgePlugin) -> Result<Next<PurgePlugin>, Failure> {
    let deleted = match job.feeds.last() {
        Some(kind) => store::plugin_feed::delete_some(tx, *kind, BATCH).await?,
        None => store::notification::delete_some(tx, &job.notifications, job.last, BATCH).await?,
    };
    let whole = deleted == BATCH.unsigned_abs();
    Ok((whole || job.feeds.pop().is_some()).then_some(job).into())
}
