//! Job: sorts direct statuses of before there were conversations into those of their participants, in batches.

use super::Run;
use model::Visibility;
use rookery_core::Cx;
use rookery_core::queue::{Done, Failure, FillConversations, enqueue, finish};
use rookery_core::service::conversation;
use store::job::Claim;

/// Statuses per transaction.
const BATCH: i64 = 200;

impl Run for FillConversations {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        let statuses = store::conversation::list_statuses(&cx.db, self.after, self.until, BATCH).await?;
        let mut tx = cx.db.begin().await?;
        for (status, _) in statuses.iter().filter(|(_, visibility)| *visibility == Visibility::Direct) {
            conversation::fill(cx, &mut tx, *status).await?;
        }
        if let Some((after, _)) = statuses.last() {
            enqueue(cx, &mut tx, &Self { after: *after, until: self.until }).await?;
        }
        finish(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
