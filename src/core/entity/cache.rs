//! In-memory cache of rendered entities, or the parts of them that do not depend on the viewer, as bytes.
//!
//! Keys contain the row's version and the emoji generation, so entries are never stale and need no invalidation, on
//! this node or another: an outdated entry is no longer looked up and is evicted in time.

use std::sync::Arc;

use super::preview_card::Creator;
use text::keywords::Searchable;

use quick_cache::Weighter;
use quick_cache::sync::Cache as Entries;

use model::{AccountId, AppId, StatusId};

/// Capacity for accounts, in bytes.
const ACCOUNT_BYTES: u64 = 8 * 1024 * 1024;
/// Capacity for statuses, in bytes.
const STATUS_BYTES: u64 = 24 * 1024 * 1024;

/// Capacity for texts in which filters look, in bytes; and for those of profiles.
const TEXT_BYTES: u64 = 8 * 1024 * 1024;

/// Expected number of accounts, and of statuses; sizes the tables.
const ENTRIES: usize = 8 * 1024;
/// Capacity for application names, in entries.
const APPLICATIONS: usize = 1_000;

/// Approximate overhead of an entry, in bytes.
const OVERHEAD: usize = 64;

/// The part of a status that is the same for all viewers.
#[derive(Debug)]
pub struct StatusCore {
    /// Members of the entity, without braces.
    pub members: String,
    /// The member `application`, and whether everyone may see it or the author alone.
    pub application: Option<(String, bool)>,
    /// Whom the page of its card, the last of `members`, names as its author.
    pub creator: Option<Creator>,
}

/// What filters look at of an author.
#[derive(Debug)]
pub struct Profile {
    /// Name and note.
    pub text: Searchable,
    /// It is an account of this server.
    pub local: bool,
}

/// Id, version, and the generations of emojis and plugins.
type DecoratedKey = (AccountId, i64, (i64, u64));

/// Rendered accounts and statuses.
#[derive(Debug)]
pub struct Cache {
    /// By id, version and emoji generation.
    pub accounts: Entries<(AccountId, i64, i64), Arc<str>, Bytes>,
    /// With plugin members.
    pub decorated: Entries<DecoratedKey, Arc<str>, Bytes>,
    /// By id, version and emoji generation.
    pub statuses: Entries<(StatusId, i64, i64), Arc<StatusCore>, Bytes>,
    /// What filters match, by id and version: made when somebody with filters looks.
    pub texts: Entries<(StatusId, i64), Arc<Searchable>, Bytes>,
    /// As above, of authors.
    pub profiles: Entries<(AccountId, i64), Arc<Profile>, Bytes>,
    /// Application names, which never change.
    pub applications: Entries<AppId, Arc<str>>,
}

/// Weighs an entry by its size.
#[derive(Clone, Debug)]
pub struct Bytes;

impl<K> Weighter<K, Arc<str>> for Bytes {
    fn weight(&self, _: &K, text: &Arc<str>) -> u64 {
        (OVERHEAD + text.len()) as u64
    }
}

impl<K> Weighter<K, Arc<StatusCore>> for Bytes {
    fn weight(&self, _: &K, core: &Arc<StatusCore>) -> u64 {
        (OVERHEAD + core.members.len()) as u64
    }
}

impl<K> Weighter<K, Arc<Searchable>> for Bytes {
    fn weight(&self, _: &K, text: &Arc<Searchable>) -> u64 {
        (OVERHEAD + text.size_bytes()) as u64
    }
}

impl<K> Weighter<K, Arc<Profile>> for Bytes {
    fn weight(&self, _: &K, profile: &Arc<Profile>) -> u64 {
        (OVERHEAD + profile.text.size_bytes()) as u64
    }
}

impl Default for Cache {
    fn default() -> Self {
        Self {
            accounts: Entries::with_weighter(ENTRIES, ACCOUNT_BYTES, Bytes),
            decorated: Entries::with_weighter(ENTRIES, ACCOUNT_BYTES, Bytes),
            statuses: Entries::with_weighter(ENTRIES, STATUS_BYTES, Bytes),
            texts: Entries::with_weighter(ENTRIES, TEXT_BYTES, Bytes),
            profiles: Entries::with_weighter(ENTRIES, TEXT_BYTES, Bytes),
            applications: Entries::new(APPLICATIONS),
        }
    }
}
