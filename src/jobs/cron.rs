//! What is done again and again: each kind queues its own next run in the transaction of this one, under a key, so that
//! once per server is once per server, however many nodes there are.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::{Done, Failure, Job};
use crate::app::App;
use crate::error::Result;
use model::JobId;
use model::job::Lane;

/// How often what has expired is removed.
const CLEAN_EVERY: TimeDelta = TimeDelta::hours(1);
/// How long a repeated request gets the first answer again (contract rules, section 10).
const IDEMPOTENCY_LIFETIME: TimeDelta = TimeDelta::hours(1);

/// How long what plugins are to be told waits for them.
const EVENTS_LIFETIME: TimeDelta = TimeDelta::days(14);

/// Sees to it that every recurring job waits for its time. Called when a server starts.
///
/// # Errors
/// When the database does.
pub async fn schedule(app: &App) -> Result<()> {
    let mut tx = app.db.begin().await?;
    super::enqueue(app, &mut tx, &Clean {}).await?;
    super::enqueue(app, &mut tx, &super::tend_feeds::TendFeeds::begin()).await?;
    tx.commit().await?;
    Ok(())
}

/// Removes expired sessions, links, authorization codes, idempotency keys and small values of plugins, and what plugins did not
/// get to.
#[derive(Debug, Serialize, Deserialize)]
pub struct Clean {}

impl Job for Clean {
    const KIND: &'static str = "clean";
    const LANE: Lane = Lane::Background;

    fn key(&self) -> Option<String> {
        Some(String::new())
    }

    async fn run(self, app: &App, id: JobId) -> Result<Done, Failure> {
        let now = app.clock.now();
        let mut tx = app.db.begin().await?;
        store::session::delete_expired(&mut tx, now).await?;
        store::link::delete_expired(&mut tx, now).await?;
        store::cleaning::delete_expired_grants(&mut tx, now).await?;
        store::cleaning::delete_idempotency_keys(&mut tx, now - IDEMPOTENCY_LIFETIME).await?;
        store::plugin_kv::sweep(&mut tx, now).await?;
        let old = store::plugin_event::delete_old(&mut tx, now - EVENTS_LIFETIME).await?;
        if old > 0 {
            tracing::warn!(events = old, "plugins were never told what happened two weeks ago: it is kept no longer");
        }
        // What is left of it goes soon.
        let next = if old > 0 { TimeDelta::seconds(1) } else { CLEAN_EVERY };
        super::enqueue_at(app, &mut tx, &self, now + next).await?;
        super::finish(&mut tx, id).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
