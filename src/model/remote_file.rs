//! Files of other servers: their kinds, how they are served, and the tags in their addresses here.
//!
//! Clients load them from this server, at `/media/remote/KIND/ID/TAG`: the id is of the row that names the file, and the
//! tag cannot be guessed, so an address is as good as the key of a file of this server. Another file of the same row has
//! another tag.
//!
//! Spec: docs/contract/federation.md#14-media-of-other-servers

use super::text_enum;

text_enum! {
    /// What a file is to the row that names it.
    RemoteFileKind {
        /// The avatar of an account.
        Avatar = "avatar",
        /// The header of an account.
        Header = "header",
        /// An attachment of a status.
        Attachment = "attachment",
        /// The picture of an attachment that is a video or a sound.
        Thumbnail = "thumbnail",
        /// The picture of a custom emoji.
        Emoji = "emoji",
    }
}

text_enum! {
    /// How files of other servers are served.
    RemoteMediaMode {
        /// Stored when they are first requested, as long as there is room.
        Cache = "cache",
        /// Passed on, without being stored.
        Pass = "pass",
        /// Stored when they are first requested, and not removed while their row exists.
        Keep = "keep",
    }
}

/// The version of a file that an address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemotePart {
    /// The file itself.
    Whole,
    /// A still version of an animation, or a smaller one of a picture; the file itself when it has none.
    Small,
}

/// Makes the tags in addresses of files of other servers.
#[derive(Clone, Debug)]
pub struct RemoteTags(crypto::Tags);

impl RemoteTags {
    /// Tags that depend on the secret of the server.
    #[must_use]
    pub fn new(keys: &crypto::Keys) -> Self {
        Self(keys.tags("remote files"))
    }

    /// The tag of the file at `url` as the `kind` of the row `id`: 22 characters of base64url.
    #[must_use]
    pub fn of(&self, kind: RemoteFileKind, id: i64, url: &str) -> String {
        self.0.of(&[kind.as_str(), &id.to_string(), url])
    }
}

/// The address here of a file of another server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteAddress(pub(crate) String);

impl RemoteAddress {
    /// Of a still or smaller version.
    #[must_use]
    pub fn small(&self) -> String {
        format!("{}/small", self.0)
    }

    /// Of the file itself.
    #[must_use]
    pub fn whole(self) -> String {
        self.0
    }
}
