//! Suggestions of accounts to follow.

use super::{AccountId, Time, text_enum};

text_enum! {
    /// The reason for a suggestion.
    Source {
        /// Staff picked them.
        Featured = "featured",
        /// Accounts that the viewer follows follow them.
        FriendsOfFriends = "friends_of_friends",
        /// Many people followed them of late.
        MostFollowed = "most_followed",
        /// Many people reblog and favourite their statuses.
        MostInteractions = "most_interactions",
    }
}

/// A suggested account.
#[derive(Clone, Debug)]
pub struct Suggestion {
    pub account: AccountId,
    /// The version of the account, of a suggestion that is shown.
    pub version: i64,
    /// The reasons: at least one.
    pub sources: Vec<Source>,
}

/// The suggestions for one person.
#[derive(Debug)]
pub struct Suggestions {
    /// When they were found.
    pub at: Time,
    /// The best first.
    pub list: Vec<Suggestion>,
}

impl Suggestions {
    /// About how many bytes they take.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.list.iter().map(|suggestion| size_of::<Suggestion>() + suggestion.sources.len()).sum()
    }
}
