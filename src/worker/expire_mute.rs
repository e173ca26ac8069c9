//! Job: deletes a mute that has expired. Queries already ignore expired mutes, so nothing depends on when this runs.

use super::Run;
use context::Cx;
use context::queue::{Done, ExpireMute, Failure};

use store::job::Claim;

impl Run for ExpireMute {
    async fn run(self, cx: &Cx, _: Claim) -> Result<Done, Failure> {
        service::relationship::expire_mute(cx, self.account, self.target).await?;
        Ok(Done::Remove)
    }
}
