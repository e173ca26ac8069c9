//! Limits of concurrent connections: in total, per person, and per address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use context::Cx;
use context::limits::Key;
use model::AccountId;

#[derive(Debug, Default)]
pub(crate) struct Seats(Mutex<Taken>);

#[derive(Debug, Default)]
struct Taken {
    total: usize,
    by_person: HashMap<AccountId, usize>,
    by_address: HashMap<Key, usize>,
}

/// The slot of one connection, released when dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    seats: Arc<Seats>,
    person: AccountId,
    /// `None` behind a trusted proxy that does not name another address.
    address: Option<Key>,
}

impl Seats {
    /// Takes a slot for `person`, who connects from `address`.
    ///
    /// # Errors
    /// The message for the client: which limit is reached.
    pub(crate) fn take(self: &Arc<Self>, cx: &Cx, person: AccountId, address: IpAddr) -> Result<Seat, &'static str> {
        let limits = &cx.config.streaming;
        let proxied = cx.config.server.trusted_proxies.iter().any(|network| network.contains(&address));
        let address = (!proxied).then(|| Key::address(address));
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_person = taken.by_person.get(&person).copied().unwrap_or_default();
        let from_there = address.as_ref().and_then(|address| taken.by_address.get(address)).copied();
        let refuse = |cap: &'static str, text| {
            metrics::counter!("rookery_streaming_refused_total", "cap" => cap).increment(1);
            Err(text)
        };
        if taken.total >= limits.max_connections {
            return refuse("total", "This server has no room for more streams, try again later");
        }
        if of_person >= limits.max_per_person {
            return refuse("person", "You have too many streams open");
        }
        if from_there.unwrap_or_default() >= limits.max_per_address {
            return refuse("address", "There are too many streams open from this address");
        }
        taken.total += 1;
        *taken.by_person.entry(person).or_default() += 1;
        if let Some(address) = &address {
            *taken.by_address.entry(address.clone()).or_default() += 1;
        }
        metrics::gauge!("rookery_streaming_connections").increment(1.0);
        Ok(Seat { seats: Arc::clone(self), person, address })
    }

    /// How many connections are open.
    pub(crate) fn taken(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).total
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.seats.0.lock().unwrap_or_else(PoisonError::into_inner);
        taken.total -= 1;
        subtract(&mut taken.by_person, &self.person);
        if let Some(address) = &self.address {
            subtract(&mut taken.by_address, address);
        }
        metrics::gauge!("rookery_streaming_connections").decrement(1.0);
    }
}

fn subtract<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}
