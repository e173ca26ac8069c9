//! What the server tells about itself: rules, and domains that its moderators blocked.

use super::{RuleId, text_enum};

/// A rule that people agree to.
#[derive(Clone, Debug, sqlx::FromRow)]
#[expect(missing_docs, reason = "named by the Rule entity")]
pub struct Rule {
    pub id: RuleId,
    pub text: String,
    pub hint: String,
}

text_enum! {
    /// What became of a domain.
    Severity {
        /// Nothing by itself: only its media or reports are refused.
        Noop = "noop",
        /// Its accounts are limited.
        Silence = "silence",
        /// Nothing is exchanged with it.
        Suspend = "suspend",
    }
}

/// A blocked domain, as the list of them has it.
#[derive(Clone, Debug, sqlx::FromRow)]
#[expect(missing_docs, reason = "named by the DomainBlock entity")]
pub struct DomainBlock {
    pub domain: String,
    pub severity: Severity,
    /// Show only the beginning and the end of the domain.
    pub obfuscate: bool,
    pub public_comment: Option<String>,
}
