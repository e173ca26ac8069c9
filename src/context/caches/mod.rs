//! Every cache of the process, as data: values of lower layers and rendered bytes, each bounded.
//!
//! `service` and `entity` fill and read them. Entries are never invalidated, on this node or another: the key contains the
//! version of the source ([`Versioned::get`]), the reader requires a version ([`Versioned::at_least`]), the database tracks
//! changes of the source rows ([`Versioned::unchanged`]; SQLite only, with PostgreSQL these caches stay empty), or
//! the entry expires by age ([`Timed`]).

mod timed;
mod values;
mod versioned;

pub use timed::Timed;
pub use values::{CompiledFilters, Creator, DocumentSources, Profile, Rendered, StatusCore};
pub use versioned::{Size, Versioned, before_read};

use std::sync::Arc;

use model::instance::{Usage, Week};
use model::suggestion::Suggestions;
use model::translation::{Languages, Translation};
use model::{AccountId, Actor, AppId, Grant, StatusId, Time};
use store::relation_set::Relations;
use store::status::Head;
use text::keywords::Searchable;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// The generations of emojis and of extensions.
pub type Generations = (i64, u64);

/// The caches of one process.
#[derive(Debug)]
pub struct Caches {
    /// Public accounts without the members that extensions add, by id, version and generation of emojis.
    pub accounts: Versioned<(AccountId, i64, i64), Arc<str>>,
    /// Accounts with the members that extensions add, by id, version and generations.
    pub decorated_accounts: Versioned<(AccountId, i64, Generations), Arc<str>>,
    /// Accounts as their owners see them.
    pub credentials: Versioned<(AccountId, Generations), Arc<str>>,
    /// The part of statuses that does not depend on the viewer, by id, version and generation of emojis, and whether
    /// moderators mark all media of the author as sensitive.
    pub statuses: Versioned<(StatusId, i64, i64, bool), Arc<StatusCore>>,
    /// The text of statuses that filters match, by id and version.
    pub texts: Versioned<(StatusId, i64), Arc<Searchable>>,
    /// The names and notes of authors that filters match, by id and version.
    pub profiles: Versioned<(AccountId, i64), Arc<Profile>>,
    /// Names of applications, which never change.
    pub applications: Versioned<AppId, Arc<str>>,
    /// Heads of statuses, which decide who sees them.
    pub heads: Versioned<StatusId, Head>,
    /// Grants by the hash of their token, each with the time after which its use is recorded again.
    pub grants: Versioned<String, (Arc<Grant>, Time)>,
    /// Local accounts as actors, without a token.
    pub actors: Versioned<AccountId, Arc<Actor>>,
    /// Follows, blocks and mutes of viewers, at `accounts.relations_version`.
    pub relations: Versioned<AccountId, Arc<Relations>>,
    /// The filters of viewers, at `accounts.filters_version`.
    pub filters: Versioned<AccountId, Arc<CompiledFilters>>,
    /// The domains of accounts, which never change; `None` for a local account.
    pub domains: Versioned<AccountId, Option<Arc<str>>>,
    /// Suggestions for each person, at `accounts.relations_version`.
    pub suggestions: Versioned<AccountId, Arc<Suggestions>>,
    /// The accounts that most people followed recently.
    pub most_followed: Timed<Vec<AccountId>>,
    /// The accounts whose statuses got most reblogs and favourites recently.
    pub most_interactions: Timed<Vec<AccountId>>,
    /// Translated statuses, by id, version and target language, each with the time of its translation.
    pub translations: Versioned<(StatusId, i64, String), Arc<(Time, Translation)>>,
    /// The languages of the translation service.
    pub translation_languages: Timed<Languages>,
    /// Documents that are the same for everyone, by name.
    pub documents: Versioned<&'static str, Arc<(DocumentSources, Arc<Rendered>)>>,
    /// The ActivityPub documents of public statuses, by id, version and counts.
    pub notes: Versioned<(StatusId, i64, [i64; 3]), Arc<str>>,
    /// The URIs of the actors that have a key, by its id.
    pub key_owners: Versioned<String, Arc<str>>,
    /// The hashes of the inline scripts of a page of `web.client_folder`, by its path, the time of its modification in
    /// nanoseconds, and its size.
    pub client_scripts: Versioned<(String, i64, u64), Arc<str>>,
    /// Rendered metrics for staff, by what they measure, each with the second at which it was rendered.
    pub metrics: Versioned<String, Arc<str>>,
    /// Usage statistics.
    pub usage: Timed<Usage>,
    /// Activity of the last weeks.
    pub activity: Timed<Vec<Week>>,
    /// Domains of known servers.
    pub peers: Timed<Vec<String>>,
}

/// Expected number of entries for caches whose single values may be large: it limits the number of shards to 8, each
/// of which must have room for the largest value.
const FEW: usize = 256;

impl Default for Caches {
    fn default() -> Self {
        Self {
            accounts: Versioned::with_capacity(8_192, 8 * MIB),
            decorated_accounts: Versioned::with_capacity(8_192, 8 * MIB),
            credentials: Versioned::with_capacity(1_000, 5 * MIB),
            statuses: Versioned::with_capacity(8_192, 24 * MIB),
            texts: Versioned::with_capacity(8_192, 8 * MIB),
            profiles: Versioned::with_capacity(8_192, 8 * MIB),
            applications: Versioned::with_capacity(1_000, 128 * KIB),
            heads: Versioned::with_capacity(20_000, 5 * MIB),
            grants: Versioned::with_capacity(10_000, 10 * MIB),
            actors: Versioned::with_capacity(10_000, 10 * MIB),
            relations: Versioned::with_capacity(FEW, 32 * MIB),
            filters: Versioned::with_capacity(FEW, 32 * MIB),
            domains: Versioned::with_capacity(50_000, 5 * MIB),
            suggestions: Versioned::with_capacity(2_048, 12 * MIB),
            most_followed: Timed::default(),
            most_interactions: Timed::default(),
            translations: Versioned::with_capacity(4_096, 8 * MIB),
            translation_languages: Timed::default(),
            documents: Versioned::with_capacity(16, 16 * MIB),
            notes: Versioned::with_capacity(4_096, 16 * MIB),
            key_owners: Versioned::with_capacity(10_000, 4 * MIB),
            client_scripts: Versioned::with_capacity(16, 128 * KIB),
            metrics: Versioned::with_capacity(FEW, 8 * MIB),
            usage: Timed::default(),
            activity: Timed::default(),
            peers: Timed::default(),
        }
    }
}
