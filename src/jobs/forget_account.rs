//! Takes away what plugins wrote of a removed account after it was gone: they hear of what it did when they get to it.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::{Done, Failure, Job, enqueue_at, finish};
use crate::app::App;
use crate::model::job::Lane;
use crate::model::{AccountId, JobId};
use crate::service::removal;

/// How long after it looked, it looks again.
const PAUSE: TimeDelta = TimeDelta::minutes(1);

/// Waits until plugins have heard of everything that happened before an account was removed.
#[derive(Debug, Serialize, Deserialize)]
pub struct ForgetAccount {
    /// Which.
    pub account: AccountId,
    /// When.
    pub removed_at: DateTime<Utc>,
}

impl Job for ForgetAccount {
    const KIND: &'static str = "forget_account";
    const LANE: Lane = Lane::Background;

    fn key(&self) -> Option<String> {
        Some(self.account.to_string())
    }

    async fn run(self, app: &App, id: JobId) -> Result<Done, Failure> {
        let mut tx = app.db.begin().await?;
        if removal::forget_part(&mut tx, self.account, self.removed_at.into()).await? {
            enqueue_at(app, &mut tx, &self, app.clock.now() + PAUSE).await?;
        }
        finish(&mut tx, id).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
