//! The state of federation in this process, beyond the database: parsed keys, and how often other servers are asked.

use std::any::Any;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::TimeDelta;
use context::hosts::Hosts;
use context::{Cx, Error, Result};
use crypto::rsa::SigningKey;
use model::{AccountId, Time};
use tokio::sync::{OnceCell, Semaphore};

use crate::floods::Floods;
use crate::followers::Digests;
use crate::lookups::Lookups;

/// Most requests to one host for its documents at once.
const FETCHES: usize = 8;
/// Most hosts that failed before and are sent to concurrently.
const FAILING: usize = 16;
/// How often it is noted that something came from a host.
const NEWS: TimeDelta = TimeDelta::minutes(1);
/// How long no key is fetched for requests from an address after a fetch failed.
const UNREACHABLE: TimeDelta = TimeDelta::minutes(5);
/// How long digests of followers are kept, and how often the followers of a sender are compared.
const SYNCHRONIZED: TimeDelta = TimeDelta::minutes(5);
/// Accounts whose digests are kept.
const DIGESTS_MAX: usize = 500;
/// Number of entries beyond which ended ones are dropped.
const CROWDED: usize = 10_000;

/// The key pair of the server's actor.
#[derive(Debug)]
pub(crate) struct ServerKey {
    pub(crate) signing: SigningKey,
    /// PEM.
    pub(crate) public: String,
}

/// The digests of the followers of an account: with their number, and when they were computed.
type KeptDigests = (i64, Time, Arc<Digests>);

/// Other servers, as far as this process knows them beyond the database.
#[derive(Debug)]
pub struct Network {
    /// The key of the server's own actor.
    pub(crate) server_key: OnceCell<ServerKey>,
    /// Parsed keys of local accounts, each with the stored text that it was opened from.
    signing_keys: Mutex<HashMap<AccountId, (String, SigningKey)>>,
    pub(crate) lookups: Lookups,
    /// Hosts that documents are fetched from.
    pub(crate) hosts: Hosts,
    pub(crate) floods: Floods,
    /// Permits for sending to hosts that failed before.
    pub(crate) failing: Semaphore,
    /// Hosts that something came from, when this was last noted.
    alive: Mutex<HashMap<String, Time>>,
    /// Addresses whose keys could not be fetched, until when.
    unreachable: Mutex<HashMap<IpAddr, Time>>,
    /// Hosts that are being sent to: the lock makes their deliveries follow one another.
    sending: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
    /// Digests of the followers of local accounts: with their number then, and the time.
    digests: Mutex<HashMap<AccountId, KeptDigests>>,
    /// Remote accounts whose followers were compared, when.
    synchronized: Mutex<HashMap<AccountId, Time>>,
}

impl Default for Network {
    fn default() -> Self {
        Self {
            server_key: OnceCell::new(),
            signing_keys: Mutex::default(),
            lookups: Lookups::default(),
            hosts: Hosts::new(FETCHES),
            floods: Floods::default(),
            failing: Semaphore::new(FAILING),
            alive: Mutex::default(),
            unreachable: Mutex::default(),
            sending: Mutex::default(),
            digests: Mutex::default(),
            synchronized: Mutex::default(),
        }
    }
}

fn open<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Network {
    /// The state in the context of a server with federation.
    ///
    /// # Errors
    /// [`Error::Internal`] for a server without, which is a bug.
    pub(crate) fn of(cx: &Cx) -> Result<&Self> {
        let port: &dyn Any = &*cx.federation;
        port.downcast_ref().ok_or_else(|| Error::internal("a server without federation"))
    }

    /// The parsed key of `account`, if it was opened from the text `stored`.
    pub(crate) fn signing_key(&self, account: AccountId, stored: &str) -> Option<SigningKey> {
        let keys = open(&self.signing_keys);
        keys.get(&account).filter(|(text, _)| text == stored).map(|(_, key)| key.clone())
    }

    /// Keeps the parsed key of an account.
    pub(crate) fn keep_signing_key(&self, account: AccountId, stored: String, key: SigningKey) {
        let mut keys = open(&self.signing_keys);
        if keys.len() >= CROWDED {
            keys.clear();
        }
        keys.insert(account, (stored, key));
    }

    /// Notes that something came from `host`; false when that was noted within a minute.
    pub(crate) fn is_news(&self, host: &str, now: Time) -> bool {
        let mut alive = open(&self.alive);
        if alive.get(host).is_some_and(|last| now - *last < NEWS) {
            return false;
        }
        if alive.len() >= CROWDED {
            alive.retain(|_, last| now - *last < NEWS);
        }
        if alive.len() < CROWDED {
            alive.insert(host.to_owned(), now);
        }
        true
    }

    /// True while keys are not fetched for requests from `address`.
    pub(crate) fn is_unreachable(&self, address: IpAddr, now: Time) -> bool {
        open(&self.unreachable).get(&address).is_some_and(|until| now < *until)
    }

    /// Notes that the keys for a request from `address` could not be fetched.
    pub(crate) fn set_unreachable(&self, address: IpAddr, now: Time) {
        let mut unreachable = open(&self.unreachable);
        if unreachable.len() >= CROWDED {
            unreachable.retain(|_, until| now < *until);
        }
        if unreachable.len() >= CROWDED {
            unreachable.clear();
        }
        unreachable.insert(address, now + UNREACHABLE);
    }

    /// The digests of the followers of `account`, if they were computed a few minutes ago, of as many followers.
    pub(crate) fn digests(&self, account: AccountId, followers: i64, now: Time) -> Option<Arc<Digests>> {
        let kept = open(&self.digests);
        let (count, at, digests) = kept.get(&account)?;
        (*count == followers && now - *at < SYNCHRONIZED).then(|| Arc::clone(digests))
    }

    /// Keeps the digests of the followers of `account`.
    pub(crate) fn keep_digests(&self, account: AccountId, followers: i64, now: Time, digests: Arc<Digests>) {
        let mut kept = open(&self.digests);
        if kept.len() >= DIGESTS_MAX {
            kept.clear();
        }
        kept.insert(account, (followers, now, digests));
    }

    /// True when the followers of `account` are to be compared; false when they were a few minutes ago.
    pub(crate) fn may_synchronize(&self, account: AccountId, now: Time) -> bool {
        let mut synchronized = open(&self.synchronized);
        if synchronized.get(&account).is_some_and(|last| now - *last < SYNCHRONIZED) {
            return false;
        }
        if synchronized.len() >= CROWDED {
            synchronized.retain(|_, last| now - *last < SYNCHRONIZED);
        }
        let has_room = synchronized.len() < CROWDED;
        if has_room {
            synchronized.insert(account, now);
        }
        has_room
    }

    /// The lock under which documents are sent to `host`.
    pub(crate) fn sending(&self, host: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut sending = open(&self.sending);
        if sending.len() >= CROWDED {
            sending.retain(|_, lock| Arc::strong_count(lock) > 1);
        }
        Arc::clone(sending.entry(host.to_owned()).or_default())
    }
}
