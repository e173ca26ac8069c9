//! How often anyone may do something: fixed windows aligned to the epoch, counted in this process.
//!
//! Contract: rules, section 5. The HTTP layer spends the limits of a request by [`spend`]; a service whose action has a
//! limit of its own (follows, statuses, reports) takes it by [`family`] and gives it back when the action fails. What was
//! spent last is remembered for the answer's headers, see [`Ledger`]. Memory is bounded: who asks often is remembered,
//! who asked once may be forgotten.

use std::borrow::Cow;
use std::cell::Cell;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use moka::sync::Cache;

use crate::app::App;
use crate::error::{Error, Result};
use model::{AccountId, Time, TokenId};

/// How many counters are kept.
const CAPACITY: u64 = 50_000;

/// So much of something in a window of so many seconds.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Limit {
    /// Tells its counters from those of others.
    pub name: Cow<'static, str>,
    /// How often.
    pub max: u32,
    /// In how long a time.
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
    /// Requests of a person to the API.
    API_PERSON = 1500 in 5 * MINUTE;
    /// Requests with one token.
    API_TOKEN = 300 in 5 * MINUTE;
    /// Requests of nobody to the API, by address.
    API_ADDRESS = 300 in 5 * MINUTE;
    /// Uploads of a person.
    MEDIA = 30 in 30 * MINUTE;
    /// Accounts made through the API, by address.
    SIGN_UP = 5 in 30 * MINUTE;
    /// Requests for a page of a collection, by person or address.
    PAGING = 300 in 15 * MINUTE;
    /// Statuses and reblogs that a person takes back.
    DELETE_STATUS = 30 in 30 * MINUTE;
    /// Applications registered, by address.
    APPS = 5 in 10 * MINUTE;
    /// The forms of sign-up, sign-in, password reset and confirmation, by address.
    FORMS = 25 in 5 * MINUTE;
    /// Mail that someone asks to be sent to one e-mail address.
    MAIL = 5 in 30 * MINUTE;
    /// Attempts to sign in to one account, by e-mail address.
    SIGN_IN = 25 in HOUR;
    /// Changes of a person's password.
    PASSWORD_CHANGE = 10 in 10 * MINUTE;
    /// Accounts and hashtags that a person follows.
    FOLLOWS = 400 in 24 * HOUR;
    /// Statuses that a person writes, edits or reblogs.
    STATUSES = 300 in 3 * HOUR;
    /// Reports that a person makes.
    REPORTS = 400 in 24 * HOUR;
}

/// Whose count it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// A person's.
    Person(AccountId),
    /// A token's.
    Token(TokenId),
    /// An address's; for IPv6 the network of 64 bits, which is what a customer has.
    Address(IpAddr),
    /// That of a text such as an e-mail address, of which only a hash is kept.
    Text(String),
}

impl Key {
    /// The key of a client's address.
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

    /// The key of an e-mail address, in any case.
    #[must_use]
    pub fn email(email: &str) -> Self {
        Self::Text(crypto::hash(&email.trim().to_lowercase()))
    }
}

/// A family of actions that share a limit of a person.
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

/// How a limit stands after something was spent of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// How often in all.
    pub max: u32,
    /// How often still.
    pub remaining: u32,
    /// When the window ends and the count begins anew.
    pub reset: Time,
    /// More was asked than there is.
    pub exceeded: bool,
}

/// The counters of this process.
#[derive(Debug)]
pub struct Limits {
    counters: Cache<(Cow<'static, str>, Key), Arc<Mutex<Counter>>>,
}

#[derive(Debug, Default)]
struct Counter {
    window: i64,
    count: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { counters: Cache::new(CAPACITY) }
    }
}

impl Limits {
    fn counter(&self, limit: &Limit, key: &Key) -> Arc<Mutex<Counter>> {
        self.counters.get_with((limit.name.clone(), key.clone()), Arc::default)
    }
}

/// Spends one of `limit`; `None` when limits are switched off.
pub fn spend(app: &App, limit: &Limit, key: &Key) -> Option<Standing> {
    if !app.config.rate_limits.enabled {
        return None;
    }
    let now = app.clock.now();
    let window = now.timestamp().div_euclid(limit.window_seconds);
    let counter = app.limits.counter(limit, key);
    let mut counter = counter.lock().unwrap_or_else(PoisonError::into_inner);
    if counter.window != window {
        *counter = Counter { window, count: 0 };
    }
    let exceeded = counter.count >= limit.max;
    if !exceeded {
        counter.count += 1;
    }
    let reset = Time::from_micros((window + 1) * limit.window_seconds * 1_000_000);
    Some(Standing { max: limit.max, remaining: limit.max - counter.count, reset, exceeded })
}

/// Spends one of `limit` where there is one left.
///
/// # Errors
/// [`Error::RateLimited`] when there is none.
pub fn require(app: &App, limit: &Limit, key: &Key) -> Result<()> {
    match spend(app, limit, key) {
        Some(standing) if standing.exceeded => {
            Ledger::note(standing);
            Err(Error::RateLimited)
        }
        Some(_) | None => Ok(()),
    }
}

/// Spends one of `actor`'s share of `family`. Without [`Spent::keep`] it is given back: the action failed.
///
/// # Errors
/// [`Error::RateLimited`] when the share is used up.
pub fn family(app: &App, actor: AccountId, family: Family) -> Result<Spent> {
    take(app, family.limit(), &Key::Person(actor))
}

/// Spends one of `limit` for an action that may yet fail, as [`family`] does.
///
/// # Errors
/// [`Error::RateLimited`] when it is used up.
pub fn take(app: &App, limit: &Limit, key: &Key) -> Result<Spent> {
    let Some(standing) = spend(app, limit, key) else { return Ok(Spent(None)) };
    Ledger::note(standing);
    if standing.exceeded {
        return Err(Error::RateLimited);
    }
    let window = app.clock.now().timestamp().div_euclid(limit.window_seconds);
    Ok(Spent(Some((app.limits.counter(limit, key), window))))
}

/// One of a family's limit, spent for an action under way.
#[derive(Debug)]
#[must_use = "dropped at once, it is given back at once"]
pub struct Spent(Option<(Arc<Mutex<Counter>>, i64)>);

impl Spent {
    /// The action succeeded: what was spent stays spent.
    pub fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Spent {
    fn drop(&mut self) {
        if let Some((counter, window)) = self.0.take() {
            let mut counter = counter.lock().unwrap_or_else(PoisonError::into_inner);
            if counter.window == window {
                counter.count = counter.count.saturating_sub(1);
            }
        }
    }
}

tokio::task_local! {
    static NOTED: Cell<Option<Standing>>;
}

/// What services spent while one request was answered: the lowest standing.
#[derive(Debug)]
pub struct Ledger;

impl Ledger {
    /// Runs `answer`, and gives what was noted meanwhile.
    pub async fn keep<T>(answer: impl Future<Output = T>) -> (T, Option<Standing>) {
        let with_note = async {
            let value = answer.await;
            (value, NOTED.with(Cell::get))
        };
        NOTED.scope(Cell::new(None), with_note).await
    }

    fn note(standing: Standing) {
        // Outside a request (jobs, command line) nobody reads it.
        let _ = NOTED.try_with(|noted| {
            if noted.get().is_none_or(|before| standing.remaining <= before.remaining) {
                noted.set(Some(standing));
            }
        });
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
}
