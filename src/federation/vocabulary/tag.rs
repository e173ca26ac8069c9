//! Tags of texts, and pictures.

use serde::Deserialize;

use super::lenient::{Id, Lenient, Many};

/// A tag: a mention, a hashtag, a custom emoji or a link to another object, by its `type`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tag {
    #[serde(rename = "type")]
    pub kind: Many<String>,
    #[serde(default)]
    pub id: Lenient<String>,
    #[serde(default)]
    pub href: Lenient<Id>,
    #[serde(default)]
    pub name: Lenient<String>,
    #[serde(default)]
    pub icon: Many<Image>,
    #[serde(default)]
    pub updated: Lenient<String>,
    #[serde(default)]
    pub media_type: Lenient<String>,
    #[serde(default)]
    pub keywords: Many<String>,
    #[serde(default)]
    pub is_sensitive: Lenient<bool>,
    #[serde(default)]
    pub license: Lenient<String>,
    #[serde(default)]
    pub licence: Lenient<String>,
}

impl Tag {
    /// True for a tag of this type.
    #[must_use]
    pub fn is(&self, kind: &str) -> bool {
        self.kind.iter().any(|one| one == kind)
    }

    /// The address of the object that the tag links to.
    #[must_use]
    pub fn object(&self) -> Option<&str> {
        let is_document = self.media_type.as_deref().is_some_and(is_document);
        self.href.as_deref().filter(|_| is_document && self.is("Link"))
    }
}

/// A picture: of a profile, or of an emoji.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    pub url: Many<Id>,
    #[serde(default)]
    pub media_type: Lenient<String>,
    #[serde(default)]
    pub name: Lenient<String>,
}

/// True for the media types of ActivityPub documents.
pub(super) fn is_document(media_type: &str) -> bool {
    media_type == "application/activity+json"
        || (media_type.starts_with("application/ld+json") && media_type.contains("activitystreams"))
}
