//! The effect of a list of domains, before and after its import. An addition of this server.

use serde::Serialize;

use model::domain_list::ListFormat;
use model::instance::Severity;
use service::domain_list::{DomainImpact, Fault, Preview};

/// Most faults that a response names.
const FAULTS_SHOWN: usize = 100;

/// A list of domains, its faults and its effect.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DomainImport {
    /// False for a preview.
    pub applied: bool,
    /// Applies the list in a second request.
    pub token: String,
    pub format: ListFormat,
    /// How many domains are new.
    pub added: usize,
    /// How many blocks change.
    pub changed: usize,
    /// How many domains change nothing.
    pub unchanged: usize,
    /// How many lines are not taken.
    pub faults_count: usize,
    /// The first 100 of them.
    pub faults: Vec<DomainFault>,
    /// Known accounts of new and changed blocks.
    pub accounts: i64,
    /// Follows that suspensions end.
    pub follows: i64,
    /// How many accounts here have one of these follows.
    pub people: i64,
    /// Media attachments of the accounts.
    pub media_attachments: i64,
    /// The 100 domains with the most accounts.
    pub domains: Vec<DomainEffect>,
}

/// A line that is not taken.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DomainFault {
    pub line: usize,
    pub domain: String,
    pub reason: String,
}

/// The effect on one domain.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DomainEffect {
    pub domain: String,
    pub severity: Severity,
    pub accounts: i64,
    pub follows: i64,
    pub people: i64,
    pub media_attachments: i64,
}

/// Why a list was not applied: its faults.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DomainImportRefused {
    pub error: String,
    #[serde(flatten)]
    pub import: DomainImport,
}

impl DomainImport {
    /// The effect of a list that was `applied` or not.
    #[must_use]
    pub fn new(preview: Preview, applied: bool) -> Self {
        Self {
            applied,
            token: preview.token,
            format: preview.format,
            added: preview.added,
            changed: preview.changed,
            unchanged: preview.unchanged,
            faults_count: preview.faults_count,
            faults: preview.faults.into_iter().take(FAULTS_SHOWN).map(DomainFault::from).collect(),
            accounts: preview.impact.accounts,
            follows: preview.impact.follows,
            people: preview.impact.people,
            media_attachments: preview.impact.media,
            domains: preview.domains.into_iter().map(DomainEffect::from).collect(),
        }
    }
}

impl From<Preview> for DomainImportRefused {
    fn from(preview: Preview) -> Self {
        let first = preview.faults.first();
        let first = first.map_or_else(String::new, |fault| format!(": line {}: {}", fault.line, fault.sentence()));
        let error = format!("Nothing was applied: {} lines have faults{first}", preview.faults_count);
        Self { error, import: DomainImport::new(preview, false) }
    }
}

impl From<Fault> for DomainFault {
    fn from(fault: Fault) -> Self {
        Self { line: fault.line, domain: fault.domain, reason: fault.reason }
    }
}

impl From<DomainImpact> for DomainEffect {
    fn from(one: DomainImpact) -> Self {
        Self {
            domain: one.domain,
            severity: one.severity,
            accounts: one.impact.accounts,
            follows: one.impact.follows,
            people: one.impact.people,
            media_attachments: one.impact.media,
        }
    }
}
