//! Jobs: make an archive that somebody asked for, and delete it when its time is over (`service::archive`).

use super::Run;
use rookery_core::Cx;
use rookery_core::queue::{Done, ExpireArchive, Failure, MakeArchive};
use rookery_core::service::archive;
use store::job::Claim;

impl Run for MakeArchive {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        archive::make(cx, &self, claim).await
    }
}

impl Run for ExpireArchive {
    async fn run(self, cx: &Cx, _: Claim) -> Result<Done, Failure> {
        archive::expire(cx, &self).await?;
        Ok(Done::Remove)
    }
}
