//! Job: ends the follows between an account and a domain that it blocks, in batches (`service::domain_block`).
//!
//! Each batch is one transaction, which also queues the job for the next with what was counted so far: after a kill at any
//! moment it goes on, and nothing is counted twice.

use super::Run;
use context::Cx;
use context::queue::{Done, Failure, SeverDomain, enqueue, finish};
use service::domain_block;
use store::job::Claim;

impl Run for SeverDomain {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        let mut tx = cx.db.begin().await?;
        if let Some(next) = domain_block::sever_batch(cx, &mut tx, self).await? {
            enqueue(cx, &mut tx, &next).await?;
        }
        finish(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
