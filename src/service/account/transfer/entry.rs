//! One row of a file: its subject, and its form in each kind of file.

use crate::access::accounts;
use crate::access::web_address;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::domain;
use context::Cx;
use context::error::{Error, Result};
use model::StatusId;
use model::filter::{FilterAction, FilterContext};
use model::transfer::TransferKind;

/// A row of a file. Texts are as written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Entry {
    /// A follow. `None` options take the server's default.
    Follow {
        acct: String,
        reblogs: Option<bool>,
        notify: Option<bool>,
        languages: Option<Vec<String>>,
    },
    Block {
        acct: String,
    },
    Mute {
        acct: String,
        hide_notifications: bool,
    },
    /// A domain block.
    Domain {
        domain: String,
    },
    /// The membership of an account in a list.
    Member {
        list: String,
        acct: String,
    },
    Bookmark {
        uri: String,
    },
    Filter(FilterEntry),
}

/// A filter in a file, with the field names of the API.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FilterEntry {
    pub(super) title: String,
    pub(super) context: Vec<FilterContext>,
    #[serde(default = "warn")]
    pub(super) filter_action: FilterAction,
    #[serde(default)]
    pub(super) expires_at: Option<String>,
    #[serde(default)]
    pub(super) exclude_follows: bool,
    #[serde(default)]
    pub(super) exclude_localusers: bool,
    #[serde(default = "yes")]
    pub(super) with_quote: bool,
    #[serde(default)]
    pub(super) with_profile: bool,
    #[serde(default)]
    pub(super) keywords: Vec<KeywordEntry>,
}

/// A keyword of a filter in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct KeywordEntry {
    pub(super) keyword: String,
    #[serde(default)]
    pub(super) whole_word: bool,
}

fn warn() -> FilterAction {
    FilterAction::Warn
}

fn yes() -> bool {
    true
}

impl Entry {
    /// The list of a member, else an empty string.
    pub(super) fn list(&self) -> &str {
        match self {
            Self::Member { list, .. } => list,
            Self::Follow { .. }
            | Self::Block { .. }
            | Self::Mute { .. }
            | Self::Domain { .. }
            | Self::Bookmark { .. }
            | Self::Filter(_) => "",
        }
    }

    /// The subject of the row in a canonical form: entries with the same key and list have the same subject.
    pub(super) fn key(&self, cx: &Cx) -> String {
        match self {
            Self::Follow { acct, .. } | Self::Block { acct } | Self::Mute { acct, .. } | Self::Member { acct, .. } => {
                accounts::name(cx, acct)
            }
            Self::Domain { domain } => domain::parse(domain).unwrap_or_else(|| domain.clone()),
            Self::Bookmark { uri } => status_key(web_address::status(cx, uri).map(|(_, id)| id), uri),
            Self::Filter(filter) => filter.key(),
        }
    }

    /// The cells of the row in a CSV file.
    fn cells(&self) -> Vec<String> {
        match self {
            Self::Follow { acct, reblogs, notify, languages } => vec![
                acct.clone(),
                reblogs.unwrap_or(true).to_string(),
                notify.unwrap_or_default().to_string(),
                languages.as_deref().unwrap_or_default().join(", "),
            ],
            Self::Mute { acct, hide_notifications } => vec![acct.clone(), hide_notifications.to_string()],
            Self::Member { list, acct } => vec![list.clone(), acct.clone()],
            Self::Block { acct: only } | Self::Domain { domain: only } | Self::Bookmark { uri: only } => {
                vec![only.clone()]
            }
            Self::Filter(_) => Vec::new(),
        }
    }
}

impl FilterEntry {
    /// A hash of its effect. Ignores the expiry, which shifts a little with every import.
    pub(super) fn key(&self) -> String {
        let lasting = Self { expires_at: None, ..self.clone() };
        crypto::hash(&serde_json::to_string(&lasting).unwrap_or_default())
    }
}

/// The key of a bookmark: the id of a status of this server, or the URI of another status.
pub(super) fn status_key(own: Option<StatusId>, uri: &str) -> String {
    own.map_or_else(|| uri.to_owned(), |id| id.to_string())
}

/// The header of a file of this kind; empty for kinds without a header.
pub(super) fn header(kind: TransferKind) -> &'static [&'static str] {
    match kind {
        TransferKind::Follows => &["Account address", "Show boosts", "Notify on new posts", "Languages"],
        TransferKind::Mutes => &["Account address", "Hide notifications"],
        TransferKind::Blocks
        | TransferKind::DomainBlocks
        | TransferKind::Lists
        | TransferKind::Bookmarks
        | TransferKind::Filters => &[],
    }
}

/// Parses a stored entry.
pub(super) fn read(stored: &str) -> Result<Entry> {
    serde_json::from_str(stored).map_err(Error::internal)
}

/// Writes a file of these entries, each with an error if it failed.
pub(super) fn write(kind: TransferKind, entries: Vec<(Entry, Option<String>)>) -> Result<Vec<u8>> {
    if kind == TransferKind::Filters {
        return write_filters(entries);
    }
    let mut file = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    if !header(kind).is_empty() {
        let error = entries.iter().any(|(_, error)| error.is_some()).then_some("Error");
        file.write_record(header(kind).iter().copied().chain(error)).map_err(Error::internal)?;
    }
    for (entry, error) in entries {
        file.write_record(entry.cells().into_iter().chain(error)).map_err(Error::internal)?;
    }
    file.into_inner().map_err(Error::internal)
}

fn write_filters(entries: Vec<(Entry, Option<String>)>) -> Result<Vec<u8>> {
    let filter = |(entry, error)| {
        let Entry::Filter(filter) = entry else { return Ok(Map::new()) };
        let mut members = match serde_json::to_value(filter).map_err(Error::internal)? {
            Value::Object(members) => members,
            _ => Map::new(),
        };
        if let Some(error) = error {
            members.insert("error".to_owned(), Value::String(error));
        }
        Ok(members)
    };
    let filters = entries.into_iter().map(filter).collect::<Result<Vec<_>>>()?;
    serde_json::to_vec_pretty(&filters).map_err(Error::internal)
}
