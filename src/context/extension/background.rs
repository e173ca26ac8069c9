//! Background work of extensions: the outbox of changes, and jobs.

use async_trait::async_trait;

use crate::change::{Change, ChangeKind};
use crate::queue::{Done, Failure};
use crate::{Cx, Result};
use database::Tx;
use store::job::JobRow;

/// Delivers changes to the extensions that subscribed to them. The default of every method is the behaviour of a
/// server without extensions.
#[async_trait]
pub trait ReceiveChanges {
    /// True when some extension listens to changes of `kind`; otherwise details of such changes need not be read.
    fn listens_to(&self, _kind: ChangeKind) -> bool {
        false
    }

    /// Writes `changes` to the outbox of every extension that listens, in `tx`: one statement, or none.
    async fn record(&self, _cx: &Cx, _tx: &mut Tx, _changes: &[Change]) -> Result<()> {
        Ok(())
    }
}

/// Runs the jobs of extensions. The default of every method is the behaviour of a server without extensions.
#[async_trait]
pub trait RunJobs {
    /// The kinds of extensions' jobs that can run now, after their schedules were queued; empty on a node without
    /// extensions.
    async fn job_kinds(&self, _cx: &Cx) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// True when `kind` is a kind of an extension's jobs.
    fn owns_job(&self, _kind: &str) -> bool {
        false
    }

    /// Runs a job whose kind is one of [`RunJobs::job_kinds`].
    async fn run_job(&self, _cx: &Cx, row: JobRow) -> Result<Done, Failure> {
        Err(Failure::Retry(format!("nothing here runs jobs of the kind {}", row.kind)))
    }
}
