//! The counters of rate limits, in memory: bounded, and never dropped while their window lasts.
//!
//! Each key has a separate counter while there is room. When there is none, even after counters of ended windows are
//! dropped, further keys of a limit share a fixed number of counters: some callers may then be rejected early, but
//! filling the memory with keys never lets a caller exceed a limit.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use model::{AccountId, Time, TokenId};

/// Most counters with a single key, about 150 bytes each.
pub const CAPACITY: usize = 65_536;
/// Shards of the counters, each with a lock.
const SHARDS: usize = 16;
/// Counters that the keys without a separate counter share, per limit.
const SHARED: usize = 4_096;

/// A number of requests per window.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Limit {
    /// Identifies its counters.
    pub name: Cow<'static, str>,
    /// Requests per window.
    pub max: u32,
    /// Length of the window.
    pub window_seconds: i64,
}

/// The owner of a counter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    Person(AccountId),
    /// An access token.
    Token(TokenId),
    /// An IP address; for IPv6 the /64 network, the usual assignment to one customer.
    Address(IpAddr),
    /// A text such as an e-mail address, kept only as a hash.
    Text(String),
}

impl Key {
    /// The key of a client's IP address.
    #[must_use]
    pub fn address(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V6(v6) => {
                let network = u128::from(v6) & !u128::from(u64::MAX);
                IpAddr::V6(network.into())
            }
            v4 @ IpAddr::V4(_) => v4,
        })
    }

    /// The key of an e-mail address, ignoring case.
    #[must_use]
    pub fn email(email: &str) -> Self {
        Self::Text(crypto::hash(&email.trim().to_lowercase()))
    }
}

/// The state of a limit after a request was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Requests per window.
    pub max: u32,
    /// Requests left in this window.
    pub remaining: u32,
    /// When the window ends.
    pub reset: Time,
    /// The limit is exceeded.
    pub exceeded: bool,
}

impl Limit {
    /// The number of the window that `now` is in, counted from the epoch.
    pub fn window(&self, now: Time) -> u32 {
        Self::window_of(self.window_seconds, now)
    }

    /// The number of the window of this length that `now` is in.
    pub fn window_of(window_seconds: i64, now: Time) -> u32 {
        u32::try_from(now.timestamp().div_euclid(window_seconds)).unwrap_or_default()
    }
}

/// The rate limit counters of this process, by limit and key.
#[derive(Debug)]
pub struct Limits {
    shards: [Mutex<Shard>; SHARDS],
    capacity: usize,
    shared: Mutex<HashMap<Cow<'static, str>, Shares>>,
    hasher: RandomState,
    overflows: AtomicU64,
}

/// The counters that keys of one limit share.
type Shares = Arc<[Arc<Counter>]>;

#[derive(Debug, Default)]
struct Shard {
    counters: HashMap<Key, Vec<Own>>,
    length: usize,
    /// When counters of ended windows were last dropped, in seconds since the epoch.
    swept_at: i64,
}

/// The counter of one key and limit.
#[derive(Debug)]
struct Own {
    limit: Cow<'static, str>,
    window_seconds: i64,
    counter: Arc<Counter>,
}

/// Requests counted in a window: the window's number since the epoch in the upper half, the count in the lower one.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Counts one unless `max` are already counted in `window`; returns the previous count.
    pub fn spend(&self, window: u32, max: u32) -> u32 {
        let next = |packed| {
            let count = Self::count(packed, window);
            (count < max).then(|| Self::pack(window, count + 1))
        };
        let (Ok(before) | Err(before)) = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        Self::count(before, window)
    }

    /// Subtracts one, if `window` is still the counted window.
    pub fn give_back(&self, window: u32) {
        let less = |packed| Some(Self::pack(window, Self::count(packed, window).checked_sub(1)?));
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    fn pack(window: u32, count: u32) -> u64 {
        u64::from(window) << 32 | u64::from(count)
    }

    /// The count of `packed` in `window`.
    fn count(packed: u64, window: u32) -> u32 {
        let [high, low] = [packed >> 32, packed & u64::from(u32::MAX)];
        if high == u64::from(window) { u32::try_from(low).unwrap_or(u32::MAX) } else { 0 }
    }

    /// True when it has a count in `window`, or another reference to it exists.
    fn is_live(self: &Arc<Self>, window: u32) -> bool {
        Self::count(self.0.load(Ordering::Relaxed), window) > 0 || Arc::strong_count(self) > 1
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::with_capacity(CAPACITY)
    }
}

impl Limits {
    fn with_capacity(capacity: usize) -> Self {
        Self {
            shards: Default::default(),
            capacity: capacity / SHARDS,
            shared: Mutex::default(),
            hasher: RandomState::new(),
            overflows: AtomicU64::default(),
        }
    }

    /// The counter of `key` for `limit`.
    pub fn counter(&self, limit: &Limit, key: &Key, now: Time) -> Arc<Counter> {
        let hash = self.hasher.hash_one(key);
        let shard = &self.shards[place(hash, SHARDS)];
        let own = shard.lock().unwrap_or_else(PoisonError::into_inner).counter(limit, key, self.capacity, now);
        own.unwrap_or_else(|| self.shared(limit, hash))
    }

