//! Floods from one host: how many statuses are fetched from it, how many of its accounts become known, and how many
//! subdomains of one domain.
//!
//! Counted by this process in fixed windows.
//!
//! Spec: docs/contract/federation.md#11-security-checks.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use chrono::TimeDelta;
use model::Time;

/// Number of counts beyond which ended windows are dropped.
const CROWDED: usize = 10_000;

/// What may come in floods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Flood {
    /// Statuses that are fetched from a host.
    Statuses,
    /// New accounts of a host.
    Actors,
    /// New servers under one registrable domain.
    Subdomains,
}

impl Flood {
    /// The most in one window, and its length.
    fn limit(self) -> (u32, TimeDelta) {
        match self {
            Self::Statuses => (1_000, TimeDelta::minutes(5)),
            Self::Actors => (400, TimeDelta::minutes(5)),
            Self::Subdomains => (10, TimeDelta::minutes(1)),
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

/// The domain under which `domain` was probably registered: its last two labels, or three where the second is one of the
/// short ones under which countries register, as in `example.co.uk`. Only for counting: a wrong guess counts too many or
/// too few together.
pub(crate) fn registrable(domain: &str) -> &str {
    let domain = model::domain_policy::without_port(domain);
    let labels: Vec<&str> = domain.rsplit('.').take(3).collect();
    let kept = match labels.as_slice() {
        [country, second, _] if country.len() == 2 && second.len() <= 3 => 3,
        _ => 2,
    };
    let dots = domain.char_indices().rev().filter(|(_, character)| *character == '.');
    dots.map(|(at, _)| at).nth(kept - 1).map_or(domain, |at| &domain[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registrable_domains_are_guessed() {
        for (domain, expected) in [
            ("a.b.example.com", "example.com"),
            ("example.com", "example.com"),
            ("a.example.co.uk:3000", "example.co.uk"),
            ("localhost", "localhost"),
            ("a.example.social", "example.social"),
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
