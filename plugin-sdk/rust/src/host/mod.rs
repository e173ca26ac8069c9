//! What a plugin may ask of the server, named as in the contract, which has cost, permission and errors of each.

pub mod core;
pub mod core_write;
pub mod feeds;
pub mod http_client;
pub mod log;
pub mod queue;

#[cfg(target_arch = "wasm32")]
pub(crate) use crate::bindings::host as imports;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use crate::test::imports;

/// Plain numbers of ids.
pub(crate) fn numbers<I: Copy + Into<i64>>(ids: &[I]) -> Vec<i64> {
    ids.iter().map(|id| (*id).into()).collect()
}

/// Time and randomness.
pub mod system {
    use super::imports::system as host;

    /// Milliseconds since the Unix epoch.
    #[must_use]
    pub fn now() -> i64 {
        host::now()
    }

    /// Milliseconds since the call began.
    #[must_use]
    pub fn elapsed() -> u64 {
        host::elapsed()
    }

    /// Secure bytes, at most 64 KiB.
    #[must_use]
    pub fn random(length: u32) -> Vec<u8> {
        host::random(length)
    }
}

/// The plugin's configuration, set by the admin.
pub mod config {
    use serde::de::DeserializeOwned;

    use super::imports::config as host;
    use crate::Result;

    /// All of it, as a struct.
    ///
    /// # Errors
    /// When the struct does not fit the schema.
    pub fn all<T: DeserializeOwned>() -> Result<T> {
        Ok(serde_json::from_str(&host::all())?)
    }

    /// One member.
    ///
    /// # Errors
    /// When it does not fit.
    pub fn get<T: DeserializeOwned>(key: &str) -> Result<Option<T>> {
        Ok(host::get(key).map(|text| serde_json::from_str(&text)).transpose()?)
    }

    /// A secret that the manifest names.
    #[must_use]
    pub fn secret(name: &str) -> Option<String> {
        host::secret(name)
    }

    /// Grows with every change.
    #[must_use]
    pub fn version() -> u64 {
        host::version()
    }
}

/// Settings that each account makes for this plugin.
pub mod settings {
    use serde::Serialize;
    use serde::de::DeserializeOwned;

    use super::{imports::settings as host, numbers};
    use crate::Result;

    /// The settings of each local account, in the order asked for.
    ///
    /// # Errors
    /// The host's, or when the struct does not fit the schema.
    pub fn get<T: DeserializeOwned, I: Copy + Into<i64>>(accounts: &[I]) -> Result<Vec<T>> {
        let texts = host::get(&numbers(accounts))?;
        texts.iter().map(|text| Ok(serde_json::from_str(text)?)).collect()
    }

    /// Replaces members; null puts one back to its default.
    ///
    /// # Errors
    /// The host's.
    pub fn set<T: Serialize + ?Sized>(account: impl Into<i64>, members: &T) -> Result<()> {
        Ok(host::set(account.into(), &serde_json::to_string(members)?)?)
    }
}

/// Messages to connected clients.
pub mod streaming {
    use serde::Serialize;

    use super::imports::streaming as host;
    use crate::Result;
    use crate::contract::streaming::Message;

    /// Tells whoever is connected, once what the call changed is committed.
    ///
    /// # Errors
    /// The host's.
    pub fn publish(messages: &[Message]) -> Result<u32> {
        Ok(host::publish(messages)?)
    }

    /// A message.
    ///
    /// # Errors
    /// When the payload does not serialise.
    pub fn message<T: Serialize + ?Sized>(topic: &str, event: &str, payload: &T) -> Result<Message> {
        Ok(Message { topic: topic.into(), event: event.into(), payload: serde_json::to_string(payload)? })
    }
}

/// Small values without SQL.
pub mod kv {
    use super::imports::kv as host;
    use crate::Result;
    pub use crate::contract::kv::Item;

    /// The values of keys, in that order.
    ///
    /// # Errors
    /// The host's.
    pub fn get(keys: &[String]) -> Result<Vec<Option<Vec<u8>>>> {
        Ok(host::get(keys)?)
    }

    /// Stores values.
    ///
    /// # Errors
    /// The host's.
    pub fn set(items: &[Item]) -> Result<()> {
        Ok(host::set(items)?)
    }

    /// Forgets keys.
    ///
    /// # Errors
    /// The host's.
    pub fn delete(keys: &[String]) -> Result<u32> {
        Ok(host::delete(keys)?)
    }

    /// Adds to a number; gives the sum.
    ///
    /// # Errors
    /// The host's.
    pub fn add(key: &str, delta: i64) -> Result<i64> {
        Ok(host::add(key, delta)?)
    }

    /// Items whose key begins with `prefix`, in order, after `after`.
    ///
    /// # Errors
    /// The host's.
    pub fn scan(prefix: &str, after: Option<&str>, limit: u16) -> Result<Vec<Item>> {
        Ok(host::scan(prefix, after, limit)?)
    }
}

/// Memory that all instances of the plugin in a process share.
pub mod cache {
    use super::imports::cache as host;

    /// What is kept under `key`.
    #[must_use]
    pub fn get(key: &str) -> Option<Vec<u8>> {
        host::get(key)
    }

    /// Keeps a value for a while.
    pub fn set(key: &str, value: &[u8], ttl_ms: u32) {
        host::set(key, value, ttl_ms);
    }

    /// Drops everything whose key begins with `prefix`.
    pub fn drop_prefix(prefix: &str) {
        host::drop_prefix(prefix);
    }
}
