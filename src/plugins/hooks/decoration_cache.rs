//! A cache of decorations of statuses, for hooks whose manifest allows it (`cache`).
//!
//! As in [`context::caches`], keys contain versions, so no invalidation message is needed, on this node or another: a
//! status's version changes when a plugin requests it (`core-write.touch`), and the versions of its author and viewer
//! change with their profiles, posts, follows, blocks, mutes and settings. What depends on anything else is stale for
//! [`LONGEST`] at most.

use std::sync::Arc;
use std::time::Duration;

use context::extension::{Target, Versions};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use tokio::time::Instant;

use super::subscription::Subscription;
use model::{Actor, PluginId};

/// Time to live of an entry.
const LONGEST: Duration = Duration::from_secs(60);

/// Expected number of entries; sizes the table.
const ENTRIES: usize = 1 << 16;

/// Capacity in bytes.
const BYTES: u64 = 16 << 20;

/// Approximate overhead of one entry, in bytes.
const ENTRY: usize = 192;

/// A plugin's decoration of one entity: the members that it declares, in that order, as JSON. Empty when it set none of
/// them.
pub(super) type Fields = Arc<[Option<Box<str>>]>;

/// The dependencies of a decoration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    plugin: PluginId,
    generation: u64,
    emojis: i64,
    status: (i64, i64),
    author: i64,
    viewer: (i64, i64),
}

/// The cache. A page inserts dozens of entries, so this implementation was chosen for its cheap insertions.
#[derive(Debug)]
pub struct DecorationCache(Cache<Key, Entry, Bytes>);

#[derive(Clone, Debug)]
struct Entry {
    fields: Fields,
    until: Instant,
}

#[derive(Clone, Debug)]
struct Bytes;

impl Weighter<Key, Entry> for Bytes {
    fn weight(&self, _: &Key, entry: &Entry) -> u64 {
        let fields: usize = entry.fields.iter().flatten().map(|json| json.len() + 16).sum();
        (ENTRY + fields) as u64
    }
}

impl Default for DecorationCache {
    fn default() -> Self {
        Self(Cache::with_weighter(ENTRIES, BYTES, Bytes))
    }
}

impl DecorationCache {
    pub(super) fn get(&self, key: &Key, now: Instant) -> Option<Fields> {
        self.0.get(key).filter(|entry| entry.until > now).map(|entry| entry.fields)
    }

    pub(super) fn insert(&self, key: Key, fields: Fields, now: Instant) {
        self.0.insert(key, Entry { fields, until: now + LONGEST });
    }
}

impl Key {
    /// The key of what `hook` adds to `target` for `viewer`, at the generation `emojis` of the custom emojis.
    pub(super) fn new(
        hook: &Subscription,
        emojis: i64,
        viewer: Option<&Actor>,
        target: &Target,
        versions: Versions,
    ) -> Self {
        Self {
            plugin: hook.active.id,
            generation: hook.active.generation,
            emojis,
            status: (target.id, versions.status),
            author: versions.author,
            viewer: viewer.map_or((0, 0), |viewer| (viewer.id.into(), viewer.version)),
        }
    }

    /// The key of what `hook` adds for `viewer` to every status that did not change since it was published.
    pub(super) fn of_untouched(hook: &Subscription, viewer: Option<&Actor>) -> Self {
        let any = Target { id: 0, owner: 0, subject: None, activity: None, code: String::new() };
        Self::new(hook, 0, viewer, &any, Versions::default())
    }
}
