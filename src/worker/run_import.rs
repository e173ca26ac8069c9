//! Job: does the rows of an import, in batches (`service::transfer`).

use super::Run;
use rookery_core::Cx;
use rookery_core::queue::{Done, Failure, RunImport};
use rookery_core::service::transfer;
use store::job::Claim;

impl Run for RunImport {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        transfer::run_batch(cx, self, claim).await
    }
}
