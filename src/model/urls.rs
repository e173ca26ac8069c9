//! The URLs of this server's own pages, documents and files (docs/contract/federation.md#2-uris). Pure functions, no I/O.

use std::fmt::Display;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::remote_file::{RemoteAddress, RemoteFileKind, RemoteTags};
use crate::{AccountId, RowId, StatusId};

/// Characters to percent-encode in a path segment: all but the unreserved characters of RFC 3986.
const PATH_SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'_').remove(b'-').remove(b'.').remove(b'~');

/// `name` as a segment of a path.
#[must_use]
pub fn path_segment(name: &str) -> impl Display {
    utf8_percent_encode(name, PATH_SEGMENT)
}

/// The ActivityPub document of the status `id` of the local account with the URI `actor`, also the status's `uri`.
#[must_use]
pub fn note(actor: &str, id: StatusId) -> String {
    format!("{actor}/statuses/{id}")
}

/// The Like with the number `id` by the local account with the URI `actor`.
#[must_use]
pub fn like(actor: &str, id: RowId) -> String {
    format!("{actor}#likes/{id}")
}

/// The request `id` to interact by the local account with the URI `actor`.
#[must_use]
pub fn request(actor: &str, id: RowId) -> String {
    format!("{actor}#requests/{id}")
}

/// The authorization of the request `id` by the local account with the URI `actor`.
#[must_use]
pub fn authorization(actor: &str, id: RowId) -> String {
    format!("{actor}/authorizations/{id}")
}

/// How a path of this server names a local account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// `/@name`: the page, under the present or a former user name.
    Page(String),
    /// `/users/name`: the id of an account from before ids had numbers. For other accounts it leads to their id.
    Name(String),
    /// `/ap/users/id`: the id.
    Id(AccountId),
}

impl Owner {
    /// The account that begins `path`, and the rest of the path, which is empty or begins with a slash.
    #[must_use]
    pub fn of_path(path: &str) -> Option<(Self, &str)> {
        let split = |rest: &'_ str| rest.find('/').unwrap_or(rest.len());
        let named = |rest: &'_ str, owner: fn(String) -> Self| {
            let at = split(rest);
            (at > 0).then(|| (owner(rest[..at].to_owned()), at))
        };
        let (rest, found) = if let Some(rest) = path.strip_prefix("/@") {
            (rest, named(rest, Self::Page))
        } else if let Some(rest) = path.strip_prefix("/users/") {
            (rest, named(rest, Self::Name))
        } else {
            let rest = path.strip_prefix("/ap/users/")?;
            let at = split(rest);
            (rest, rest[..at].parse().ok().map(|id| (Self::Id(id), at)))
        };
        let (owner, at) = found?;
        Some((owner, &rest[at..]))
    }
}

/// Builds the URLs of this server.
#[derive(Clone, Debug)]
pub struct Urls {
    /// Scheme and host, without a trailing slash: `https://web.example`.
    pub origin: String,
    /// What URLs of stored files begin with, without a trailing slash: `https://web.example/media`.
    pub files: String,
    /// Other hosts than this server that clients load files from, as a content security policy lists them: each after a
    /// space. Empty unless files are in a bucket that is public or has presigned URLs.
    pub file_hosts: String,
    /// The domain in account addresses.
    pub local_domain: String,
    /// The host that serves HTTP.
    pub web_domain: String,
    /// Tags the addresses of files of other servers.
    pub remote_tags: RemoteTags,
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
    /// The actor document of a new local account, its `uri` for ever. Accounts from before ids had numbers keep
    /// [`named_actor`](Self::named_actor); so an existing account is asked for its `uri`.
    #[must_use]
    pub fn actor(&self, id: AccountId) -> String {
        format!("{}/ap/users/{id}", self.origin)
    }
    /// The actor document of an account from before ids had numbers, under the user name that it had then.
    #[must_use]
    pub fn named_actor(&self, username: &str) -> String {
        format!("{}/users/{username}", self.origin)
    }
    /// The account that a URL of this server names, and the rest of the path, which is empty or begins with a slash.
    /// Does not check that the account exists.
    #[must_use]
    pub fn owner<'a>(&self, url: &'a str) -> Option<(Owner, &'a str)> {
        let path = url.strip_prefix(self.origin.as_str())?.split(['?', '#']).next()?;
        Owner::of_path(path)
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
    /// The page of a hashtag.
    #[must_use]
    pub fn tag(&self, name: &str) -> String {
        format!("{}/tags/{}", self.origin, path_segment(name))
    }
    /// A stored media file, by its storage key.
    #[must_use]
    pub fn media(&self, key: &str) -> String {
        format!("{}/{key}", self.files)
    }
    /// The file of another server at `url`, which the row `id` names as its `kind`.
    #[must_use]
    pub fn remote_file(&self, kind: RemoteFileKind, id: impl Into<i64>, url: &str) -> RemoteAddress {
        let id = id.into();
        let tag = self.remote_tags.of(kind, id, url);
        RemoteAddress(format!("{}/media/remote/{}/{id}/{tag}", self.origin, kind.as_str()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_names_its_account() {
        let of = Owner::of_path;
        assert_eq!(of("/@ann/1"), Some((Owner::Page("ann".to_owned()), "/1")));
        assert_eq!(of("/users/ann"), Some((Owner::Name("ann".to_owned()), "")));
        assert_eq!(of("/ap/users/7/inbox"), Some((Owner::Id(AccountId::from(7)), "/inbox")));
        for path in ["/", "/@", "/users/", "/users", "/ap/users/ann", "/ap/users/", "/tags/ann", ""] {
            assert_eq!(of(path), None, "{path}");
        }
    }
}
