//! Look-ups of the senders of requests: how many run concurrently, and how often the key of one is fetched.
//!
//! Anyone can make this server look a sender up, with a signature that is worth nothing. So each place and each fetch
//! belongs to the registrable domain of the key and to the address of the client, and none of them can take places of
//! the others.
//!
//! Design: docs/architecture.md, "Who may make us spend what".

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::TimeDelta;
use model::Time;

/// Most requests whose sender is being looked up concurrently.
const PLACES: usize = 256;
/// Most of them for keys of one domain, and most from one address.
const PLACES_OF_ONE: usize = 16;
/// Pause between two fetches of one key.
const PAUSE: TimeDelta = TimeDelta::minutes(1);
/// Most keys of one domain that are fetched in that time.
const KEYS_OF_DOMAIN: usize = 500;
/// Number of domains beyond which ended pauses are dropped.
const CROWDED: usize = 10_000;

/// Why a key is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Why {
    /// The sender is not known yet.
    FirstContact,
    /// The known key does not fit.
    Refresh,
}

/// Whether a key may be fetched now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Now,
    /// It was fetched a moment ago.
    Later,
    /// That failed a moment ago, or too many keys of its domain were fetched.
    Failed,
}

/// Keys of one domain: when each was fetched last, and whether that failed.
type Fetched = HashMap<(Why, String), (Time, bool)>;

/// Look-ups by their domains and addresses.
#[derive(Debug, Default)]
pub(crate) struct Lookups {
    places: Mutex<Places>,
    /// By domain.
    fetched: Mutex<HashMap<String, Fetched>>,
    /// Keys that are being fetched.
    running: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

#[derive(Debug, Default)]
struct Places {
    taken: usize,
    by_domain: HashMap<String, usize>,
    by_address: HashMap<IpAddr, usize>,
}

/// A place, until dropped.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    lookups: &'a Lookups,
    domain: String,
    address: Option<IpAddr>,
}

fn open<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The network that one client has: an address of IPv4, or 64 bits of one of IPv6.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
        address @ IpAddr::V4(_) => address,
    }
}

impl Lookups {
    /// A place for the look-up of a key of `domain`, for a client at `address`; `None` when one has its share.
    pub(crate) fn enter(&self, domain: &str, address: Option<IpAddr>) -> Option<Place<'_>> {
        let address = address.map(network);
        let mut places = open(&self.places);
        let of_domain = places.by_domain.get(domain).copied().unwrap_or(0);
        let of_address = address.and_then(|address| places.by_address.get(&address).copied()).unwrap_or(0);
        if places.taken >= PLACES || of_domain >= PLACES_OF_ONE || of_address >= PLACES_OF_ONE {
            return None;
        }
        places.taken += 1;
        *places.by_domain.entry(domain.to_owned()).or_default() += 1;
        if let Some(address) = address {
            *places.by_address.entry(address).or_default() += 1;
        }
        Some(Place { lookups: self, domain: domain.to_owned(), address })
    }

    /// Whether the key `id` of `domain` may be fetched.
    pub(crate) fn turn(&self, domain: &str, id: &str, why: Why, now: Time) -> Turn {
        let mut fetched = open(&self.fetched);
        let keys = fetched.entry(domain.to_owned()).or_default();
        match keys.get(&(why, id.to_owned())).filter(|(last, _)| now - *last < PAUSE) {
            Some((_, true)) => return Turn::Failed,
            Some((_, false)) => return Turn::Later,
            None => {}
        }
        if keys.len() >= KEYS_OF_DOMAIN {
            keys.retain(|_, (last, _)| now - *last < PAUSE);
        }
        if keys.len() >= KEYS_OF_DOMAIN { Turn::Failed } else { Turn::Now }
    }

    /// Notes that the key `id` of `domain` was fetched.
    pub(crate) fn fetched(&self, domain: &str, id: &str, why: Why, failed: bool, now: Time) {
        let mut fetched = open(&self.fetched);
        if fetched.len() >= CROWDED {
            fetched.retain(|_, keys| keys.values().any(|(last, _)| now - *last < PAUSE));
        }
        fetched.entry(domain.to_owned()).or_default().insert((why, id.to_owned()), (now, failed));
    }

    /// The lock under which the key `id` is fetched: others wait for the one fetch.
    pub(crate) fn running(&self, id: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut running = open(&self.running);
        if running.len() >= PLACES {
            running.retain(|_, lock| Arc::strong_count(lock) > 1);
        }
        Arc::clone(running.entry(id.to_owned()).or_default())
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        fn less<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, usize>, key: &K) {
            if let Some(count) = counts.get_mut(key) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(key);
                }
            }
        }
        let mut places = open(&self.lookups.places);
        places.taken -= 1;
        less(&mut places.by_domain, &self.domain);
        if let Some(address) = self.address {
            less(&mut places.by_address, &address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_and_addresses_have_places_of_their_own() {
        let lookups = Lookups::default();
        let evil: IpAddr = "192.0.2.1".parse().unwrap();
        let held: Vec<_> = (0..20).filter_map(|_| lookups.enter("evil.test", Some(evil))).collect();
        assert_eq!(held.len(), PLACES_OF_ONE);
        assert!(lookups.enter("other.test", Some(evil)).is_none(), "the address has all of its places");
        let honest = "192.0.2.2".parse().ok();
        assert!(lookups.enter("evil.test", honest).is_none(), "the domain has all of its places");
        assert!(lookups.enter("honest.test", honest).is_some());
        drop(held);
        assert!(lookups.enter("evil.test", Some(evil)).is_some());
        let [one, other] = ["2001:db8::1", "2001:db8::2:1"].map(|address| network(address.parse().unwrap()));
        assert_eq!(one, other, "a client has a network");
    }

    #[test]
    fn keys_are_fetched_once_a_minute() {
        let (lookups, now) = (Lookups::default(), Time::from_micros(0));
        let turn = |domain, id, why| lookups.turn(domain, id, why, now);
        lookups.fetched("a.test", "1", Why::FirstContact, false, now);
        lookups.fetched("a.test", "2", Why::FirstContact, true, now);
        assert_eq!(turn("a.test", "1", Why::FirstContact), Turn::Later);
        assert_eq!(turn("a.test", "1", Why::Refresh), Turn::Now, "it may have changed since");
        assert_eq!(turn("a.test", "2", Why::FirstContact), Turn::Failed);
        for number in 0..KEYS_OF_DOMAIN {
            lookups.fetched("evil.test", &number.to_string(), Why::FirstContact, true, now);
        }
        assert_eq!(turn("evil.test", "new", Why::FirstContact), Turn::Failed);
        assert_eq!(turn("b.test", "1", Why::FirstContact), Turn::Now, "another domain");
        assert_eq!(lookups.turn("a.test", "2", Why::FirstContact, now + PAUSE), Turn::Now);
    }
}
