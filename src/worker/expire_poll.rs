//! Job: notifies the author and the voters of a poll that has ended, a batch of them at a time.

use super::Run;
use context::Cx;
use context::queue::{Done, ExpirePoll, Failure, finish};
use service::poll;
use store::job::Claim;

impl Run for ExpirePoll {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        let mut tx = cx.db.begin().await?;
        poll::end(cx, &mut tx, &self).await?;
        finish(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
