//! Job: delivers to plugins the changes made by a command-line invocation, which has no plugins loaded and leaves them
//! to a server process.

use super::Run;
use context::Cx;
use context::queue::{Done, Failure, RecordChanges, finish};
use store::job::Claim;

impl Run for RecordChanges {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        let mut tx = cx.db.begin().await?;
        cx.extensions().record(cx, &mut tx, &self.changes).await?;
        finish(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
