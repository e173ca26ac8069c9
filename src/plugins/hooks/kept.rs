//! What plugins said of statuses, for those whose manifests let it be kept (`cache = "viewer"`).
//!
//! As in [`entity::cache`](crate::entity::cache), keys hold versions, so nobody needs to be told of a change, on this node or
//! another: that of the status changes when a plugin says so (`core-write.touch`), and those of its author and of who looks
//! with their profiles, posts, follows, blocks, mutes and settings. What depends on anything else is behind by
//! [`LONGEST`] at most.

use std::sync::Arc;
use std::time::Duration;

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use rookery_plugin_host::exports::decorate::Target;
use tokio::time::Instant;

use super::subscription::Subscription;
use model::Actor;
use model::PluginId;

/// How long something is kept.
const LONGEST: Duration = Duration::from_secs(60);

/// How many entries are expected.
const ENTRIES: usize = 1 << 16;

/// Most bytes of them.
const BYTES: u64 = 16 << 20;

/// What one entry takes beside what was said, about, in bytes.
const ENTRY: usize = 192;

/// What a plugin said of one entity: the members that it declares, in that order, as JSON. Of none of them it said anything
/// when this is empty.
pub(super) type Said = Arc<[Option<Box<str>>]>;

/// What was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    plugin: PluginId,
    generation: u64,
    emojis: i64,
    status: (i64, i64),
    author: i64,
    viewer: (i64, i64),
}

/// A status and its author, as they are now.
#[derive(Clone, Copy, Debug)]
pub struct Versions {
    /// The status's.
    pub status: i64,
    /// Its author's.
    pub author: i64,
}

/// What plugins said of statuses. A page inserts dozens of entries, so this is the cache whose insertions cost least: a
/// page that nobody saw before takes a tenth less than with the cache of the entities.
#[derive(Debug)]
pub struct Kept(Cache<Key, Entry, Bytes>);

#[derive(Clone, Debug)]
struct Entry {
    said: Said,
    until: Instant,
}

#[derive(Clone, Debug)]
struct Bytes;

impl Weighter<Key, Entry> for Bytes {
    fn weight(&self, _: &Key, entry: &Entry) -> u64 {
        let said: usize = entry.said.iter().flatten().map(|json| json.len() + 16).sum();
        (ENTRY + said) as u64
    }
}

impl Default for Kept {
    fn default() -> Self {
        Self(Cache::with_weighter(ENTRIES, BYTES, Bytes))
    }
}

impl Kept {
    pub(super) fn get(&self, key: &Key, now: Instant) -> Option<Said> {
        self.0.get(key).filter(|entry| entry.until > now).map(|entry| entry.said)
    }

    pub(super) fn insert(&self, key: Key, said: Said, now: Instant) {
        self.0.insert(key, Entry { said, until: now + LONGEST });
    }
}

impl Key {
    /// Of what `hook` says of `target` to `viewer`, while the server's emojis are of the generation `emojis`.
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
}
