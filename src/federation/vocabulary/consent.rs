//! Who may interact with a note, and the authorizations of interactions.
//!
//! <https://w3id.org/fep/044f>, <https://docs.gotosocial.org/en/latest/federation/interaction_controls/>

use serde::Deserialize;

use super::lenient::{Id, Lenient, Many};

/// Who may interact with a note.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    #[serde(default)]
    pub can_quote: Lenient<SubPolicy>,
    #[serde(default)]
    pub can_reply: Lenient<SubPolicy>,
    #[serde(default)]
    pub can_like: Lenient<SubPolicy>,
    #[serde(default)]
    pub can_announce: Lenient<SubPolicy>,
}

/// Who may do one thing: actors and collections of actors.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SubPolicy {
    #[serde(default)]
    pub automatic_approval: Many<Id>,
    #[serde(default)]
    pub manual_approval: Many<Id>,
    /// The former name of `automaticApproval`.
    #[serde(default)]
    pub always: Many<Id>,
    /// The former name of `manualApproval`.
    #[serde(default)]
    pub approval_required: Many<Id>,
}

impl SubPolicy {
    /// Who may without approval.
    pub fn automatic(&self) -> impl Iterator<Item = &str> {
        self.automatic_approval.iter().chain(self.always.iter()).map(|id| id.0.as_str())
    }

    /// Who may with approval.
    pub fn manual(&self) -> impl Iterator<Item = &str> {
        self.manual_approval.iter().chain(self.approval_required.iter()).map(|id| id.0.as_str())
    }

    /// True when it says nothing: an empty list equals a missing one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.automatic().chain(self.manual()).next().is_none()
    }
}

/// An authorization of an interaction by the author of its target.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Authorization {
    #[serde(deserialize_with = "super::lenient::id")]
    pub id: String,
    #[serde(rename = "type")]
    pub kind: Many<String>,
    #[serde(default)]
    pub attributed_to: Many<Id>,
    #[serde(default)]
    pub interacting_object: Lenient<Id>,
    #[serde(default)]
    pub interaction_target: Lenient<Id>,
}
