//! A bounded cache whose entries have a version.

use std::future::Future;
use std::hash::Hash;
use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use database::Db;
use database::versions::{Dependency, Versions};

/// Approximate overhead of an entry, in bytes.
const OVERHEAD: usize = 64;

/// About how much memory a value takes beyond the entry itself.
pub trait Size {
    fn size_bytes(&self) -> usize;
}

impl Size for Arc<str> {
    fn size_bytes(&self) -> usize {
        self.len()
    }
}

impl Size for Option<Arc<str>> {
    fn size_bytes(&self) -> usize {
        self.as_ref().map_or(0, Size::size_bytes)
    }
}

/// Values by key, each with the version of its source. Beyond a size in bytes the least used values are evicted.
#[derive(Debug)]
pub struct Versioned<K, V>(Cache<K, Entry<V>, Bytes>);

#[derive(Clone, Debug)]
struct Entry<V> {
    version: i64,
    value: V,
}

/// Weighs an entry by its size.
#[derive(Clone, Debug)]
struct Bytes;

impl<K, V: Size> Weighter<K, Entry<V>> for Bytes {
    fn weight(&self, _: &K, entry: &Entry<V>) -> u64 {
        (OVERHEAD + entry.value.size_bytes()) as u64
    }
}

/// The version to store with rows that are read next; `None` where other processes change them unnoticed
/// (PostgreSQL), so that nothing read from them can be cached.
#[must_use]
pub fn before_read(db: &Db) -> Option<i64> {
    db.versions().map(|versions| i64::try_from(Versions::now(versions)).unwrap_or(i64::MAX))
}

impl<K: Eq + Hash + Clone, V: Size + Clone> Versioned<K, V> {
    /// A cache of at most `bytes` bytes, in which about `entries` values are expected.
    #[must_use]
    pub(super) fn with_capacity(entries: usize, bytes: u64) -> Self {
        Self(Cache::with_weighter(entries, bytes, Bytes))
    }

    /// The value of `key`: for keys that contain the version, and for values that never change.
    pub fn get(&self, key: &K) -> Option<V> {
        Some(self.0.get(key)?.value)
    }

    /// The value of `key`, if its version is `version` or later.
    pub fn at_least(&self, key: &K, version: i64) -> Option<V> {
        let entry = self.0.get(key)?;
        (entry.version >= version).then_some(entry.value)
    }

    /// The value of `key`, if the rows that `of` names did not change since it was read.
    pub fn unchanged<D: AsRef<[Dependency]>>(&self, db: &Db, key: &K, of: impl FnOnce(&V) -> D) -> Option<V> {
        let versions = db.versions()?;
        let Entry { version, value } = self.0.get(key)?;
        let read = u64::try_from(version).unwrap_or_default();
        versions.is_current(read, of(&value).as_ref()).then_some(value)
    }

    /// The value of `key`, or the result of `make`; concurrent callers with the same key wait for one run of `make`.
    ///
    /// # Errors
    /// Any error of `make`.
    pub async fn get_or_make<E>(&self, key: &K, make: impl Future<Output = Result<V, E>>) -> Result<V, E> {
        let make = async { Ok(Entry { version: 0, value: make.await? }) };
        Ok(self.0.get_or_insert_async(key, make).await?.value)
    }

    /// Stores `value` under a key that contains its version, or whose value never changes.
    pub fn insert(&self, key: K, value: V) {
        self.insert_at(key, 0, value);
    }

    /// Stores `value` with its version; for values read from rows, the version is [`before_read`].
    pub fn insert_at(&self, key: K, version: i64, value: V) {
        self.0.insert(key, Entry { version, value });
    }

    /// Drops the value of `key`.
    pub fn remove(&self, key: &K) {
        self.0.remove(key);
    }

    /// Drops every value.
    pub fn clear(&self) {
        self.0.clear();
    }

    /// The size of all values, in bytes.
    pub fn weight(&self) -> u64 {
        self.0.weight()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(length: usize) -> Arc<str> {
        "x".repeat(length).into()
    }

    #[test]
    fn value_is_returned_at_its_version_and_below() {
        let cache = Versioned::with_capacity(16, 1 << 20);
        cache.insert_at("a", 3, text(1));
        assert!(cache.at_least(&"a", 3).is_some() && cache.at_least(&"a", 2).is_some());
        assert!(cache.at_least(&"a", 4).is_none() && cache.at_least(&"b", 0).is_none());
        cache.remove(&"a");
        assert!(cache.get(&"a").is_none());
    }

    #[test]
    fn size_in_bytes_is_bounded() {
        let cache = Versioned::with_capacity(16, 10_000);
        (0..100).for_each(|key| cache.insert(key, text(1_000)));
        assert!(cache.weight() <= 10_000 && cache.weight() > 5_000, "{}", cache.weight());
    }
}
