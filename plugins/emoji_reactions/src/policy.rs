//! Who may react to an author's statuses, and see the reactions: the author's choice.

use std::str::FromStr;

/// The author's choice: `emoji_reaction_policy`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Policy {
    #[default]
    Allow,
    /// Followers of the author, and accounts that the author follows.
    OutsideOnly,
    FollowersOnly,
    FollowingOnly,
    MutualsOnly,
    Block,
}

impl FromStr for Policy {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        match word {
            "allow" => Ok(Self::Allow),
            "outside_only" => Ok(Self::OutsideOnly),
            "followers_only" => Ok(Self::FollowersOnly),
            "following_only" => Ok(Self::FollowingOnly),
            "mutuals_only" => Ok(Self::MutualsOnly),
            "block" => Ok(Self::Block),
            _ => Err(()),
        }
    }
}

/// The author's choice, and whether they are local.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Author {
    pub(crate) id: i64,
    pub(crate) local: bool,
    pub(crate) policy: Policy,
    /// `slip_local_emoji_reaction`: people of this server are always allowed among themselves.
    pub(crate) slip_local: bool,
}

/// Someone who reacts or looks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Person {
    pub(crate) id: i64,
    pub(crate) local: bool,
    pub(crate) follows_author: bool,
    pub(crate) followed_by_author: bool,
}

impl Author {
    /// Whether the author lets this person react and see reactions; `None` is an anonymous viewer.
    pub(crate) fn allows(&self, person: Option<&Person>) -> bool {
        let Some(person) = person else { return self.policy == Policy::Allow };
        if self.policy != Policy::Block && person.id == self.id {
            return true;
        }
        if self.slip_local && self.local && person.local {
            return true;
        }
        match self.policy {
            Policy::Allow => true,
            Policy::OutsideOnly => person.follows_author || person.followed_by_author,
            Policy::FollowersOnly => person.follows_author,
            Policy::FollowingOnly => person.followed_by_author,
            Policy::MutualsOnly => person.follows_author && person.followed_by_author,
            Policy::Block => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&str; 6] = ["allow", "outside_only", "followers_only", "following_only", "mutuals_only", "block"];

    /// One letter for each policy: `y` allowed, `.` not.
    fn allowed(person: Option<&Person>, slip_local: bool) -> String {
        let author = |word: &str| Author { id: 1, local: true, policy: word.parse().unwrap(), slip_local };
        WORDS.map(|word| if author(word).allows(person) { 'y' } else { '.' }).iter().collect()
    }

    #[test]
    fn each_policy_asks_for_its_ties() {
        let person =
            |follows_author, followed_by_author| Person { id: 2, local: false, follows_author, followed_by_author };
        assert_eq!(allowed(None, false), "y.....");
        assert_eq!(allowed(Some(&person(false, false)), false), "y.....");
        assert_eq!(allowed(Some(&person(true, false)), false), "yyy...");
        assert_eq!(allowed(Some(&person(false, true)), false), "yy.y..");
        assert_eq!(allowed(Some(&person(true, true)), false), "yyyyy.");
    }

    #[test]
    fn authors_pass_their_own_policy_unless_it_blocks() {
        assert_eq!(allowed(Some(&Person { id: 1, local: true, ..Person::default() }), false), "yyyyy.");
    }

    #[test]
    fn people_of_one_server_may_slip_through() {
        let neighbour = Person { id: 2, local: true, ..Person::default() };
        assert_eq!(allowed(Some(&neighbour), false), "y.....");
        assert_eq!(allowed(Some(&neighbour), true), "yyyyyy");
        assert_eq!(allowed(Some(&Person { local: false, ..neighbour }), true), "y.....");
        assert_eq!(allowed(None, true), "y.....");
        let elsewhere = Author { id: 1, local: false, policy: Policy::Block, slip_local: true };
        assert!(!elsewhere.allows(Some(&neighbour)));
    }

    #[test]
    fn an_unknown_word_is_no_policy() {
        assert_eq!("everyone".parse::<Policy>(), Err(()));
    }
}
