//! The host functions that a plugin may call, in modules named as in the contract.
//!
//! Cost, permission and errors of each are in `plugin-sdk/wit/0.1/plugin.wit`; whatever the host refuses comes back as
//! [`Error::Failure`](crate::Error::Failure). In native builds the fake server of `test` answers.

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

/// Ids as plain numbers.
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

    /// Cryptographically secure random bytes, at most 64 KiB in one call.
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

    /// The whole configuration, as a struct; [`Error::Internal`](crate::Error::Internal) when it does not fit the
    /// schema.
    pub fn all<T: DeserializeOwned>() -> Result<T> {
        Ok(serde_json::from_str(&host::all())?)
    }

    /// One key of the configuration; `None` when the schema has no such key.
    pub fn get<T: DeserializeOwned>(key: &str) -> Result<Option<T>> {
        Ok(host::get(key).map(|text| serde_json::from_str(&text)).transpose()?)
    }

    /// A secret that the manifest names; `None` while the admin has not set it.
    #[must_use]
    pub fn secret(name: &str) -> Option<String> {
        host::secret(name)
    }

    /// The version of the configuration, which grows with every change: for dropping values that were derived from an
    /// older one.
    #[must_use]
    pub fn version() -> u64 {
        host::version()
    }
}

/// Texts that this plugin alone can read again, on this server alone.
pub mod sealing {
    use super::imports::sealing as host;
    use crate::Result;

    /// An encrypted and authenticated token for `text` (64 KiB at most), which opens for the same `purpose` only.
    pub fn seal(purpose: &str, text: &str) -> Result<String> {
        Ok(host::seal(purpose, text)?)
    }

    /// The text of a token; `None` when this plugin did not seal it here for this purpose.
    #[must_use]
    pub fn open(purpose: &str, token: &str) -> Option<String> {
        host::open(purpose, token)
    }
}

/// Settings of each account for this plugin.
pub mod settings {
    use serde::Serialize;
    use serde::de::DeserializeOwned;

    use super::{imports::settings as host, numbers};
    use crate::Result;

    /// The settings of each local account, in the order asked for.
    pub fn get<T: DeserializeOwned, I: Copy + Into<i64>>(accounts: &[I]) -> Result<Vec<T>> {
        let texts = host::get(&numbers(accounts))?;
        texts.iter().map(|text| Ok(serde_json::from_str(text)?)).collect()
    }

    /// Replaces members; null resets one to its default.
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

    /// Sends messages to connected clients, after the call's changes are committed. Delivery is at most once.
    pub fn publish(messages: &[Message]) -> Result<u32> {
        Ok(host::publish(messages)?)
    }

    /// Builds a message.
    pub fn message<T: Serialize + ?Sized>(topic: &str, event: &str, payload: &T) -> Result<Message> {
        Ok(Message { topic: topic.into(), event: event.into(), payload: serde_json::to_string(payload)? })
    }
}

/// Key-value storage for small values, without SQL.
pub mod kv {
    use super::imports::kv as host;
    use crate::Result;
    pub use crate::contract::kv::Item;

    /// The values of keys, in the order asked for; `None` for a key that does not exist or has expired.
    pub fn get(keys: &[String]) -> Result<Vec<Option<Vec<u8>>>> {
        Ok(host::get(keys)?)
    }

    /// Stores values.
    pub fn set(items: &[Item]) -> Result<()> {
        Ok(host::set(items)?)
    }

    /// Deletes keys; returns how many existed.
    pub fn delete(keys: &[String]) -> Result<u32> {
        Ok(host::delete(keys)?)
    }

    /// Adds to a number, which starts at 0; returns the sum.
    pub fn add(key: &str, delta: i64) -> Result<i64> {
        Ok(host::add(key, delta)?)
    }

    /// Items whose key begins with `prefix`, in the order of keys, after the key `after`.
    pub fn scan(prefix: &str, after: Option<&str>, limit: u16) -> Result<Vec<Item>> {
        Ok(host::scan(prefix, after, limit)?)
    }
}

/// In-memory cache that all instances of the plugin in a process share.
pub mod cache {
    use super::imports::cache as host;

    /// The value of `key`, if it is cached.
    #[must_use]
    pub fn get(key: &str) -> Option<Vec<u8>> {
        host::get(key)
    }

    /// Caches a value for `ttl_ms` milliseconds at most.
    pub fn set(key: &str, value: &[u8], ttl_ms: u32) {
        host::set(key, value, ttl_ms);
    }

    /// Drops everything whose key begins with `prefix`.
    pub fn drop_prefix(prefix: &str) {
        host::drop_prefix(prefix);
    }
}
