//! Rendered parts that do not depend on who looks, kept as bytes.
//!
//! Keys hold the version of the row and the generation of the emojis, so an entry is never stale and never needs to be
//! told that something changed, on this node or another: it is simply not asked for any more.

use std::sync::Arc;

use moka::sync::Cache as Moka;

use model::{AccountId, AppId, StatusId};

/// Most bytes of rendered accounts.
const ACCOUNT_BYTES: u64 = 8 * 1024 * 1024;
/// Most bytes of rendered statuses.
const STATUS_BYTES: u64 = 24 * 1024 * 1024;

/// Most names of applications.
const APPLICATIONS: u64 = 1_000;

/// What a status shows to everyone.
#[derive(Debug)]
pub struct StatusCore {
    /// Members of the entity, without braces.
    pub members: String,
    /// The member `application`, and whether everyone may see it or only the author.
    pub application: Option<(String, bool)>,
}

/// Rendered accounts and statuses.
#[derive(Debug)]
pub struct Cache {
    /// By id, version and emoji generation.
    pub accounts: Moka<(AccountId, i64, i64), Arc<str>>,
    /// With what plugins add: by id, version, and the generations of emojis and plugins.
    pub decorated: Moka<(AccountId, i64, (i64, u64)), Arc<str>>,
    /// By id, version and emoji generation.
    pub statuses: Moka<(StatusId, i64, i64), Arc<StatusCore>>,
    /// Names of applications, which never change.
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
