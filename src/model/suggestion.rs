//! Suggestions of accounts to follow.

use super::{AccountId, Time, text_enum};

text_enum! {
    /// The reason for a suggestion.
    Source {
        /// Chosen by staff.
        Featured = "featured",
        /// Followed by accounts that the viewer follows.
        FriendsOfFriends = "friends_of_friends",
        /// Recently followed by many people.
        MostFollowed = "most_followed",
        /// Its statuses get many reblogs and favourites.
        MostInteractions = "most_interactions",
    }
}

/// A suggested account.
#[derive(Clone, Debug)]
pub struct Suggestion {
    pub account: AccountId,
    /// The version of the account, if the suggestion is shown.
    pub version: i64,
    /// The reasons: at least one.
    pub sources: Vec<Source>,
}

/// The suggestions for one person.
#[derive(Debug)]
pub struct Suggestions {
    /// When they were computed.
    pub at: Time,
    /// The best first.
    pub list: Vec<Suggestion>,
}

impl Suggestions {
    /// The approximate size in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.list.iter().map(|suggestion| size_of::<Suggestion>() + suggestion.sources.len()).sum()
    }
}
