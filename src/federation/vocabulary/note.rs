//! Notes, and the objects of other types that are shown like notes.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::lenient::{Id, Lenient, Many, Reference};
use super::tag::Tag;

/// A note.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: Many<String>,
    #[serde(default)]
    pub attributed_to: Many<Id>,
    #[serde(default)]
    pub in_reply_to: Many<Id>,
    #[serde(default)]
    pub content: Lenient<String>,
    #[serde(default)]
    pub content_map: Lenient<BTreeMap<String, String>>,
    #[serde(default)]
    pub name: Lenient<String>,
    #[serde(default)]
    pub summary: Lenient<String>,
    #[serde(default)]
    pub summary_map: Lenient<BTreeMap<String, String>>,
    #[serde(default)]
    pub published: Lenient<String>,
    #[serde(default)]
    pub updated: Lenient<String>,
    #[serde(default)]
    pub url: Many<Link>,
    #[serde(default)]
    pub to: Many<Id>,
    #[serde(default)]
    pub cc: Many<Id>,
    #[serde(default)]
    pub sensitive: Lenient<bool>,
    #[serde(default)]
    pub attachment: Many<Attachment>,
    #[serde(default)]
    pub tag: Many<Tag>,
    #[serde(default)]
    pub conversation: Lenient<Id>,
    #[serde(default)]
    pub context: Lenient<Id>,
    #[serde(default)]
    pub searchable_by: Option<Many<Id>>,
    #[serde(default)]
    pub limited_scope: Lenient<String>,
    /// The replies to it: a collection, or its first page, inline or by its id.
    #[serde(default)]
    pub replies: Lenient<Id>,
    /// Of a question with one answer for each voter.
    #[serde(default)]
    pub one_of: Many<Choice>,
    /// Of a question with several.
    #[serde(default)]
    pub any_of: Many<Choice>,
    #[serde(default)]
    pub end_time: Lenient<String>,
    #[serde(default)]
    pub closed: Lenient<Closed>,
    #[serde(default)]
    pub voters_count: Lenient<i64>,
}

/// An option of a question.
#[derive(Clone, Debug, Deserialize)]
pub struct Choice {
    pub name: String,
    #[serde(default)]
    pub replies: Lenient<Count>,
}

/// The size of a collection.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Count {
    pub total_items: i64,
}

/// Whether or when a question was closed.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Closed {
    State(bool),
    At(String),
}

/// An address of a note, with its media type if it is stated.
#[derive(Clone, Debug)]
pub struct Link {
    pub href: String,
    pub media_type: Option<String>,
}

impl<'de> Deserialize<'de> for Link {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Inline {
            href: String,
            #[serde(default)]
            media_type: Lenient<String>,
        }
        Ok(match Reference::<Inline>::deserialize(deserializer)? {
            Reference::Id(href) => Self { href, media_type: None },
            Reference::Inline(link) => Self { href: link.href, media_type: link.media_type.0 },
        })
    }
}

/// A file of a note.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    #[serde(rename = "type", default)]
    pub kind: Many<String>,
    #[serde(default)]
    pub media_type: Lenient<String>,
    #[serde(default)]
    pub url: Many<Link>,
    #[serde(default)]
    pub href: Lenient<String>,
    #[serde(default)]
    pub name: Lenient<String>,
    #[serde(default)]
    pub summary: Lenient<String>,
    #[serde(default)]
    pub blurhash: Lenient<String>,
    #[serde(default)]
    pub focal_point: Lenient<[f64; 2]>,
    #[serde(default)]
    pub width: Lenient<i64>,
    #[serde(default)]
    pub height: Lenient<i64>,
}
