//! Job: removes the feeds and notifications of a plugin that was purged, a batch in each transaction.
//!
//! They may be millions of rows, for which nobody who writes may have to wait.

use super::Run;
use context::Cx;
use context::error::Result;
use context::queue::{Done, Failure, PurgePlugin, enqueue, finish};
use store::job::Claim;

/// Rows deleted per transaction.
const BATCH: i64 = 2_000;

impl Run for PurgePlugin {
    async fn run(mut self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        let mut tx = cx.db.begin().await?;
        let deleted = match self.feeds.last() {
            Some(kind) => store::plugin_feed::delete_some(&mut tx, *kind, BATCH).await?,
            None => store::notification::delete_some(&mut tx, &self.notifications, self.last, BATCH).await?,
        };
        let whole = deleted == BATCH.unsigned_abs();
        if whole || self.feeds.pop().is_some() {
            enqueue(cx, &mut tx, &self).await?;
        }
        finish(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
