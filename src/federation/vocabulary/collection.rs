//! Collections and their pages.

use serde::Deserialize;

use super::activity::Object;
use super::lenient::{Id, Lenient, Many, Reference};

/// A collection, or a page of one.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Collection {
    #[serde(default)]
    pub id: Lenient<String>,
    #[serde(rename = "type", default)]
    pub kind: Many<String>,
    /// Number of members, where it is stated.
    #[serde(default)]
    pub total_items: Lenient<i64>,
    /// The first page.
    #[serde(default)]
    pub first: Lenient<Reference<Collection>>,
    /// The next page.
    #[serde(default)]
    pub next: Lenient<Id>,
    #[serde(default)]
    pub items: Many<Object>,
    #[serde(default)]
    pub ordered_items: Many<Object>,
}

impl Collection {
    /// The members that are here.
    pub fn members(&self) -> impl Iterator<Item = &Object> {
        self.items.iter().chain(self.ordered_items.iter())
    }
}
