//! <https://docs.joinmastodon.org/entities/TermsOfService/>

use serde::Serialize;

use context::Cx;
use model::instance::TermsOfService as Terms;
use service::terms;

/// A version of the terms of service.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TermsOfService {
    /// The first day on which it applies.
    pub effective_date: String,
    /// Whether this day has come.
    pub effective: bool,
    /// HTML.
    pub content: String,
    /// The day from which the next version applies.
    pub succeeded_by: Option<String>,
}

impl TermsOfService {
    /// The version `terms` as of now.
    #[must_use]
    pub fn new(cx: &Cx, terms: &Terms) -> Self {
        Self {
            effective_date: terms.effective_date.clone(),
            effective: terms::is_effective(cx, &terms.effective_date),
            content: text::markdown(&terms.text),
            succeeded_by: terms::successor(cx, &terms.effective_date),
        }
    }
}
