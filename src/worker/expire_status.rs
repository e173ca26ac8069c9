//! Job: deletes a status at the time that its text says.

use super::Run;
use context::Cx;
use context::queue::{Done, ExpireStatus, Failure, finish};
use service::status;
use store::job::Claim;

impl Run for ExpireStatus {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        let mut tx = cx.db.begin().await?;
        status::expire(cx, &mut tx, self.status).await?;
        finish(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
