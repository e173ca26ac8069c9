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
    /// Keys for signatures of objects and requests (FEP-521a).
    #[serde(default)]
    pub assertion_method: Many<Multikey>,
    /// Keys for signatures of requests (FEP-521a).
    #[serde(default)]
    pub authentication: Many<Multikey>,
    /// The address, `user@domain` with or without `acct:` (FEP-2c59), as the actor states it.
    #[serde(default)]
    pub webfinger: Lenient<String>,
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
    pub moved_to: Lenient<Id>,
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

/// A public key of an actor in the form of Multikey.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Multikey {
    #[serde(deserialize_with = "id")]
    pub id: String,
    pub controller: Id,
    pub public_key_multibase: String,
}

impl Actor {
    /// The keys in the form of Multikey that the actor controls, each once.
    pub fn multikeys(&self) -> impl Iterator<Item = &Multikey> {
        let known = |id: &str| self.assertion_method.iter().any(|key| key.id == id);
        let further = self.authentication.iter().filter(move |key| !known(&key.id));
        self.assertion_method.iter().chain(further).filter(|key| key.controller.0 == self.id)
    }

    /// True when the document of the actor has the key `key_id`.
    #[must_use]
    pub fn has_key(&self, key_id: &str) -> bool {
        self.public_key.iter().any(|key| key.id == key_id) || self.multikeys().any(|key| key.id == key_id)
    }
}

/// A document at the address of a key: the key alone, or the actor that has it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyDocument {
    #[serde(deserialize_with = "id")]
    pub id: String,
    #[serde(default)]
    pub owner: Lenient<Id>,
    /// The owner of a Multikey.
    #[serde(default)]
    pub controller: Lenient<Id>,
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
