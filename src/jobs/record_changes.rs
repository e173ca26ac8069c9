//! Tells plugins what a command beside the server did: the command knows none, and leaves it to a process that serves them.

use serde::{Deserialize, Serialize};

use super::{Done, Failure, Job, finish};
use crate::app::App;
use crate::plugins::hooks::{self, Change};
use model::JobId;
use model::job::Lane;

/// Records changes that happened in one transaction.
#[derive(Debug, Serialize, Deserialize)]
pub struct RecordChanges {
    /// In the order in which they happened.
    pub changes: Vec<Change>,
}

impl Job for RecordChanges {
    const KIND: &'static str = "record_changes";
    const LANE: Lane = Lane::Background;

    async fn run(self, app: &App, id: JobId) -> Result<Done, Failure> {
        let mut tx = app.db.begin().await?;
        hooks::record_all(app, &mut tx, &self.changes).await?;
        finish(&mut tx, id).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
