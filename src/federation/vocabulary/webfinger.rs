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

/// The descriptor of a host (RFC 6415) in JSON.
#[derive(Debug, Deserialize)]
pub struct HostMeta {
    #[serde(default)]
    links: Many<JrdLink>,
}

impl HostMeta {
    /// The template of the addresses where the host describes its resources.
    #[must_use]
    pub fn template(&self) -> Option<&str> {
        self.links.iter().find(|link| link.rel == "lrdd" && link.template.is_some())?.template.as_deref()
    }
}

/// A link of a descriptor.
#[derive(Debug, Deserialize)]
pub struct JrdLink {
    pub rel: String,
    #[serde(rename = "type", default)]
    pub kind: Lenient<String>,
    #[serde(default)]
    pub href: Lenient<String>,
    /// An address with placeholders.
    #[serde(default)]
    pub template: Lenient<String>,
}

/// The relation of the page on which people act on things of other servers.
const SUBSCRIBE: &str = "http://ostatus.org/schema/1.0/subscribe";

impl Jrd {
    /// The address of the actor document.
    #[must_use]
    pub fn actor(&self) -> Option<&str> {
        let fits = |link: &&JrdLink| link.rel == "self" && link.kind.as_deref().is_some_and(is_document);
        self.links.iter().find(fits)?.href.as_deref()
    }

    /// The template of the page on which people of this server act on things of other servers.
    #[must_use]
    pub fn subscribe(&self) -> Option<&str> {
        self.links.iter().find(|link| link.rel == SUBSCRIBE && link.template.is_some())?.template.as_deref()
    }
}
