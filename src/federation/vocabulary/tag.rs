//! Tags of texts, and pictures.

use serde::Deserialize;

use super::lenient::{Id, Lenient, Many};

/// A tag: a mention, a hashtag or a custom emoji, by its `type`.
#[derive(Clone, Debug, Deserialize)]
pub struct Tag {
    #[serde(rename = "type")]
    pub kind: Many<String>,
    #[serde(default)]
    pub id: Lenient<String>,
    #[serde(default)]
    pub href: Lenient<String>,
    #[serde(default)]
    pub name: Lenient<String>,
    #[serde(default)]
    pub icon: Many<Image>,
    #[serde(default)]
    pub updated: Lenient<String>,
}

impl Tag {
    /// True for a tag of this type.
    #[must_use]
    pub fn is(&self, kind: &str) -> bool {
        self.kind.iter().any(|one| one == kind)
    }
}

/// A picture: of a profile, or of an emoji.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    pub url: Many<Id>,
    #[serde(default)]
    pub name: Lenient<String>,
}
