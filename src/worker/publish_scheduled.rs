//! Job: publishes a scheduled status when its time has come.

use super::Run;
use context::Cx;
use context::queue::{Done, Failure, PublishScheduled};
use service::scheduled_status;
use store::job::Claim;

impl Run for PublishScheduled {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        scheduled_status::publish_due(cx, self.scheduled, claim).await
    }
}
