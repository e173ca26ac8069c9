//! The answer of WebFinger (RFC 7033), a JSON resource descriptor.

use serde::Deserialize;

use super::lenient::{Lenient, Many};
use super::tag::is_document;

/// A descriptor.
#[derive(Debug, Deserialize)]
pub struct Jrd {
    pub subject: String,
    #[serde(default)]
    pub links: Many<JrdLink>,
}

/// A link of a descriptor.
#[derive(Debug, Deserialize)]
pub struct JrdLink {
    pub rel: String,
    #[serde(rename = "type", default)]
    pub kind: Lenient<String>,
    #[serde(default)]
    pub href: Lenient<String>,
}

impl Jrd {
    /// The address of the actor document.
    #[must_use]
    pub fn actor(&self) -> Option<&str> {
        let fits = |link: &&JrdLink| link.rel == "self" && link.kind.as_deref().is_some_and(is_document);
        self.links.iter().find(fits)?.href.as_deref()
    }
}
