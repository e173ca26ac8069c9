//! Targets of requests: from the data set, or learned from another server.

/// People, statuses and accounts that requests rotate over. Ids are strings, since other servers do not use numbers.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    /// Name of the server, as in `Host`.
    pub host: String,
    /// Tokens of the viewers, each of another account.
    pub tokens: Vec<String>,
    /// Cookies of browser sessions of the viewers, in the order of the viewers.
    pub sessions: Vec<String>,
    /// Accounts whose statuses are requested.
    pub authors: Vec<String>,
    /// Statuses with many replies.
    pub threads: Vec<String>,
    /// Statuses that every viewer may see and favourite.
    pub statuses: Vec<String>,
    /// Search terms for accounts.
    pub names: Vec<String>,
    /// A list of each viewer, in the order of the viewers.
    pub lists: Vec<String>,
    pub publishers: Vec<Publisher>,
    /// Polls in which every viewer may vote.
    pub polls: Vec<String>,
}

/// An account that publishes.
#[derive(Clone, Debug)]
pub struct Publisher {
    pub followers: usize,
    pub token: String,
}
