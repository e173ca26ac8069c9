//! Job: deletes the rest of what was filtered of a dismissed request's sender, in batches.

use super::Run;
use context::Cx;
use context::queue::{DeleteFiltered, Done, Failure, enqueue, finish};
use service::notification::requests;
use store::job::Claim;

impl Run for DeleteFiltered {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        let mut tx = cx.db.begin().await?;
        if requests::delete_filtered(&mut tx, &self).await? {
            enqueue(cx, &mut tx, &self).await?;
        }
        finish(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
