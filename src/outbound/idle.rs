//! Connections that wait for the next request to their origin.
//!
//! Only what many requests go to is worth it: push services. A connection leads to an address that was checked when it was
//! opened ([`Client::addresses`](crate::Client)), and to no other later. Which requests share connections is for the caller to
//! decide.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use url::Origin;

use crate::Target;
use crate::connect::Connection;

/// Most connections that wait for requests to one origin.
const PER_ORIGIN: usize = 8;
/// Most connections that wait.
const MOST: usize = 64;
/// How long one waits: less than most servers do before they close it.
const LONGEST: Duration = Duration::from_secs(20);

/// The connections that wait, by origin, those of an origin with the last used one last.
#[derive(Debug, Default)]
pub(super) struct Idle(Mutex<HashMap<Origin, Vec<Waiting>>>);

#[derive(Debug)]
struct Waiting {
    connection: Connection,
    until: Instant,
}

impl Waiting {
    fn is_usable(&self, now: Instant) -> bool {
        self.until > now && self.connection.is_open()
    }
}

impl Idle {
    /// A connection to the origin of `target` that waits.
    pub(super) fn take(&self, target: &Target) -> Option<Connection> {
        let (mut waiting, now) = (self.lock(), Instant::now());
        let here = waiting.get_mut(&target.url.origin())?;
        std::iter::from_fn(|| here.pop()).find(|one| one.is_usable(now)).map(|one| one.connection)
    }

    /// Lets a connection wait that can take another request; closes it when enough of them wait.
    pub(super) fn put(&self, target: &Target, connection: Connection) {
        let (mut waiting, now) = (self.lock(), Instant::now());
        waiting.retain(|_, here| {
            here.retain(|one| one.is_usable(now));
            !here.is_empty()
        });
        let all: usize = waiting.values().map(Vec::len).sum();
        let here = waiting.entry(target.url.origin()).or_default();
        if all < MOST && here.len() < PER_ORIGIN {
            here.push(Waiting { connection, until: now + LONGEST });
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Origin, Vec<Waiting>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
