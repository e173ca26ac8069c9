//! Ends a mute whose time has come. Readers do not wait for it: a mute that ran out counts as none.

use serde::{Deserialize, Serialize};

use super::{Done, Failure, Job};
use crate::app::App;
use crate::service;
use model::job::Lane;
use model::{AccountId, JobId};

/// Removes the mute of `target` by `account`, unless its end was moved meanwhile.
#[derive(Debug, Serialize, Deserialize)]
pub struct ExpireMute {
    /// Who mutes.
    pub account: AccountId,
    /// Who is muted.
    pub target: AccountId,
}

impl Job for ExpireMute {
    const KIND: &'static str = "expire_mute";
    const LANE: Lane = Lane::Background;

    async fn run(self, app: &App, _: JobId) -> Result<Done, Failure> {
        service::relationship::expire_mute(app, self.account, self.target).await?;
        Ok(Done::Remove)
    }
}
