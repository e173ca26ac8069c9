//! The policy of this server about other servers: blocked domains, and the domains that limited federation admits.
//!
//! A block applies to its domain and all subdomains, and the most specific block wins, also when it is the milder one.
//! An allow applies to its domain alone. Reached through `context::Cx`, which keeps the policy in memory.
//!
//! Spec: docs/contract/federation.md#10-limited-federation-and-domain-policy

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::Time;
use super::instance::Severity;
use crate::remote_file::RemoteMediaMode;

/// Declares [`Flags`], whose fields are columns of the table of blocks.
macro_rules! flags {
    ($($(#[$doc:meta])* $flag:ident),+ $(,)?) => {
        /// The flags of a block; each has its effect with every severity.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, crate::Row)]
        pub struct Flags {
            $($(#[$doc])* pub $flag: bool),+
        }

        impl Flags {
            /// No flag.
            pub const NONE: Self = Self { $($flag: false),+ };

            /// The names of all flags.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($flag)),+];

            /// The flags that either has.
            #[must_use]
            pub const fn union(self, other: Self) -> Self {
                Self { $($flag: self.$flag || other.$flag),+ }
            }

            /// The flag `name`; `None` where there is no such flag.
            pub fn named(&mut self, name: &str) -> Option<&mut bool> {
                match name {
                    $(stringify!($flag) => Some(&mut self.$flag),)+
                    _ => None,
                }
            }

            /// The names of the flags that are set.
            #[must_use]
            pub fn names(&self) -> Vec<&'static str> {
                [$((self.$flag, stringify!($flag))),+].into_iter().filter(|(set, _)| *set).map(|(_, name)| name).collect()
            }
        }
    };
}

flags! {
    /// No avatars, headers, attachments and emojis.
    reject_media,
    /// Reports are ignored.
    reject_reports,
    /// Favourites and reactions are ignored.
    reject_favourite,
    /// Mentions of, replies and references to accounts that do not follow the sender are ignored.
    reject_reply_exclude_followers,
    /// Hashtags are dropped.
    reject_hashtag,
    /// Follows need approval.
    reject_straight_follow,
    /// Follows are rejected.
    reject_new_follow,
    /// No friend relation.
    reject_friend,
    /// Sensitive statuses are not sent there.
    reject_send_sensitive,
    /// Not in trends.
    block_trends,
    /// Treated as software of the Misskey family for unlisted statuses.
    detect_invalid_subscription,
}

/// The decision about a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    pub severity: Severity,
    pub flags: Flags,
    /// When the domain was first blocked, which identifies the suspensions and limits that follow from the block; `None`
    /// without a block.
    pub blocked_at: Option<Time>,
}

/// The rule of a domain without a block.
static NO_BLOCK: Rule = Rule { severity: Severity::Noop, flags: Flags::NONE, blocked_at: None };

/// All blocks, allows, and ways to serve files, by domain.
#[derive(Clone, Debug, Default)]
pub struct DomainPolicy {
    blocks: HashMap<Box<str>, Rule>,
    allows: HashSet<Box<str>>,
    /// How files of these domains are served.
    media_modes: HashMap<Box<str>, RemoteMediaMode>,
}

impl DomainPolicy {
    /// The policy of these blocks and allows, whose domains are in lower-case ASCII.
    #[must_use]
    pub fn new(blocks: impl IntoIterator<Item = (String, Rule)>, allows: impl IntoIterator<Item = String>) -> Self {
        Self {
            blocks: blocks.into_iter().map(|(domain, rule)| (domain.into(), rule)).collect(),
            allows: allows.into_iter().map(Into::into).collect(),
            media_modes: HashMap::new(),
        }
    }

    /// With the ways in which files of these domains, in lower-case ASCII, are served.
    #[must_use]
    pub fn with_media_modes(mut self, modes: impl IntoIterator<Item = (String, RemoteMediaMode)>) -> Self {
        self.media_modes = modes.into_iter().map(|(domain, mode)| (domain.into(), mode)).collect();
        self
    }

    /// How files of `host`, which may have a port, are served; `None`: as those of most hosts.
    #[must_use]
    pub fn media_mode(&self, host: &str) -> Option<RemoteMediaMode> {
        if self.media_modes.is_empty() {
            return None;
        }
        let host = normal(host);
        covering(&host).find_map(|domain| self.media_modes.get(domain)).copied()
    }

    /// The rule about `host`, which may have a port.
    #[must_use]
    pub fn of(&self, host: &str) -> &Rule {
        if self.blocks.is_empty() {
            return &NO_BLOCK;
        }
        let host = normal(host);
        covering(&host).find_map(|domain| self.blocks.get(domain)).unwrap_or(&NO_BLOCK)
    }

    /// The severity of the rule about `host`.
    #[must_use]
    pub fn severity(&self, host: &str) -> Severity {
        self.of(host).severity
    }

    /// True when limited federation admits `host`: the domain itself, not a domain above it.
    #[must_use]
    pub fn allows(&self, host: &str) -> bool {
        let host = normal(host);
        [host.as_ref(), without_port(&host)].into_iter().any(|host| self.allows.contains(host))
    }

    /// When each of the blocks that cover `host` was made, whichever of them wins.
    #[must_use]
    pub fn block_times(&self, host: &str) -> Vec<Time> {
        let host = normal(host);
        covering(&host).filter_map(|domain| self.blocks.get(domain)?.blocked_at).collect()
    }
}

/// True when `host` is `domain` or a subdomain of it, whatever its port.
#[must_use]
pub fn is_below(host: &str, domain: &str) -> bool {
    let host = normal(host);
    covering(&host).any(|covering| covering == domain)
}

/// `host` without its port.
#[must_use]
pub fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// `host` in lower case, without the dot of the root.
fn normal(host: &str) -> Cow<'_, str> {
    let (name, port) = host.split_at(without_port(host).len());
    if !host.bytes().any(|byte| byte.is_ascii_uppercase()) && !name.ends_with('.') {
        return Cow::Borrowed(host);
    }
    Cow::Owned(format!("{}{port}", name.trim_end_matches('.')).to_ascii_lowercase())
}

/// The domains whose block covers `host`, most specific first: with its port, without it, and each domain above.
/// `host` is in lower case, without the dot of the root.
pub fn covering(host: &str) -> impl Iterator<Item = &str> {
    let name = without_port(host);
    let with_port = (name.len() < host.len()).then_some(host);
    with_port.into_iter().chain(std::iter::successors(Some(name), |domain| Some(domain.split_once('.')?.1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(severity: Severity, at: i64) -> Rule {
        Rule { severity, flags: Flags::default(), blocked_at: Some(Time::from_micros(at)) }
    }

    fn policy() -> DomainPolicy {
        let blocks = [
            ("evil.test", rule(Severity::Suspend, 1)),
            ("calm.evil.test", rule(Severity::Noop, 2)),
            ("loud.test", rule(Severity::Silence, 3)),
            ("port.test:3000", rule(Severity::Suspend, 4)),
        ];
        DomainPolicy::new(blocks.map(|(domain, rule)| (domain.to_owned(), rule)), ["good.test".to_owned()])
    }

    #[test]
    fn block_covers_domain_subdomains_and_ports() {
        let policy = policy();
        for host in [
            "evil.test",
            "EVIL.test",
            "a.evil.test",
            "b.a.evil.test",
            "evil.test:8443",
            "A.Evil.Test:443",
            "evil.test.",
        ] {
            assert_eq!(policy.severity(host), Severity::Suspend, "{host}");
        }
        for host in ["notevil.test", "evil.test.example", "test", "", ".", ":", "[::1]:80", "evil", "port.test"] {
            assert_eq!(policy.of(host), &NO_BLOCK, "{host}");
        }
        assert_eq!(policy.severity("port.test:3000"), Severity::Suspend);
        assert_eq!(policy.severity("port.test:3001"), Severity::Noop);
        assert_eq!(policy.severity("evil.test.:80"), Severity::Suspend);
    }

    #[test]
    fn most_specific_block_wins_also_when_it_is_milder() {
        let policy = policy();
        assert_eq!(policy.severity("calm.evil.test"), Severity::Noop);
        assert_eq!(policy.severity("very.calm.evil.test:80"), Severity::Noop);
        assert_eq!(policy.severity("other.evil.test"), Severity::Suspend);
        assert_eq!(policy.of("a.loud.test").blocked_at, Some(Time::from_micros(3)));
        assert_eq!(policy.block_times("a.calm.evil.test"), [2, 1].map(Time::from_micros));
        assert_eq!(DomainPolicy::default().of("evil.test"), &NO_BLOCK);
    }

    #[test]
    fn allow_covers_exactly_its_domain() {
        let policy = policy();
        for host in ["good.test", "GOOD.test", "good.test:3000"] {
            assert!(policy.allows(host), "{host}");
        }
        for host in ["a.good.test", "notgood.test", "evil.test", ""] {
            assert!(!policy.allows(host), "{host}");
        }
    }

    #[test]
    fn subdomains_are_below_their_domain() {
        assert!(is_below("evil.test", "evil.test") && is_below("a.evil.test:80", "evil.test"));
        assert!(!is_below("notevil.test", "evil.test") && !is_below("evil.test", "a.evil.test"));
    }

    #[test]
    fn flags_have_the_names_of_their_columns() {
        let flags = Flags { reject_media: true, block_trends: true, ..Flags::default() };
        assert_eq!(flags.names(), ["reject_media", "block_trends"]);
        assert!(Flags::default().names().is_empty() && Flags::default() == Flags::NONE);
        let mut named = Flags::NONE;
        for name in Flags::NAMES {
            *named.named(name).expect("a flag") = true;
        }
        assert_eq!(named.names(), Flags::NAMES);
        assert!(named.named("severity").is_none());
        assert_eq!(flags.union(Flags { reject_friend: true, ..Flags::NONE }).names().len(), 3);
    }
}
