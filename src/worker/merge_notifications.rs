//! Job: shows what was filtered of a sender who was permitted since, in batches.

use super::Run;
use context::Cx;
use context::queue::{Done, Failure, MergeNotifications, enqueue, finish};
use service::notification::requests;
use store::job::Claim;

impl Run for MergeNotifications {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        let mut tx = cx.db.begin().await?;
        if requests::merge_batch(cx, &mut tx, self.account, self.from).await? {
            enqueue(cx, &mut tx, &self).await?;
        }
        finish(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
