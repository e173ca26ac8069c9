//! Takes away what an account that is removed wrote and did, and then the account.
//!
//! One part in a transaction, and the job for the next with it: a kill at any moment leaves whole parts, and goes on.

use serde::{Deserialize, Serialize};

use super::{Done, Failure, Job, enqueue, finish};
use crate::app::App;
use crate::service::removal;
use model::job::Lane;
use model::{AccountId, JobId};

/// Removes the next part of an account.
#[derive(Debug, Serialize, Deserialize)]
pub struct RemoveAccount {
    /// Which.
    pub account: AccountId,
}

impl Job for RemoveAccount {
    const KIND: &'static str = "remove_account";
    const LANE: Lane = Lane::Background;

    fn key(&self) -> Option<String> {
        Some(self.account.to_string())
    }

    async fn run(self, app: &App, id: JobId) -> Result<Done, Failure> {
        let mut tx = app.db.begin().await?;
        let part = removal::take_part(app, &mut tx, self.account).await?;
        match &part {
            Some(_) => enqueue(app, &mut tx, &self).await?,
            None => removal::finish(app, &mut tx, self.account).await?,
        }
        finish(&mut tx, id).await?;
        tx.commit().await?;
        removal::tell(app, self.account, part.unwrap_or_default());
        Ok(Done::Removed)
    }
}
