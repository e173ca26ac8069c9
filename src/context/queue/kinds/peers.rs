//! The kinds of jobs about other servers as a whole: who follows whom, and the removal of what is known of them.

use serde::{Deserialize, Serialize};

use super::super::declare::jobs;
use super::super::job::Job;
use model::AccountId;
use model::job::Lane;

jobs! {
    /// Removes the next accounts of a purged domain, and when they are gone what is owed to its hosts.
    PurgeDomain as "purge_domain" in Background, key |job| format!("{} {} {}", job.domain, job.after, job.looks) => {
        domain: String,
        /// The last account of the previous batch; 0 for the first batch.
        after: AccountId,
        /// The domain, and the hosts below it that have inboxes of its accounts.
        hosts: Vec<String>,
        /// How often the job waited for the removal of the accounts.
        looks: u32,
    }

    /// Compares the accounts of this server that follow a remote account with the ones that its server states.
    SynchronizeFollowers as "synchronize_followers" in Remote, key |job| job.account.to_string(),
        share |job| Some(&job.domain) => {
        /// The followed account; it may be gone.
        account: AccountId,
        /// The registrable domain of its server.
        domain: String,
        /// Where its server lists the followers, on its own host.
        url: String,
        /// The digest that its server states.
        digest: String,
    }
}
