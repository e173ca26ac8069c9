//! Actors and their keys, as other servers describe them.

use serde::Deserialize;

use super::lenient::{Id, Lenient, Many, id};
use super::tag::{Image, Tag};

/// An actor.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Actor {
    #[serde(deserialize_with = "id")]
    pub id: String,
    #[serde(rename = "type")]
    pub kind: Many<String>,
    #[serde(default)]
    pub preferred_username: Lenient<String>,
    #[serde(default)]
    pub name: Lenient<String>,
    #[serde(default)]
    pub summary: Lenient<String>,
    #[serde(default)]
    pub url: Many<Id>,
    #[serde(default)]
    pub inbox: Lenient<Id>,
    #[serde(default)]
    pub outbox: Lenient<Id>,
    #[serde(default)]
    pub followers: Lenient<Id>,
    #[serde(default)]
    pub following: Lenient<Id>,
    #[serde(default)]
    pub featured: Lenient<Id>,
    #[serde(default)]
    pub endpoints: Lenient<Endpoints>,
    #[serde(default)]
    pub public_key: Many<PublicKey>,
    #[serde(default)]
    pub manually_approves_followers: Lenient<bool>,
    #[serde(default)]
    pub discoverable: Lenient<bool>,
    #[serde(default)]
    pub indexable: Lenient<bool>,
    #[serde(default)]
    pub memorial: Lenient<bool>,
    #[serde(default)]
    pub suspended: Lenient<bool>,
    #[serde(default)]
    pub also_known_as: Many<Id>,
    #[serde(default)]
    pub attribution_domains: Many<String>,
    #[serde(default)]
    pub attachment: Many<Field>,
    #[serde(default)]
    pub tag: Many<Tag>,
    #[serde(default)]
    pub icon: Many<Image>,
    #[serde(default)]
    pub image: Many<Image>,
    #[serde(default)]
    pub published: Lenient<String>,
    #[serde(default)]
    pub searchable_by: Option<Many<Id>>,
    #[serde(default)]
    pub other_setting: Many<Setting>,
}

/// Further addresses of an actor.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Endpoints {
    #[serde(default)]
    pub shared_inbox: Lenient<Id>,
}

/// A public key of an actor.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PublicKey {
    #[serde(deserialize_with = "id")]
    pub id: String,
    pub owner: Id,
    pub public_key_pem: String,
}

/// A document at the address of a key: the key alone, or the actor that has it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyDocument {
    #[serde(deserialize_with = "id")]
    pub id: String,
    #[serde(default)]
    pub owner: Lenient<Id>,
    #[serde(default)]
    pub public_key: Many<PublicKey>,
}

/// A field of a profile.
#[derive(Debug, Deserialize)]
pub struct Field {
    #[serde(rename = "type")]
    pub kind: Many<String>,
    pub name: String,
    pub value: String,
}

/// A further setting that an account publishes.
#[derive(Debug, Deserialize)]
pub struct Setting {
    pub name: String,
    pub value: bool,
}
