//! What requests name: of the data set, or learned from another server.

/// People, statuses and accounts that requests rotate over. Ids are texts: other servers do not number.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    /// The name of the server, as in `Host`.
    pub host: String,
    /// Of those who ask, each of another account.
    pub tokens: Vec<String>,
    /// Whose statuses are asked for.
    pub authors: Vec<String>,
    /// Statuses with many answers.
    pub threads: Vec<String>,
    /// Statuses that everyone who asks may see and favourite.
    pub statuses: Vec<String>,
    /// What accounts are searched by.
    pub names: Vec<String>,
    /// A list of each of those who ask, in their order.
    pub lists: Vec<String>,
    pub publishers: Vec<Publisher>,
    /// Polls in which everyone who asks may vote.
    pub polls: Vec<String>,
}

/// Who publishes.
#[derive(Clone, Debug)]
pub struct Publisher {
    pub followers: usize,
    pub token: String,
}
