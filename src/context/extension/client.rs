//! Additions of extensions to the client in the browser, as values of [`ServeClient`](super::ServeClient).

use serde::Serialize;
use serde_json::Value;

/// The kind of an addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClientKind {
    /// Timelines, each of a thing.
    Timelines,
    /// Things that statuses are put into.
    Folders,
    /// Reactions to statuses.
    Reactions,
    /// Emojis that are offered first.
    Emojis,
    /// A choice in the form for new statuses.
    Choice,
}

/// An addition.
#[derive(Clone, Debug, Serialize)]
pub struct ClientPart {
    /// The name of the extension.
    pub extension: String,
    /// Its name in the extension.
    pub id: String,
    pub kind: ClientKind,
    /// Its title for people.
    pub title: String,
    /// `Reactions`: the member of statuses with the reactions.
    pub member: Option<String>,
    /// `Choice`: the parameter of a new status.
    pub field: Option<String>,
    /// `Choice`: the visibility that it belongs to.
    pub visibility: Option<String>,
}

/// A request to an addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientUse<'a> {
    /// Its things.
    List,
    /// The statuses of the thing with this id; `query` has the parameters of paging.
    Timeline { thing: &'a str, query: &'a str },
    /// Puts a status into the thing with this id.
    Add { thing: &'a str, status: &'a str },
    /// Takes a status out of it.
    Remove { thing: &'a str, status: &'a str },
    /// Reacts to a status.
    React { status: &'a str, emoji: &'a str },
    /// Takes a reaction back.
    Unreact { status: &'a str, emoji: &'a str },
}

/// The response of an addition.
#[derive(Clone, Debug)]
pub struct ClientResponse {
    pub body: Value,
    /// The query of the next, older page, if there is one.
    pub older: Option<String>,
}
