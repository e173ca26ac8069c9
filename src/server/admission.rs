//! Limits the number of open connections: in all, and from one address.
//!
//! A connection beyond a limit is closed before a byte of it is read. Connections from trusted proxies count in all and
//! never per address: a proxy serves many clients.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use ipnet::IpNet;

use config::Config;
use context::limits::Key;

/// The connections that are open.
#[derive(Debug)]
pub(crate) struct Admission {
    max: usize,
    max_per_address: usize,
    trusted: Vec<IpNet>,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    total: usize,
    by_address: HashMap<Key, usize>,
}

/// The place of one open connection; free again when dropped.
#[derive(Debug)]
pub(crate) struct Place {
    admission: Arc<Admission>,
    /// `None` for a trusted proxy.
    address: Option<Key>,
}

impl Admission {
    pub(crate) fn new(config: &Config) -> Arc<Self> {
        Arc::new(Self {
            max: config.connections.max,
            max_per_address: config.connections.max_per_address,
            trusted: config.server.trusted_proxies.clone(),
            open: Mutex::default(),
        })
    }

    /// A place for a connection from `peer`; `None` when a cap is reached.
    pub(crate) fn admit(self: &Arc<Self>, peer: IpAddr) -> Option<Place> {
        let peer = peer.to_canonical();
        let address = (!self.trusted.iter().any(|network| network.contains(&peer))).then(|| Key::address(peer));
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let from_there = address.as_ref().and_then(|address| open.by_address.get(address)).copied().unwrap_or_default();
        if open.total >= self.max || from_there >= self.max_per_address {
            let cap = if open.total >= self.max { "total" } else { "address" };
            metrics::counter!("rookery_connections_refused_total", "cap" => cap).increment(1);
            return None;
        }
        open.total += 1;
        if let Some(address) = &address {
            open.by_address.insert(address.clone(), from_there + 1);
        }
        metrics::gauge!("rookery_connections").increment(1.0);
        Some(Place { admission: Arc::clone(self), address })
    }

    /// How many connections are open.
    #[cfg(test)]
    pub(crate) fn open(&self) -> usize {
        self.open.lock().unwrap().total
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.admission.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.total -= 1;
        if let Some(address) = self.address.take()
            && let Some(count) = open.by_address.get_mut(&address)
        {
            *count -= 1;
            if *count == 0 {
                open.by_address.remove(&address);
            }
        }
        metrics::gauge!("rookery_connections").decrement(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission(max: &str, per_address: &str) -> Arc<Admission> {
        let variables = [
            ("ROOKERY_CONNECTIONS_MAX", max),
            ("ROOKERY_CONNECTIONS_MAX_PER_ADDRESS", per_address),
            ("ROOKERY_SERVER_TRUSTED_PROXIES", "10.0.0.0/8"),
        ];
        let variables = variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        Admission::new(&Config::load(None, variables).unwrap())
    }

    #[test]
    fn caps_hold_in_all_and_per_address() {
        let admission = admission("16", "2");
        let admit = |address: &str| admission.admit(address.parse().unwrap());
        let [one, two] = [admit("192.0.2.1"), admit("::ffff:192.0.2.1")];
        assert!(one.is_some() && two.is_some() && admit("192.0.2.1").is_none());
        let network = [admit("2001:db8::1"), admit("2001:db8::2")];
        assert!(network.iter().all(Option::is_some) && admit("2001:db8::3").is_none(), "a customer has a /64");
        drop(one);
        let again = admit("192.0.2.1");
        assert!(again.is_some(), "a place that is free again");

        let proxied: Vec<_> = (0..12).map(|_| admit("10.0.0.1")).collect();
        assert!(proxied.iter().all(Option::is_some), "a proxy speaks for many");
        assert!(admit("10.0.0.1").is_none() && admit("198.51.100.1").is_none(), "16 in all");
        drop((two, network, again, proxied));
        assert_eq!(admission.open(), 0);
        assert!(admission.open.lock().unwrap().by_address.is_empty());
    }
}
