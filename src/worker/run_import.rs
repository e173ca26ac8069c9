//! Job: does the rows of an import, in batches (`service::transfer`).

use super::Run;
use context::Cx;
use context::queue::{Done, Failure, RunImport};
use service::transfer;
use store::job::Claim;

impl Run for RunImport {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        transfer::run_batch(cx, self, claim).await
    }
}
