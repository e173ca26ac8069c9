//! NodeInfo, versions 2.0 and 2.1: which software a server runs.

use serde::Deserialize;

use super::lenient::{Lenient, Many};

/// The document at `/.well-known/nodeinfo`.
#[derive(Debug, Deserialize)]
pub struct NodeInfoLinks {
    #[serde(default)]
    pub links: Many<NodeInfoLink>,
}

/// A link to NodeInfo of one version.
#[derive(Clone, Debug, Deserialize)]
pub struct NodeInfoLink {
    pub rel: String,
    pub href: String,
}

impl NodeInfoLinks {
    /// The address of the newest version that is understood.
    #[must_use]
    pub fn newest(&self) -> Option<&str> {
        let of = |version: &str| self.links.iter().find(|link| link.rel.ends_with(version));
        of("/ns/schema/2.1").or_else(|| of("/ns/schema/2.0")).map(|link| link.href.as_str())
    }
}

/// NodeInfo.
#[derive(Debug, Deserialize)]
pub struct NodeInfo {
    pub software: Software,
    #[serde(default)]
    pub metadata: Lenient<Metadata>,
}

/// The software of a server.
#[derive(Debug, Deserialize)]
pub struct Software {
    pub name: String,
}

/// Further facts about a server.
#[derive(Clone, Debug, Deserialize)]
pub struct Metadata {
    #[serde(default)]
    pub features: Many<String>,
}
