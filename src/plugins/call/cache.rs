//! In-memory cache shared by all instances of a plugin in this process (contract: interface `cache`).

use std::sync::{Arc, OnceLock};

use chrono::Duration;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::Call;
use model::Time;

/// Capacity for each plugin, in bytes.
const BYTES: u64 = 16 << 20;
/// Expected number of entries. So low that the cache is one shard, which has room for the largest entry.
const ENTRIES: usize = 32;
/// Approximate overhead of an entry, in bytes.
const OVERHEAD: usize = 64;

/// A plugin's cache; allocated by the first entry.
#[derive(Debug, Default)]
pub(super) struct Memory(OnceLock<Cache<String, Entry, Bytes>>);

#[derive(Clone, Debug)]
struct Entry {
    value: Arc<[u8]>,
    expires: Time,
}

#[derive(Clone, Debug)]
struct Bytes;

impl Weighter<String, Entry> for Bytes {
    fn weight(&self, key: &String, entry: &Entry) -> u64 {
        (key.len() + entry.value.len() + OVERHEAD) as u64
    }
}

impl Memory {
    fn entries(&self) -> &Cache<String, Entry, Bytes> {
        self.0.get_or_init(|| Cache::with_weighter(ENTRIES, BYTES, Bytes))
    }
}

impl Call {
    pub(super) fn remembered(&self, key: &str) -> Option<Arc<[u8]>> {
        let entry = self.state.memory.0.get()?.get(key)?;
        (entry.expires > self.cx.clock.now()).then_some(entry.value)
    }

    pub(super) fn remember(&self, key: String, value: Vec<u8>, ttl_ms: u32) {
        let size = u64::try_from(key.len() + value.len() + OVERHEAD).unwrap_or(u64::MAX);
        if size > BYTES {
            return;
        }
        let expires = self.cx.clock.now() + Duration::milliseconds(ttl_ms.into());
        self.state.memory.entries().insert(key, Entry { value: value.into(), expires });
    }

    pub(super) fn forget(&self, prefix: &str) {
        if let Some(entries) = self.state.memory.0.get() {
            entries.retain(|key, _| !key.starts_with(prefix));
        }
    }
}
