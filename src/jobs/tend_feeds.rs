//! Keeps home feeds as long as the configuration says, and none for whoever does not come any more.
//!
//! One walk over the people of this server an hour, a batch at a time, so that no transaction holds the writer for long.
//! A feed that was dropped is built again on return (contract rules, section 12).

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::{Done, Failure, Job, enqueue, enqueue_at, finish};
use crate::app::App;
use crate::error::Result;
use model::job::Lane;
use model::{AccountId, JobId};

/// How often the walk begins.
const EVERY: TimeDelta = TimeDelta::hours(1);
/// How long someone may stay away before their feed is dropped.
const AWAY: TimeDelta = TimeDelta::days(7);
/// People looked at in one transaction.
const BATCH: i64 = 200;

/// Looks at the feeds of the next people.
#[derive(Debug, Serialize, Deserialize)]
pub struct TendFeeds {
    /// Whoever was looked at last; 0 begins a walk.
    pub after: AccountId,
}

impl TendFeeds {
    /// The beginning of a walk.
    #[must_use]
    pub fn begin() -> Self {
        Self { after: AccountId::from(0) }
    }
}

impl Job for TendFeeds {
    const KIND: &'static str = "tend_feeds";
    const LANE: Lane = Lane::Background;

    fn key(&self) -> Option<String> {
        Some(String::new())
    }

    async fn run(self, app: &App, id: JobId) -> Result<Done, Failure> {
        let now = app.clock.now();
        let mut tx = app.db.begin().await?;
        if i64::from(self.after) == 0 {
            store::feed::drop_unused(&mut tx, now - AWAY).await?;
        }
        let owners = store::feed::list_owners(&mut tx, self.after, BATCH).await?;
        store::feed::trim(&mut tx, 0, &owners, i64::from(app.config.timelines.home_limit)).await?;
        match owners.last() {
            Some(last) => enqueue(app, &mut tx, &Self { after: *last }).await?,
            None => enqueue_at(app, &mut tx, &Self::begin(), now + EVERY).await?,
        }
        finish(&mut tx, id).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
