//! Job: brings statuses of before there was a full-text index into it, in batches, newest first.

use super::Run;
use rookery_core::Cx;
use rookery_core::queue::{Done, Failure, IndexStatuses, enqueue, finish};
use rookery_core::service::search::index;
use store::job::Claim;

impl Run for IndexStatuses {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        let mut tx = cx.db.begin().await?;
        if let Some(before) = index::fill(cx, &mut tx, self.before).await?.last() {
            enqueue(cx, &mut tx, &Self { before: *before }).await?;
        }
        finish(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
