//! The in-memory cache of a plugin, as data.

use std::sync::{Arc, OnceLock};

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use model::Time;

/// Capacity for each plugin, in bytes.
pub(super) const BYTES: u64 = 16 << 20;
/// Expected number of entries. So low that the cache is one shard, which has room for the largest entry.
const ENTRIES: usize = 32;
/// Approximate overhead of an entry, in bytes.
pub(super) const OVERHEAD: usize = 64;

/// A plugin's cache; allocated by the first entry.
#[derive(Debug, Default)]
pub(super) struct Memory(pub(super) OnceLock<Cache<String, Entry, Bytes>>);

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) value: Arc<[u8]>,
    pub(super) expires: Time,
}

#[derive(Clone, Debug)]
pub(super) struct Bytes;

impl Weighter<String, Entry> for Bytes {
    fn weight(&self, key: &String, entry: &Entry) -> u64 {
        (key.len() + entry.value.len() + OVERHEAD) as u64
    }
}

impl Memory {
    pub(super) fn entries(&self) -> &Cache<String, Entry, Bytes> {
        self.0.get_or_init(|| Cache::with_weighter(ENTRIES, BYTES, Bytes))
    }
}
