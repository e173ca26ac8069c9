//! Job: accepts an account's pending follow requests after the account was unlocked; requests from limited accounts
//! stay pending. Queued by `service::profile::update`.

use super::Run;
use context::Cx;
use context::queue::{AcceptRequests, Done, Failure};

use store::job::Claim;

/// Pending requests fetched per query.
const BATCH: i64 = 100;

impl Run for AcceptRequests {
    async fn run(self, cx: &Cx, _: Claim) -> Result<Done, Failure> {
        while store::account::find(&cx.db, self.account).await?.is_some_and(|account| !account.locked) {
            let waiting = store::follow::list_acceptable(&cx.db, self.account, BATCH).await?;
            if waiting.is_empty() {
                break;
            }
            for follower in waiting {
                service::follow::accept(cx, self.account, follower).await?;
            }
        }
        Ok(Done::Remove)
    }
}
