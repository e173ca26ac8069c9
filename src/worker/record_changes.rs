//! Job: delivers to plugins the changes made by a command-line invocation, which has no plugins loaded and leaves them
//! to a server process.

use context::Cx;
use context::job;
use context::queue::{Failure, Next, RecordChanges};
use database::Tx;

#[job]
async fn record_changes(cx: &Cx, tx: &mut Tx, job: RecordChanges) -> Result<Next<RecordChanges>, Failure> {
    cx.extensions().record(cx, tx, &job.changes).await?;
    Ok(Next::Nothing)
}
