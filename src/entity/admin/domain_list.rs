//! A subscribed list of domains, a change that it proposes, and a domain that no list may block. Additions of this server.

use serde::Serialize;

use context::error::Result;
use model::RowId;
use model::domain_list::{DraftChange, ListFormat, ListMode};
use model::instance::Severity;
use service::domain_list::subscription::draft::Draft;
use service::domain_list::subscription::{Listed, Subscription};

/// A subscribed list.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DomainList {
    pub id: RowId,
    pub url: String,
    /// `None`: it is detected.
    pub format: Option<ListFormat>,
    /// The list with the highest decides about a domain; of equal ones, the older.
    pub priority: i64,
    pub mode: ListMode,
    /// The severity of all its domains, whatever the list has for them.
    pub severity: Option<Severity>,
    /// How many domains it names; in the mode `draft`, only applied ones.
    pub entries_count: i64,
    /// How many changes wait for the staff.
    pub drafts_count: i64,
    /// How many lines were not taken.
    pub faults_count: i64,
    /// The last success.
    pub fetched_at: Option<String>,
    pub next_fetch_at: String,
    /// Failures since the last success.
    pub failures: i64,
    /// The last failure, if it was later than the last success.
    pub error: Option<String>,
    pub created_at: String,
}

/// A change that a list proposes.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DomainListDraft {
    pub domain: String,
    pub change: DraftChange,
    /// `None` for a removal.
    pub block: Option<DraftBlock>,
}

/// The parameters that a list has for a domain.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DraftBlock {
    pub severity: Severity,
    /// The names of the flags that are set.
    pub flags: Vec<String>,
    pub obfuscate: bool,
    pub hidden: bool,
    pub public_comment: Option<String>,
    pub private_comment: Option<String>,
}

/// A domain that no list may block.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DomainExclusion {
    pub domain: String,
}

impl From<Subscription> for DomainList {
    fn from(subscription: Subscription) -> Self {
        let Subscription { list, entries, drafts } = subscription;
        Self {
            id: list.id,
            url: list.url,
            format: list.format,
            priority: list.priority,
            mode: list.mode,
            severity: list.severity,
            entries_count: entries,
            drafts_count: drafts,
            faults_count: list.faults,
            fetched_at: list.fetched_at.map(|time| time.to_api()),
            next_fetch_at: list.due_at.to_api(),
            failures: list.failures,
            error: list.error,
            created_at: list.created_at.to_api(),
        }
    }
}

impl DomainListDraft {
    /// A stored draft.
    ///
    /// # Errors
    /// When its parameters cannot be read.
    pub fn read(draft: Draft) -> Result<Self> {
        let block = draft.block.as_deref().map(Listed::read).transpose()?;
        Ok(Self { domain: draft.domain, change: draft.change, block: block.map(DraftBlock::from) })
    }
}

impl From<Listed> for DraftBlock {
    fn from(listed: Listed) -> Self {
        Self {
            severity: listed.severity,
            flags: listed.flags,
            obfuscate: listed.obfuscate,
            hidden: listed.hidden,
            public_comment: listed.public_comment,
            private_comment: listed.private_comment,
        }
    }
}
