//! Who may get a status through an antenna, whatever the antenna listens for.
//!
//! Which ties to its author the antenna's owner needs follows from the status alone; whether the owner has them is asked
//! of the host, once for each author. Follows docs/contract/extensions.md#2-antennas.

use crate::status::{Status, Visibility};

/// The author's permission for antennas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Anyone may listen. All local authors.
    #[default]
    Allow,
    /// Followers may.
    FollowersOnly,
    /// No antenna may.
    Block,
}

impl Policy {
    /// From the word in an account's settings; nothing said is [`Policy::Allow`].
    #[must_use]
    pub fn parse(word: &str) -> Self {
        match word {
            "followers_only" => Self::FollowersOnly,
            "block" => Self::Block,
            _ => Self::Allow,
        }
    }
}

/// The tie between the owner of an antenna and the author that is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ties {
    /// A follower of the author.
    pub follower: bool,
    /// Mentioned, be it silently.
    pub mentioned: bool,
    /// The author passes without either.
    pub or_author: bool,
}

impl Ties {
    /// Whether `owner` has them; `follows` is asked only when it matters.
    pub fn bind(self, status: &Status<'_>, owner: i64, follows: impl FnOnce() -> bool) -> bool {
        if self.or_author && owner == status.account {
            return true;
        }
        (!self.mentioned || status.mentions.contains(&owner)) && (!self.follower || follows())
    }
}

/// How an antenna listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// By its lists. `worded`: it lists keywords or tags.
    Listed { worded: bool },
    /// The social timeline: public statuses of this server, and statuses of its owner's follows. `home`: it inserts
    /// into the home feed.
    Social { home: bool },
    /// The local timeline.
    Local,
}

/// The ties that an owner needs, or `None` when no owner receives the status this way.
#[must_use]
pub fn needed(status: &Status<'_>, policy: Policy, mode: Mode) -> Option<Ties> {
    if status.visibility == Visibility::Direct {
        return None;
    }
    match mode {
        Mode::Listed { worded } => listed(status, policy, worded),
        Mode::Social { home } => social(status, home),
        Mode::Local => (status.local && shown_locally(status)).then(Ties::default),
    }
}

fn listed(status: &Status<'_>, policy: Policy, worded: bool) -> Option<Ties> {
    if policy == Policy::Block {
        return None;
    }
    let unlisted = status.visibility == Visibility::Unlisted && !(status.searchability == "public" && worded);
    let private = status.visibility == Visibility::Private;
    Some(Ties {
        follower: private || unlisted || policy == Policy::FollowersOnly,
        mentioned: status.visibility == Visibility::Limited,
        or_author: false,
    })
}

fn social(status: &Status<'_>, home: bool) -> Option<Ties> {
    if status.local && shown_locally(status) {
        return Some(Ties::default());
    }
    // The home feed has it already.
    if home {
        return None;
    }
    let mentioned = status.visibility == Visibility::Limited;
    Some(Ties { follower: !mentioned, mentioned, or_author: true })
}

/// Whether a local status is on the local timeline.
fn shown_locally(status: &Status<'_>) -> bool {
    let public = matches!(status.visibility, Visibility::Public | Visibility::PublicUnlisted | Visibility::Login);
    public && !status.reblog
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::tests::status;

    const LISTED: Mode = Mode::Listed { worded: false };
    const WORDED: Mode = Mode::Listed { worded: true };
    const ANYONE: Option<Ties> = Some(Ties { follower: false, mentioned: false, or_author: false });
    const FOLLOWER: Option<Ties> = Some(Ties { follower: true, mentioned: false, or_author: false });

    #[test]
    fn an_author_may_refuse_antennas_or_keep_them_to_followers() {
        let public = status();
        assert_eq!(needed(&public, Policy::Allow, LISTED), ANYONE);
        assert_eq!(needed(&public, Policy::FollowersOnly, LISTED), FOLLOWER);
        assert_eq!(needed(&public, Policy::Block, WORDED), None);
        assert_eq!([Policy::parse("block"), Policy::parse("followers_only")], [Policy::Block, Policy::FollowersOnly]);
        assert_eq!([Policy::parse("allow"), Policy::parse("")], [Policy::Allow; 2]);
    }

    #[test]
    fn private_statuses_reach_followers_and_direct_ones_no_antenna() {
        let private = Status { visibility: Visibility::Private, ..status() };
        assert_eq!(needed(&private, Policy::Allow, WORDED), FOLLOWER);
        let direct = Status { visibility: Visibility::Direct, ..status() };
        for mode in [LISTED, WORDED, Mode::Social { home: false }, Mode::Local] {
            assert_eq!(needed(&direct, Policy::Allow, mode), None);
        }
    }

    #[test]
    fn unlisted_statuses_are_caught_by_strangers_only_when_searchable_and_by_words() {
        let unlisted = |searchability| Status { visibility: Visibility::Unlisted, searchability, ..status() };
        assert_eq!(needed(&unlisted("public"), Policy::Allow, WORDED), ANYONE);
        assert_eq!(needed(&unlisted("public"), Policy::Allow, LISTED), FOLLOWER);
        assert_eq!(needed(&unlisted("private"), Policy::Allow, WORDED), FOLLOWER);
    }

    #[test]
    fn limited_statuses_reach_mentioned_accounts() {
        let limited = Status { visibility: Visibility::Limited, mentions: &[5], ..status() };
        let ties = needed(&limited, Policy::Allow, LISTED).unwrap();
        assert!(ties.bind(&limited, 5, || false) && !ties.bind(&limited, 6, || true));
        let followers = needed(&limited, Policy::FollowersOnly, LISTED).unwrap();
        assert!(!followers.bind(&limited, 5, || false) && followers.bind(&limited, 5, || true));
    }

    #[test]
    fn social_timeline_has_public_local_statuses_and_follows() {
        let (apart, home) = (Mode::Social { home: false }, Mode::Social { home: true });
        assert_eq!(needed(&status(), Policy::Block, home), ANYONE, "lists and policies do not matter");
        let elsewhere = Status { local: false, domain: Some("far.test"), ..status() };
        assert_eq!(needed(&elsewhere, Policy::Allow, home), None, "the home feed has it");
        let ties = needed(&elsewhere, Policy::Allow, apart).unwrap();
        assert!(ties.bind(&elsewhere, 9, || true) && !ties.bind(&elsewhere, 9, || false));
        assert!(ties.bind(&elsewhere, elsewhere.account, || false), "the author sees it too");
        let reblog = Status { reblog: true, ..status() };
        assert_eq!(needed(&reblog, Policy::Allow, home), None);
        let limited = Status { visibility: Visibility::Limited, mentions: &[5], ..status() };
        let ties = needed(&limited, Policy::Allow, apart).unwrap();
        assert!(ties.bind(&limited, 5, || false) && !ties.bind(&limited, 6, || true));
    }

    #[test]
    fn local_timeline_has_public_local_statuses() {
        assert_eq!(needed(&status(), Policy::Allow, Mode::Local), ANYONE);
        let login = Status { visibility: Visibility::Login, ..status() };
        assert_eq!(needed(&login, Policy::Allow, Mode::Local), ANYONE);
        for other in [
            Status { local: false, ..status() },
            Status { reblog: true, ..status() },
            Status { visibility: Visibility::Unlisted, ..status() },
            Status { visibility: Visibility::Limited, ..status() },
        ] {
            assert_eq!(needed(&other, Policy::Allow, Mode::Local), None);
        }
    }
}
