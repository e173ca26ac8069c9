//! Notes, and the objects of other types that are shown like notes.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::consent::Policy;
use super::lenient::{Id, Lenient, Many, Reference, id};
use super::tag::{Image, Tag};

/// The types that are statuses as they are.
const NOTES: [&str; 2] = ["Note", "Question"];
/// The types that become text (docs/contract/federation.md#7-accepting-activities).
const CONVERTED: [&str; 6] = ["Article", "Page", "Event", "Video", "Audio", "Image"];

/// A note.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    #[serde(deserialize_with = "id")]
    pub id: String,
    #[serde(rename = "type")]
    pub kind: Many<String>,
    /// People first.
    #[serde(default, deserialize_with = "people_first")]
    pub attributed_to: Many<Id>,
    #[serde(default)]
    pub in_reply_to: Many<Id>,
    #[serde(default)]
    pub content: Lenient<String>,
    #[serde(default)]
    pub content_map: Lenient<BTreeMap<String, String>>,
    /// Of the content; HTML when it is absent.
    #[serde(default)]
    pub media_type: Lenient<String>,
    #[serde(default)]
    pub language: Lenient<Language>,
    #[serde(default)]
    pub name: Lenient<String>,
    #[serde(default)]
    pub name_map: Lenient<BTreeMap<String, String>>,
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
    pub closed: Lenient<Closed>,
    #[serde(default)]
    pub voters_count: Lenient<i64>,
    #[serde(default)]
    pub quote: Lenient<Id>,
    #[serde(default)]
    pub quote_url: Lenient<Id>,
    #[serde(default, rename = "quoteURL")]
    pub quote_url_in_capitals: Lenient<Id>,
    #[serde(default, rename = "_misskey_quote")]
    pub misskey_quote: Lenient<Id>,
    /// The authorization of the quote.
    #[serde(default)]
    pub quote_authorization: Lenient<Id>,
    /// The authorization of the reply.
    #[serde(default)]
    pub reply_authorization: Lenient<Id>,
    /// The former name of `replyAuthorization`.
    #[serde(default)]
    pub approved_by: Lenient<Id>,
    #[serde(default)]
    pub interaction_policy: Lenient<Box<Policy>>,
    #[serde(default)]
    pub references: Lenient<References>,
    /// A thumbnail.
    #[serde(default)]
    pub icon: Many<Image>,
    /// The picture of an article.
    #[serde(default)]
    pub image: Many<Image>,
    /// Of a recording, in the notation of ISO 8601.
    #[serde(default)]
    pub duration: Lenient<String>,
    #[serde(default)]
    pub start_time: Lenient<String>,
    #[serde(default)]
    pub end_time: Lenient<String>,
    #[serde(default)]
    pub location: Many<Place>,
}

impl Note {
    /// True for a type that can be a status.
    #[must_use]
    pub fn is_status(&self) -> bool {
        self.is_one_of(&NOTES) || self.is_one_of(&CONVERTED)
    }

    /// True for a type of which a status has a text, with a link to the object itself.
    #[must_use]
    pub fn is_converted(&self) -> bool {
        self.is_one_of(&CONVERTED) && !self.is_one_of(&NOTES)
    }

    fn is_one_of(&self, types: &[&str]) -> bool {
        self.kind.iter().any(|kind| types.contains(&kind.as_str()))
    }
}

/// Reads the authors, people before channels and groups.
fn people_first<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Many<Id>, D::Error> {
    #[derive(Deserialize)]
    struct Head {
        #[serde(rename = "type", default)]
        kind: Many<String>,
    }
    let raw = Many::<Box<RawValue>>::deserialize(deserializer)?;
    let author = |raw: &RawValue| {
        let head: Option<Head> = serde_json::from_str(raw.get()).ok();
        let is_person = head.is_some_and(|head| head.kind.iter().any(|kind| kind == "Person"));
        Some((!is_person, serde_json::from_str(raw.get()).ok()?))
    };
    let mut authors: Vec<(bool, Id)> = raw.iter().filter_map(|raw| author(raw)).collect();
    authors.sort_by_key(|(is_other, _)| *is_other);
    Ok(Many(authors.into_iter().map(|(_, id)| id).collect()))
}

/// The language of a text, where it is an object of its own.
#[derive(Clone, Debug, Deserialize)]
pub struct Language {
    pub identifier: String,
}

/// The collection of statuses that a note refers to, as far as it is inline.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct References {
    #[serde(default)]
    pub items: Many<Id>,
    #[serde(default)]
    pub first: Lenient<ReferencesPage>,
}

/// The first page of [`References`].
#[derive(Clone, Debug, Default, Deserialize)]
pub struct ReferencesPage {
    #[serde(default)]
    pub items: Many<Id>,
}

/// Where an event takes place.
#[derive(Clone, Debug, Deserialize)]
pub struct Place {
    #[serde(default)]
    pub name: Lenient<String>,
    #[serde(default)]
    pub address: Lenient<Reference<Address>>,
}

/// A postal address.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Address {
    #[serde(default)]
    pub street_address: Lenient<String>,
    #[serde(default)]
    pub postal_code: Lenient<String>,
    #[serde(default)]
    pub address_locality: Lenient<String>,
    #[serde(default)]
    pub address_country: Lenient<String>,
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
#[derive(Clone, Debug, Default)]
pub struct Link {
    pub href: String,
    pub media_type: Option<String>,
    /// In pixels.
    pub width: Option<i64>,
    pub height: Option<i64>,
    /// The files of a playlist.
    pub parts: Vec<Link>,
}

impl<'de> Deserialize<'de> for Link {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Inline {
            href: String,
            #[serde(default)]
            media_type: Lenient<String>,
            #[serde(default)]
            width: Lenient<i64>,
            #[serde(default)]
            height: Lenient<i64>,
            #[serde(default)]
            tag: Many<Link>,
        }
        Ok(match Reference::<Inline>::deserialize(deserializer)? {
            Reference::Id(href) => Self { href, ..Self::default() },
            Reference::Inline(link) => Self {
                href: link.href,
                media_type: link.media_type.0,
                width: link.width.0,
                height: link.height.0,
                parts: link.tag.0,
            },
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
    /// A thumbnail.
    #[serde(default)]
    pub icon: Many<Image>,
    #[serde(default)]
    pub duration: Lenient<String>,
}
