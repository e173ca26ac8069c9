//! Floods from one registrable domain: how many statuses are fetched from it, how many of its accounts become known, how
//! many subdomains it has, and how many requests to other servers it causes.
//!
//! Counted by this process in fixed windows.
//!
//! Spec: docs/contract/federation.md#11-security-checks; docs/architecture.md, "Who may make us spend what".

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use chrono::TimeDelta;
use model::Time;

/// Number of counts beyond which ended windows are dropped.
const CROWDED: usize = 10_000;

/// What may come in floods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Flood {
    /// Statuses that are fetched from a domain.
    Statuses,
    /// New accounts of a domain.
    Actors,
    /// New servers under one registrable domain.
    Subdomains,
    /// Deletions of statuses that are not known.
    Deletions,
    /// Statuses that a relay passes on.
    Relayed,
    /// Requests to interact with statuses of this server.
    Requests,
    /// Requests to other servers that a domain caused.
    Caused,
    /// Requests to one other domain that a domain caused.
    Reflected,
}

impl Flood {
    /// The most in one window, and its length.
    fn limit(self) -> (u32, TimeDelta) {
        match self {
            Self::Statuses => (1_000, TimeDelta::minutes(5)),
            Self::Actors => (400, TimeDelta::minutes(5)),
            Self::Subdomains => (10, TimeDelta::minutes(1)),
            Self::Deletions => (500, TimeDelta::minutes(5)),
            Self::Relayed => (300, TimeDelta::minutes(1)),
            Self::Requests => (300, TimeDelta::minutes(5)),
            Self::Caused => (3_000, TimeDelta::minutes(5)),
            Self::Reflected => (300, TimeDelta::minutes(5)),
        }
    }
}

/// The counts: the beginning of the window, and the number in it.
#[derive(Debug, Default)]
pub(crate) struct Floods(Mutex<HashMap<(Flood, String), (Time, u32)>>);

impl Floods {
    /// Counts one more; false when there were too many.
    pub(crate) fn admit(&self, what: Flood, source: &str, now: Time) -> bool {
        let (most, window) = what.limit();
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= CROWDED {
            counts.retain(|(what, _), (begun, _)| now - *begun < what.limit().1);
        }
        let (begun, count) = counts.entry((what, source.to_owned())).or_insert((now, 0));
        if now - *begun >= window {
            (*begun, *count) = (now, 0);
        }
        *count += 1;
        *count <= most
    }
}

/// The domain under which `domain` was registered, by the public suffix list; the whole name without its port for an
/// address, and for a name that is a public suffix itself.
pub(crate) fn registrable(domain: &str) -> &str {
    let domain = model::domain_policy::without_port(domain);
    if domain.trim_matches(['[', ']']).parse::<IpAddr>().is_ok() {
        return domain;
    }
    psl::domain_str(domain).unwrap_or(domain)
}

/// The registrable domain of a URL; empty for one that is not usable.
pub(crate) fn domain_of(url: &str) -> String {
    crate::address::host_of(url).map(|host| registrable(&host).to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registrable_domains_are_found() {
        for (domain, expected) in [
            ("a.b.example.com", "example.com"),
            ("example.com", "example.com"),
            ("a.example.co.uk:3000", "example.co.uk"),
            ("localhost", "localhost"),
            ("a.example.social", "example.social"),
            ("a.b.github.io", "b.github.io"),
            ("github.io", "github.io"),
            ("127.0.0.1:3000", "127.0.0.1"),
            ("[::1]:3000", "[::1]"),
        ] {
            assert_eq!(registrable(domain), expected);
        }
    }

    #[test]
    fn each_flood_and_each_source_has_its_own_limit() {
        let (floods, now) = (Floods::default(), Time::from_micros(0));
        let admitted = |what, source| (0..2_000).filter(|_| floods.admit(what, source, now)).count();
        for source in ["a.test", "b.test"] {
            assert_eq!(admitted(Flood::Statuses, source), 1_000);
            assert_eq!(admitted(Flood::Actors, source), 400);
            assert_eq!(admitted(Flood::Subdomains, source), 10);
        }
        let almost = now + TimeDelta::seconds(299);
        assert!(!floods.admit(Flood::Actors, "a.test", almost), "refused ones do not move the window");
        assert!(floods.admit(Flood::Subdomains, "a.test", almost));
        assert!(floods.admit(Flood::Actors, "a.test", almost + TimeDelta::seconds(1)));
    }

    #[test]
    fn many_sources_do_not_end_a_window() {
        let (floods, now) = (Floods::default(), Time::from_micros(0));
        for _ in 0..400 {
            floods.admit(Flood::Actors, "a.test", now);
        }
        for number in 0..CROWDED + 10 {
            floods.admit(Flood::Subdomains, &number.to_string(), now + TimeDelta::minutes(2));
        }
        assert!(!floods.admit(Flood::Actors, "a.test", now + TimeDelta::minutes(4)));
    }

    #[test]
    fn window_ends() {
        let (floods, now) = (Floods::default(), Time::from_micros(0));
        let admitted = (0..20).filter(|_| floods.admit(Flood::Subdomains, "a.test", now)).count();
        assert_eq!(admitted, 10);
        assert!(floods.admit(Flood::Subdomains, "b.test", now));
        assert!(floods.admit(Flood::Subdomains, "a.test", now + TimeDelta::minutes(1)));
    }
}
