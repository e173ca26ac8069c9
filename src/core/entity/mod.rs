//! The API's JSON, one file per documented entity, rendered a page at a time.
//!
//! `render` serves a whole page with one statement per kind of row, whatever the page's length (no N+1 queries). Parts
//! that do not depend on the viewer are cached as bytes ([`cache`]) and spliced in. Visibility is not decided here:
//! statuses arrive as [`Seen`](crate::service::visibility::Seen).

pub mod account;
pub mod application;
pub mod cache;
pub mod context;
pub mod credential;
pub mod document;
pub mod emoji;
pub mod featured_tag;
pub mod instance;
pub mod list;
pub mod marker;
pub mod media;
pub mod muted_account;
pub mod notification;
pub mod preferences;
pub mod relationship;
pub mod server_metadata;
pub mod splice;
pub mod status;
pub mod status_edit;
pub mod status_source;
pub mod tag;
pub mod token;
pub mod web;
pub mod well_known;

use serde::Serialize;

use crate::error::{Error, Result};

/// A rendered entity: JSON, ready to be sent or embedded in another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment(String);

impl Fragment {
    /// Serialises `entity`.
    pub fn of<T: Serialize>(entity: &T) -> Result<Self> {
        serde_json::to_string(entity).map(Self).map_err(Error::internal)
    }

    /// Wraps a string that is JSON already.
    pub fn from_json(json: &str) -> Self {
        Self(json.to_owned())
    }

    /// The JSON.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The JSON, owned.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }

    /// The JSON array of `items`.
    #[must_use]
    pub fn array(items: &[Self]) -> String {
        let mut out = String::with_capacity(2 + items.iter().map(|item| item.0.len() + 1).sum::<usize>());
        out.push('[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            out.push_str(&item.0);
        }
        out.push(']');
        out
    }

    /// An object to which members can be added, starting with those of this one.
    #[must_use]
    pub fn open(mut self) -> Object {
        self.0.pop();
        Object(self.0)
    }
}

impl From<Fragment> for bytes::Bytes {
    fn from(fragment: Fragment) -> Self {
        fragment.0.into()
    }
}

/// A JSON object to which rendered members are added.
#[derive(Debug)]
pub struct Object(String);

impl Object {
    /// An empty object with a capacity of `capacity` bytes.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        let mut text = String::with_capacity(capacity);
        text.push('{');
        Self(text)
    }

    /// Adds rendered members: `"a":1,"b":2`.
    pub fn members(&mut self, members: &str) -> &mut Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(members);
        self
    }

    /// Adds one member; `name` needs no escaping, `value` is JSON.
    pub fn member(&mut self, name: &str, value: &str) -> &mut Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push('"');
        self.0.push_str(name);
        self.0.push_str("\":");
        self.0.push_str(value);
        self
    }

    /// Sets the member `name` of the nested object `parent`, which was added before, to `value`.
    pub fn set(&mut self, parent: &str, name: &str, value: &str) -> &mut Self {
        self.0.push('}');
        self.0 = splice::set(&self.0, parent, name, value);
        self.0.pop();
        self
    }

    /// The finished object.
    #[must_use]
    pub fn close(mut self) -> Fragment {
        self.0.push('}');
        Fragment(self.0)
    }
}

/// The members that the server itself gives to entities of `kind`, which plugins may not set; `None` for a kind that
/// plugins cannot decorate.
#[must_use]
pub fn members(kind: &str) -> Option<&'static [&'static str]> {
    match kind {
        "status" => Some(status::MEMBERS),
        "account" => Some(account::MEMBERS),
        "notification" => Some(notification::MEMBERS),
        _ => None,
    }
}

/// `true` or `false`, as JSON.
#[must_use]
pub fn boolean(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}
