//! Public data about the server: its rules, and the domains that its moderators blocked.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Json, RowId, RuleId, Time, text_enum};

/// A server rule that users agree to.
#[derive(Clone, Debug, crate::Row)]
pub struct Rule {
    pub id: RuleId,
    pub text: String,
    pub hint: String,
    /// By language: `de`.
    pub translations: Json<BTreeMap<String, RuleText>>,
}

/// A rule in another language.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RuleText {
    pub text: String,
    pub hint: String,
}

impl Rule {
    /// The text and the hint in `language`, else as they were written.
    #[must_use]
    pub fn in_language(&self, language: &str) -> (&str, &str) {
        match self.translations.get(language) {
            Some(translation) => (&translation.text, &translation.hint),
            None => (&self.text, &self.hint),
        }
    }
}

/// A version of the terms of service.
#[derive(Clone, Debug, crate::Row)]
pub struct TermsOfService {
    pub id: RowId,
    /// The first day on which it applies, in UTC: `2026-11-21`.
    pub effective_date: String,
    /// Markdown.
    pub text: String,
    pub created_at: Time,
}

text_enum! {
    /// The severity of a domain block.
    Severity {
        /// No effect by itself: only the domain's media or reports are rejected.
        Noop = "noop",
        /// Its accounts are limited.
        Silence = "silence",
        /// No federation with it.
        Suspend = "suspend",
    }
}

/// A blocked domain, as listed publicly.
#[derive(Clone, Debug, crate::Row)]
pub struct DomainBlock {
    pub domain: String,
    pub severity: Severity,
    /// Only the beginning and the end of the domain are shown.
    pub obfuscate: bool,
    pub public_comment: Option<String>,
}

/// Usage statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    pub users: i64,
    pub statuses: i64,
    /// Accounts active in the last 4 weeks.
    pub active_month: i64,
    /// Accounts active in the last 24 weeks.
    pub active_half_year: i64,
    /// Known remote servers.
    pub domains: i64,
}

/// Activity in one week.
#[derive(Clone, Copy, Debug)]
pub struct Week {
    /// Start of the week, in seconds since the epoch.
    pub begins: i64,
    pub statuses: i64,
    pub logins: i64,
    pub registrations: i64,
}
