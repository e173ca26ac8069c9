//! Job: trims plugin feeds of one kind to their maximum length. Queued on insertion, deduplicated per kind of feed.

use super::Run;
use context::Cx;
use context::error::Result;
use context::queue::{Done, Failure, PLUGIN_FEED_LENGTH, TrimFeeds, enqueue, finish};
use store::job::Claim;

/// Feeds trimmed per transaction.
const BATCH: i64 = 200;

impl Run for TrimFeeds {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        let mut tx = cx.db.begin().await?;
        let owners = store::plugin_feed::list_owners(&mut tx, self.kind, self.after, BATCH).await?;
        store::feed::trim(&mut tx, self.kind, &owners, PLUGIN_FEED_LENGTH).await?;
        if let Some(last) = owners.last() {
            enqueue(cx, &mut tx, &Self { after: *last, ..self }).await?;
        }
        finish(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
