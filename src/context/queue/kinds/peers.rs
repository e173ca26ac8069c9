//! The kinds of jobs about other servers as a whole: who follows whom, and the removal of what is known of them, or old.

use serde::{Deserialize, Serialize};

use super::super::declare::jobs;
use super::super::job::Job;
use model::job::Lane;
use model::retention::UnusedPart;
use model::{AccountId, StatusId};

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

    /// Removes the next old statuses of other servers that nothing keeps. Recurring.
    PruneRemoteStatuses as "prune_remote_statuses" in Background, key |_job| String::new() => {
        /// The last status of the previous batch, where the pass continues; 0 starts a pass over all statuses.
        after: StatusId,
        /// When the last pass over all statuses began, in microseconds since the epoch.
        begun_at: i64,
    }

    /// Removes the next unused accounts of other servers. Recurring.
    PruneRemoteAccounts as "prune_remote_accounts" in Background, key |_job| String::new() => {
        /// The last account of the previous batch; 0 starts a new pass.
        after: AccountId,
    }

    /// Deletes the next rows without use: threads, hashtags, applications, servers. Recurring.
    PruneUnused as "prune_unused" in Background, key |_job| String::new() => {
        part: UnusedPart,
        /// The last id of the previous batch; 0 for the first batch of a part.
        after: i64,
        /// The last name of the previous batch, in parts whose rows have no ids.
        after_name: String,
    }

    /// Verifies the quote of a remote status whose authorization could not be fetched.
    VerifyQuote as "verify_quote" in Remote, key |job| job.status.to_string() => {
        status: StatusId,
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
