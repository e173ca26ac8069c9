//! Idle connections, kept for the next request to their origin.
//!
//! Useful only for destinations of many requests: push services. A connection leads to the address that was checked
//! when it was opened ([`Client::addresses`](crate::Client)), and never to another. The caller decides which requests
//! share connections.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use url::Origin;

use super::target::Target;
use crate::connect::Connection;

/// Most idle connections to one origin.
const PER_ORIGIN: usize = 8;
/// Most idle connections.
const MOST: usize = 64;
/// How long a connection stays idle: less than the idle timeout of most servers.
const LONGEST: Duration = Duration::from_secs(20);

/// The idle connections by origin, the most recently used last.
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
    /// An idle connection to the origin of `target`.
    pub(super) fn take(&self, target: &Target) -> Option<Connection> {
        let (mut waiting, now) = (self.lock(), Instant::now());
        let here = waiting.get_mut(&target.url.origin())?;
        std::iter::from_fn(|| here.pop()).find(|one| one.is_usable(now)).map(|one| one.connection)
    }

    /// Keeps a reusable connection as idle; closes it when there are enough of them.
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
