//! What the server publishes about itself: its rules, and the domains that its moderators blocked.

use super::{RuleId, text_enum};

/// A server rule that users agree to.
#[derive(Clone, Debug, crate::Row)]
#[expect(missing_docs, reason = "named by the Rule entity")]
pub struct Rule {
    pub id: RuleId,
    pub text: String,
    pub hint: String,
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

/// A blocked domain, as the public list shows it.
#[derive(Clone, Debug, crate::Row)]
#[expect(missing_docs, reason = "named by the DomainBlock entity")]
pub struct DomainBlock {
    pub domain: String,
    pub severity: Severity,
    /// Show only the beginning and the end of the domain.
    pub obfuscate: bool,
    pub public_comment: Option<String>,
}
