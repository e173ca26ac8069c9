//! Job: publishes an announcement that is due, takes back one that ended, and tells of changes made by commands.

use super::Run;
use context::Cx;
use context::queue::{Done, Failure, TendAnnouncement, finish};
use service::announcement;
use store::job::Claim;

impl Run for TendAnnouncement {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        let mut tx = cx.db.begin().await?;
        announcement::tend(cx, &mut tx, self.announcement).await?;
        finish(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
