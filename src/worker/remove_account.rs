//! Job: deletes the data of a removed account in batches, and finally the account (`service::removal`).
//!
//! Each batch is one transaction, which also queues the job for the next: after a kill at any moment, removal resumes.

use super::Run;
use context::Cx;
use context::queue::{Done, Failure, RemoveAccount, enqueue, finish};
use service::removal;
use store::job::Claim;

impl Run for RemoveAccount {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        let mut tx = cx.db.begin().await?;
        let part = removal::delete_batch(cx, &mut tx, self.account).await?;
        match &part {
            Some(_) => enqueue(cx, &mut tx, &self).await?,
            None => removal::finish(cx, &mut tx, self.account).await?,
        }
        finish(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
