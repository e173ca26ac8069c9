//! Rate limits: fixed windows aligned to the epoch, counted in memory per process.
//!
//! Spec: docs/contract/rules.md#5-rate-limits. The HTTP layer spends per-request limits with [`spend`]; a service
//! whose action has its own limit (follows, statuses, reports) takes from it with [`family`] and gives it back when
//! the action fails. The limit spent last is remembered for the `X-RateLimit-*` headers, see [`Cx::spent`]. Counters
//! are not shared between nodes, and are stored in [`limits`](context::limits).

use std::borrow::Cow;
use std::sync::Arc;

use context::Cx;
use context::error::{Error, Result};
use context::limits::{Counter, Key, Limit, Standing};
use model::{AccountId, Time};

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
    /// Messages that clients send over WebSocket, per account.
    STREAM_MESSAGES = 1500 in 5 * MINUTE;
    /// Requests for further pages of a collection, per account or IP address.
    PAGING = 300 in 15 * MINUTE;
    /// Deleted statuses and undone reblogs, per account.
    DELETE_STATUS = 30 in 30 * MINUTE;
    /// Registered applications, per IP address.
    APPS = 5 in 10 * MINUTE;
    /// Tokens requested, revoked or looked up by applications, per IP address.
    OAUTH = 300 in 5 * MINUTE;
    /// Submitted forms (sign-up, sign-in, password reset, confirmation), per IP address.
    FORMS = 25 in 5 * MINUTE;
    /// Requested mails, per e-mail address.
    MAIL = 5 in 30 * MINUTE;
    /// Sign-in attempts, per account; for a name without an account, per name.
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

/// Counts one request against `limit`; `None` when rate limits are disabled.
pub fn spend(cx: &Cx, limit: &Limit, key: &Key) -> Option<Standing> {
    if !cx.config.rate_limits.enabled {
        return None;
    }
    let now = cx.clock.now();
    let window = limit.window(now);
    let before = cx.limits.counter(limit, key, now).spend(window, limit.max);
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
    let now = cx.clock.now();
    Ok(Spent(Some((cx.limits.counter(limit, key, now), limit.window(now)))))
}

/// A guard for one taken request: given back on drop unless kept.
#[derive(Debug)]
#[must_use = "when dropped, the request is given back"]
pub struct Spent(Option<(Arc<Counter>, u32)>);

impl Spent {
    /// Makes it final, after the action succeeded.
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
