//! The URLs of this server's own pages, documents and files (docs/contract/federation.md#2-uris). Pure functions, no I/O.

use std::fmt::Display;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::StatusId;

/// Characters to percent-encode in a path segment: all but the unreserved characters of RFC 3986.
const PATH_SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'_').remove(b'-').remove(b'.').remove(b'~');

/// `name` as a segment of a path.
#[must_use]
pub fn path_segment(name: &str) -> impl Display {
    utf8_percent_encode(name, PATH_SEGMENT)
}

/// Builds the URLs of this server.
#[derive(Clone, Debug)]
pub struct Urls {
    /// Scheme and host, without a trailing slash: `https://web.example`.
    pub origin: String,
    /// The domain in account addresses.
    pub local_domain: String,
    /// The host that serves HTTP.
    pub web_domain: String,
}

impl Urls {
    /// The URL of any path of this server, which must begin with a slash.
    #[must_use]
    pub fn path(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }
    /// The profile page of a local account.
    #[must_use]
    pub fn profile(&self, username: &str) -> String {
        format!("{}/@{username}", self.origin)
    }
    /// The actor document of a local account, also its `uri`.
    #[must_use]
    pub fn actor(&self, username: &str) -> String {
        format!("{}/users/{username}", self.origin)
    }
    /// The page of a status.
    #[must_use]
    pub fn status(&self, username: &str, id: StatusId) -> String {
        format!("{}/@{username}/{id}", self.origin)
    }
    /// The page of a status for embedding in other sites.
    #[must_use]
    pub fn embed(&self, username: &str, id: StatusId) -> String {
        format!("{}/embed", self.status(username, id))
    }
    /// The ActivityPub document of a status, also its `uri`.
    #[must_use]
    pub fn note(&self, username: &str, id: StatusId) -> String {
        format!("{}/users/{username}/statuses/{id}", self.origin)
    }
    /// The page of a hashtag.
    #[must_use]
    pub fn tag(&self, name: &str) -> String {
        format!("{}/tags/{}", self.origin, path_segment(name))
    }
    /// A stored media file, by its storage key.
    #[must_use]
    pub fn media(&self, key: &str) -> String {
        format!("{}/media/{key}", self.origin)
    }
    /// The avatar of accounts without one.
    #[must_use]
    pub fn default_avatar(&self) -> String {
        self.path("/assets/avatar.png")
    }
    /// The header of accounts without one.
    #[must_use]
    pub fn default_header(&self) -> String {
        self.path("/assets/header.png")
    }
}
