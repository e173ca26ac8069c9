//! In-memory cache of rendered entities, or the parts of them that do not depend on the viewer, as bytes.
//!
//! Keys contain the row's version and the emoji generation, so entries are never stale and need no invalidation, on
//! this node or another: an outdated entry is no longer looked up and is evicted in time.

use std::sync::Arc;

use moka::sync::Cache as Moka;

use model::{AccountId, AppId, StatusId};

/// Capacity for accounts, in bytes.
const ACCOUNT_BYTES: u64 = 8 * 1024 * 1024;
/// Capacity for statuses, in bytes.
const STATUS_BYTES: u64 = 24 * 1024 * 1024;

/// Capacity for application names, in entries.
const APPLICATIONS: u64 = 1_000;

/// The part of a status that is the same for all viewers.
#[derive(Debug)]
pub struct StatusCore {
    /// Members of the entity, without braces.
    pub members: String,
    /// The member `application`, and whether everyone may see it or the author alone.
    pub application: Option<(String, bool)>,
}

/// Rendered accounts and statuses.
#[derive(Debug)]
pub struct Cache {
    /// By id, version and emoji generation.
    pub accounts: Moka<(AccountId, i64, i64), Arc<str>>,
    /// With plugin members: by id, version, and the generations of emojis and plugins.
    pub decorated: Moka<(AccountId, i64, (i64, u64)), Arc<str>>,
    /// By id, version and emoji generation.
    pub statuses: Moka<(StatusId, i64, i64), Arc<StatusCore>>,
    /// Application names, which never change.
    pub applications: Moka<AppId, Arc<str>>,
}

impl Default for Cache {
    fn default() -> Self {
        let bytes = |length: usize| u32::try_from(length + 64).unwrap_or(u32::MAX);
        Self {
            accounts: Moka::builder()
                .max_capacity(ACCOUNT_BYTES)
                .weigher(move |_, text: &Arc<str>| bytes(text.len()))
                .build(),
            decorated: Moka::builder()
                .max_capacity(ACCOUNT_BYTES)
                .weigher(move |_, text: &Arc<str>| bytes(text.len()))
                .build(),
            statuses: Moka::builder()
                .max_capacity(STATUS_BYTES)
                .weigher(move |_, core: &Arc<StatusCore>| bytes(core.members.len()))
                .build(),
            applications: Moka::new(APPLICATIONS),
        }
    }
}
