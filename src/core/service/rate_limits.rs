//! Rate limits: fixed windows aligned to the epoch, counted in memory per process.
//!
//! Contract: rules, section 5. The HTTP layer spends per-request limits by [`spend`]; a service whose action has its
//! own limit (follows, statuses, reports) takes from it by [`family`] and gives it back when the action fails. The
//! limit spent last is remembered for the `X-RateLimit-*` headers, see [`Cx::spent`]. Counters are not shared between
//! nodes. Memory is bounded: counters in frequent use stay, rarely used ones may be evicted.

use std::borrow::Cow;
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::Equivalent;
use quick_cache::sync::Cache;

use crate::Cx;
use crate::error::{Error, Result};
use model::{AccountId, Time, TokenId};

/// Most counters kept in memory.
const CAPACITY: usize = 50_000;

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

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;

macro_rules! limits {
    ($($(#[$doc:meta])* $name:ident = $max:literal in $window:expr;)+) => {$(
        $(#[$doc])*
        pub static $name: Limit = Limit { name: Cow::Borrowed(stringify!($name)), max: $max, window_seconds: $window };
    )+};
}

limits! {
    /// API requests per account.
    API_PERSON = 1500 in 5 * MINUTE;
    /// API requests per token.
    API_TOKEN = 300 in 5 * MINUTE;
    /// Unauthenticated API requests per IP address.
    API_ADDRESS = 300 in 5 * MINUTE;
    /// Uploads per account.
    MEDIA = 30 in 30 * MINUTE;
    /// Sign-ups through the API, per IP address.
    SIGN_UP = 5 in 30 * MINUTE;
    /// Requests for further pages of a collection, per account or IP address.
    PAGING = 300 in 15 * MINUTE;
    /// Deleted statuses and undone reblogs, per account.
    DELETE_STATUS = 30 in 30 * MINUTE;
    /// Registered applications, per IP address.
    APPS = 5 in 10 * MINUTE;
    /// Tokens that applications ask for, revoke or look up, per IP address.
    OAUTH = 300 in 5 * MINUTE;
    /// Submitted forms (sign-up, sign-in, password reset, confirmation), per IP address.
    FORMS = 25 in 5 * MINUTE;
    /// Requested mails, per e-mail address.
    MAIL = 5 in 30 * MINUTE;
    /// Sign-in attempts to one account, per e-mail address.
    SIGN_IN = 25 in HOUR;
    /// Password changes, per account.
    PASSWORD_CHANGE = 10 in 10 * MINUTE;
    /// Follows of accounts and hashtags, per account.
    FOLLOWS = 400 in 24 * HOUR;
    /// Statuses published, edited or reblogged, per account.
    STATUSES = 300 in 3 * HOUR;
    /// Reports, per account.
    REPORTS = 400 in 24 * HOUR;
}

/// Whom a counter belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// An account.
    Person(AccountId),
    /// An access token.
    Token(TokenId),
    /// An IP address; for IPv6 the /64 network, which is what one customer has.
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

/// Actions that share one limit per account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Following accounts and hashtags.
    Follows,
    /// Writing, editing and reblogging.
    Statuses,
    /// Reporting.
    Reports,
}

impl Family {
    fn limit(self) -> &'static Limit {
        match self {
            Self::Follows => &FOLLOWS,
            Self::Statuses => &STATUSES,
            Self::Reports => &REPORTS,
        }
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

/// The rate limit counters of this process, by the limit's name and whom they belong to.
#[derive(Debug)]
pub struct Limits {
    counters: Cache<(Cow<'static, str>, Key), Arc<Counter>>,
}

/// The key of a counter, borrowed; hashes as the owned one does.
#[derive(Hash)]
struct CounterKey<'a>(&'a str, &'a Key);

impl Equivalent<(Cow<'static, str>, Key)> for CounterKey<'_> {
    fn equivalent(&self, (name, key): &(Cow<'static, str>, Key)) -> bool {
        self.0 == name && self.1 == key
    }
}

/// Requests counted in a window: the window's number since the epoch in the upper half, the count in the lower one.
#[derive(Debug, Default)]
struct Counter(AtomicU64);

impl Counter {
    /// Counts one unless `max` are counted in `window` already; returns how many were counted before.
    fn spend(&self, window: u32, max: u32) -> u32 {
        let next = |packed| {
            let count = Self::count(packed, window);
            (count < max).then(|| Self::pack(window, count + 1))
        };
        let (Ok(before) | Err(before)) = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        Self::count(before, window)
    }

    /// Takes one back, if `window` is still being counted.
    fn give_back(&self, window: u32) {
        let less = |packed| Some(Self::pack(window, Self::count(packed, window).checked_sub(1)?));
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    fn pack(window: u32, count: u32) -> u64 {
        u64::from(window) << 32 | u64::from(count)
    }

    /// How many `packed` has counted in `window`.
    fn count(packed: u64, window: u32) -> u32 {
        let [high, low] = [packed >> 32, packed & u64::from(u32::MAX)];
        if high == u64::from(window) { u32::try_from(low).unwrap_or(u32::MAX) } else { 0 }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { counters: Cache::new(CAPACITY) }
    }
}

impl Limits {
    fn counter(&self, limit: &Limit, key: &Key) -> Arc<Counter> {
        if let Some(counter) = self.counters.get(&CounterKey(&limit.name, key)) {
            return counter;
        }
        let new = || Ok::<_, Infallible>(Arc::default());
        let Ok(counter) = self.counters.get_or_insert_with(&(limit.name.clone(), key.clone()), new);
        counter
    }
}

impl Limit {
    /// The number of the window that `now` is in, counted from the epoch.
    fn window(&self, now: Time) -> u32 {
        u32::try_from(now.timestamp().div_euclid(self.window_seconds)).unwrap_or_default()
    }
}

/// Counts one request against `limit`; `None` when rate limits are disabled.
pub fn spend(cx: &Cx, limit: &Limit, key: &Key) -> Option<Standing> {
    if !cx.config.rate_limits.enabled {
        return None;
    }
    let window = limit.window(cx.clock.now());
    let before = cx.limits.counter(limit, key).spend(window, limit.max);
    let exceeded = before >= limit.max;
    let remaining = limit.max.saturating_sub(before + 1);
    let reset = Time::from_micros((i64::from(window) + 1) * limit.window_seconds * 1_000_000);
    Some(Standing { max: limit.max, remaining, reset, exceeded })
}

/// Counts one request against `limit` and refuses it when none is left.
///
/// # Errors
/// [`Error::RateLimited`] when none is left.
pub fn require(cx: &Cx, limit: &Limit, key: &Key) -> Result<()> {
    match spend(cx, limit, key) {
        Some(standing) if standing.exceeded => {
            cx.note_spent(standing);
            Err(Error::RateLimited)
        }
        Some(_) | None => Ok(()),
    }
}

/// Takes one from `actor`'s limit for `family`. It is given back on drop unless [`Spent::keep`] is called.
///
/// # Errors
/// [`Error::RateLimited`] when the limit is used up.
pub fn family(cx: &Cx, actor: AccountId, family: Family) -> Result<Spent> {
    take(cx, family.limit(), &Key::Person(actor))
}

/// Takes one from `limit` for an action that may fail, as [`family`] does.
///
/// # Errors
/// [`Error::RateLimited`] when the limit is used up.
pub fn take(cx: &Cx, limit: &Limit, key: &Key) -> Result<Spent> {
    let Some(standing) = spend(cx, limit, key) else { return Ok(Spent(None)) };
    cx.note_spent(standing);
    if standing.exceeded {
        return Err(Error::RateLimited);
    }
    Ok(Spent(Some((cx.limits.counter(limit, key), limit.window(cx.clock.now())))))
}

/// A guard for one taken request: given back on drop unless kept.
#[derive(Debug)]
#[must_use = "dropped at once, it is given back at once"]
pub struct Spent(Option<(Arc<Counter>, u32)>);

impl Spent {
    /// Makes it final, since the action succeeded.
    pub fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Spent {
    fn drop(&mut self) {
        if let Some((counter, window)) = self.0.take() {
            counter.give_back(window);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_customer_has_one_key() {
        let key = |text: &str| Key::address(text.parse().expect("an address"));
        assert_eq!(key("2001:db8:1:2:aaaa::1"), key("2001:db8:1:2:bbbb::2"));
        assert_ne!(key("2001:db8:1:2::1"), key("2001:db8:1:3::1"));
        assert_eq!(key("::ffff:192.0.2.1"), key("192.0.2.1"));
        assert_ne!(key("192.0.2.1"), key("192.0.2.2"));
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
    fn borrowed_key_finds_the_counter() {
        let limits = Limits::default();
        let key = Key::email("Alice@Example.com");
        limits.counter(&MAIL, &key).spend(1, 5);
        assert_eq!(limits.counter(&MAIL, &Key::email("alice@example.com")).spend(1, 5), 1);
        assert_eq!(limits.counter(&SIGN_IN, &key).spend(1, 5), 0);
    }
}
