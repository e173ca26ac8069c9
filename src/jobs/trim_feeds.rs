//! Cuts feeds of plugins to their length: queued when something enters one, at most once for each kind of feed.
//!
//! Not in the transaction that fills them, which may be of ten thousand feeds at once.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::{Done, Failure, Job, enqueue, finish};
use crate::app::App;
use crate::error::Result;
use model::JobId;
use model::job::Lane;

/// How many statuses a feed keeps.
pub const KEPT: i64 = 1_000;
/// How long after something entered.
pub const AFTER: TimeDelta = TimeDelta::minutes(10);
/// Feeds that are cut in one transaction.
const BATCH: i64 = 200;

/// Looks at the next feeds of a kind.
#[derive(Debug, Serialize, Deserialize)]
pub struct TrimFeeds {
    /// Which kind.
    pub kind: i64,
    /// Whose were looked at last; 0 begins.
    pub after: i64,
}

impl Job for TrimFeeds {
    const KIND: &'static str = "trim_feeds";
    const LANE: Lane = Lane::Background;

    fn key(&self) -> Option<String> {
        Some(format!("{}-{}", self.kind, self.after))
    }

    async fn run(self, app: &App, id: JobId) -> Result<Done, Failure> {
        let mut tx = app.db.begin().await?;
        let owners = store::plugin_feed::list_owners(&mut tx, self.kind, self.after, BATCH).await?;
        store::feed::trim(&mut tx, self.kind, &owners, KEPT).await?;
        if let Some(last) = owners.last() {
            enqueue(app, &mut tx, &Self { after: *last, ..self }).await?;
        }
        finish(&mut tx, id).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