    fn shared(&self, limit: &Limit, hash: u64) -> Arc<Counter> {
        self.overflows.fetch_add(1, Ordering::Relaxed);
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let counters = shared
            .entry(limit.name.clone())
            .or_insert_with(|| std::iter::repeat_with(Arc::default).take(SHARED).collect());
        // The lower bits chose the shard.
        Arc::clone(&counters[place(hash >> 32, SHARED)])
    }

    /// The number of counters with a single key, at most [`CAPACITY`].
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner).length).sum()
    }

    /// True when nothing is counted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How often a shared counter was used because there was no room for a separate one.
    pub fn overflows(&self) -> u64 {
        self.overflows.load(Ordering::Relaxed)
    }
}

fn place(hash: u64, count: usize) -> usize {
    usize::try_from(hash % count as u64).unwrap_or_default()
}

impl Shard {
    /// The counter of `key` alone; `None` when there is no room for it.
    fn counter(&mut self, limit: &Limit, key: &Key, capacity: usize, now: Time) -> Option<Arc<Counter>> {
        let known = self.counters.get(key).and_then(|own| own.iter().find(|own| own.limit == limit.name));
        if let Some(own) = known {
            return Some(Arc::clone(&own.counter));
        }
        if self.length >= capacity {
            self.sweep(now);
        }
        if self.length >= capacity {
            return None;
        }
        let counter = Arc::<Counter>::default();
        let own =
            Own { limit: limit.name.clone(), window_seconds: limit.window_seconds, counter: Arc::clone(&counter) };
        self.counters.entry(key.clone()).or_default().push(own);
        self.length += 1;
        Some(counter)
    }

    /// Drops the counters whose window has ended; at most once a second, since it visits all of them.
    fn sweep(&mut self, now: Time) {
        if self.swept_at == now.timestamp() {
            return;
        }
        self.swept_at = now.timestamp();
        self.counters.retain(|_, own| {
            own.retain(|own| own.counter.is_live(Limit::window_of(own.window_seconds, now)));
            !own.is_empty()
        });
        self.length = self.counters.values().map(Vec::len).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIL: Limit = Limit { name: Cow::Borrowed("MAIL"), max: 5, window_seconds: 30 * 60 };
    const SIGN_IN: Limit = Limit { name: Cow::Borrowed("SIGN_IN"), max: 25, window_seconds: 60 * 60 };

    fn start() -> Time {
        Time::from_micros(0)
    }

    #[test]
    fn counters_stop_at_the_limit_and_start_again_with_the_window() {
        let counter = Counter::default();
        assert_eq!([0, 1, 2, 2].map(|_| counter.spend(7, 2)), [0, 1, 2, 2]);
        counter.give_back(7);
        assert_eq!(counter.spend(7, 2), 1);
        assert_eq!(counter.spend(8, 2), 0);
        counter.give_back(7);
        assert_eq!(counter.spend(8, 2), 1, "the window before has nothing to give back");
    }

    #[test]
    fn counter_belongs_to_one_key_and_limit() {
        let limits = Limits::default();
        let key = Key::email("Alice@Example.com");
        limits.counter(&MAIL, &key, start()).spend(1, 5);
        assert_eq!(limits.counter(&MAIL, &Key::email("alice@example.com"), start()).spend(1, 5), 1);
        assert_eq!(limits.counter(&SIGN_IN, &key, start()).spend(1, 5), 0);
        assert_eq!(limits.len(), 2);
    }

    #[test]
    fn flood_of_other_keys_makes_no_counter_forgotten() {
        let limits = Limits::with_capacity(64);
        let victim = Key::email("alice@example.test");
        let spend = |key: &Key| limits.counter(&MAIL, key, start()).spend(0, MAIL.max);
        for _ in 0..MAIL.max {
            spend(&victim);
        }
        let others: Vec<Key> = (0..20_000).map(|at| Key::email(&format!("{at}@example.test"))).collect();
        for _ in 0..MAIL.max {
            others.iter().for_each(|key| assert!(spend(key) <= MAIL.max));
        }
        assert_eq!(spend(&victim), MAIL.max, "known before the flood");
        assert!(others.iter().all(|key| spend(key) == MAIL.max), "keys without a separate counter are limited as well");
        assert!(limits.len() <= 64 && limits.overflows() > 0);
    }

    #[test]
    fn ended_windows_make_room() {
        let limits = Limits::with_capacity(16);
        for at in 0..1_000 {
            limits.counter(&MAIL, &Key::email(&format!("{at}@example.test")), start()).spend(0, 5);
        }
        let before = limits.overflows();
        let later = Time::from_micros(MAIL.window_seconds * 1_000_000);
        for at in 0..100 {
            limits.counter(&MAIL, &Key::email(&format!("{at}@later.test")), later).spend(1, 5);
        }
        assert!(limits.len() <= 16 && limits.overflows() - before < 100);
    }

    #[test]
    fn ipv6_customer_has_one_key() {
        let key = |text: &str| Key::address(text.parse().expect("an address"));
        assert_eq!(key("2001:db8:1:2:aaaa::1"), key("2001:db8:1:2:bbbb::2"));
        assert_ne!(key("2001:db8:1:2::1"), key("2001:db8:1:3::1"));
        assert_eq!(key("::ffff:192.0.2.1"), key("192.0.2.1"));
        assert_ne!(key("192.0.2.1"), key("192.0.2.2"));
    }
}
