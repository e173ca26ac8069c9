//! The form of the small activities: about follows, blocks, favourites, votes and deletions.

use serde::Serialize;

/// The context of documents without extension terms.
pub(super) const CONTEXT: &str = "https://www.w3.org/ns/activitystreams";

/// An activity with its object.
#[derive(Serialize)]
pub(super) struct Activity<'a, T> {
    #[serde(rename = "@context")]
    pub(super) context: &'static str,
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) actor: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) to: &'a [String],
    pub(super) object: T,
}

/// An activity that is the object of another.
#[derive(Serialize)]
pub(super) struct Inner<'a> {
    pub(super) id: &'a str,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) actor: &'a str,
    pub(super) object: &'a str,
}
