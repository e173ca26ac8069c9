//! Accepts the requests to follow that wait when an account unlocks, from limited accounts excepted
//! (contract rules, section 9).

use serde::{Deserialize, Serialize};

use super::{Done, Failure, Job};
use crate::app::App;
use crate::service;
use model::job::Lane;
use model::{AccountId, JobId};

/// How many requests are looked up at once.
const BATCH: i64 = 100;

/// Accepts what waits for an account, as long as it is unlocked.
#[derive(Debug, Serialize, Deserialize)]
pub struct AcceptRequests {
    /// Whose requests.
    pub account: AccountId,
}

impl Job for AcceptRequests {
    const KIND: &'static str = "accept_requests";
    const LANE: Lane = Lane::Background;

    fn key(&self) -> Option<String> {
        Some(self.account.to_string())
    }

    async fn run(self, app: &App, _: JobId) -> Result<Done, Failure> {
        while store::account::find(&app.db, self.account).await?.is_some_and(|account| !account.locked) {
            let waiting = store::follow::list_acceptable(&app.db, self.account, BATCH).await?;
            if waiting.is_empty() {
                break;
            }
            for follower in waiting {
                service::follow::accept(app, self.account, follower).await?;
            }
        }
        Ok(Done::Remove)
    }
}
