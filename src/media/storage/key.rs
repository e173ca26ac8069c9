//! The names of stored files: a folder, two levels of 256 folders, and 128 random bits.

use std::fmt;
use std::str::FromStr;

use crate::types::Format;

/// The purpose of a stored file, which decides its folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Originals and previews of attachments.
    Media,
    /// Images of accounts, and their static versions.
    Avatar,
    /// Images of accounts, and their static versions.
    Header,
    /// Custom emojis, and their static versions.
    Emoji,
    /// Images of preview cards.
    Card,
    /// Copies of files of other servers.
    Remote,
    /// Pictures of the server itself.
    Server,
}

impl FileKind {
    const ALL: [Self; 7] =
        [Self::Media, Self::Avatar, Self::Header, Self::Emoji, Self::Card, Self::Remote, Self::Server];

    pub(super) const fn folder(self) -> &'static str {
        match self {
            Self::Media => "media",
            Self::Avatar => "avatars",
            Self::Header => "headers",
            Self::Emoji => "emojis",
            Self::Card => "cards",
            Self::Remote => "remote",
            Self::Server => "server",
        }
    }
}

/// Every format a file may have been stored in.
const FORMATS: [Format; 6] = [Format::Jpeg, Format::Png, Format::Gif, Format::Webp, Format::Mp4, Format::Mp3];

/// The folder and the extension of uploads as they were sent.
pub(super) const INCOMING: (&str, &str) = ("incoming", "upload");

/// The folder and the extension of archives of what people wrote.
pub(super) const ARCHIVE: (&str, &str) = ("archives", "zip");

/// The folder of the files of suspended accounts, under their keys.
pub(super) const WITHHELD: &str = "withheld";

/// Every folder of keys.
pub(super) const FOLDERS: [&str; 9] =
    ["media", "avatars", "headers", "emojis", "cards", "remote", "server", INCOMING.0, ARCHIVE.0];

/// The folders with files of attachments.
pub(super) const MEDIA_FOLDERS: [&str; 2] = ["media", INCOMING.0];

/// The name of a stored file: `media/ab/cd/abcd….webp`, with 32 hexadecimal digits.
///
/// Only names of exactly this form can be made or parsed, so no key leads out of the store (path traversal).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key(String);

impl Key {
    /// As written in the database and in URLs.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The content type to serve the file with, from the extension that was chosen when it was stored.
    pub fn mime(&self) -> &'static str {
        let extension = self.0.rsplit_once('.').map(|(_, extension)| extension);
        FORMATS
            .iter()
            .find(|format| Some(format.extension()) == extension)
            .map_or("application/octet-stream", |f| f.mime())
    }

    /// Whether the file is public: not an original upload, which has its metadata and possibly an attack, and not an
    /// archive.
    pub fn is_public(&self) -> bool {
        !self.0.starts_with(INCOMING.0) && !self.0.starts_with(ARCHIVE.0)
    }

    /// Whether the file is a picture of the server itself, which everyone may see on every server.
    pub fn is_of_server(&self) -> bool {
        self.0.strip_prefix(FileKind::Server.folder()).is_some_and(|rest| rest.starts_with('/'))
    }

    /// The random part, which no two keys share.
    pub fn number(&self) -> u128 {
        let name = self.0.rsplit('/').next().unwrap_or_default();
        name.split('.').next().and_then(|digits| u128::from_str_radix(digits, 16).ok()).unwrap_or_default()
    }

    /// The name of the random file `random` of `folder`.
    pub(super) fn sharded((folder, extension): (&str, &str), random: [u8; 16]) -> Self {
        let hex = format!("{:032x}", u128::from_be_bytes(random));
        Self(format!("{folder}/{}/{}/{hex}.{extension}", &hex[..2], &hex[2..4]))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text is not a valid key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the name of a stored file")]
pub struct InvalidKey;

impl FromStr for Key {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        let [folder, first, second, name] = text.split('/').collect::<Vec<_>>()[..] else { return Err(InvalidKey) };
        let (random, extension) = name.split_once('.').ok_or(InvalidKey)?;
        let digits = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let known = FileKind::ALL.iter().any(|kind| kind.folder() == folder)
            && FORMATS.iter().any(|format| format.extension() == extension)
            || [INCOMING, ARCHIVE].contains(&(folder, extension));
        let sharded = random.len() == 32 && digits(random) && first == &random[..2] && second == &random[2..4];
        if known && sharded { Ok(Self(text.to_owned())) } else { Err(InvalidKey) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Storage;
    use super::*;

    fn key() -> Key {
        Storage::key(FileKind::Media, Format::Webp, [0xAB; 16])
    }

    #[test]
    fn key_is_sharded_and_read_back() {
        let key = Storage::key(FileKind::Avatar, Format::Jpeg, [7; 16]);
        assert_eq!(key.as_str(), "avatars/07/07/07070707070707070707070707070707.jpg");
        assert_eq!((key.as_str().parse(), key.mime()), (Ok(key.clone()), "image/jpeg"));
    }

    #[test]
    fn upload_as_it_was_sent_is_not_public() {
        let key = Storage::incoming_key([7; 16]);
        assert_eq!(key.as_str().parse(), Ok(key.clone()));
        assert!(!key.is_public() && super::tests::key().is_public());
        assert_eq!("incoming/07/07/07070707070707070707070707070707.png".parse::<Key>(), Err(InvalidKey));
    }

    #[test]
    fn no_other_name_is_a_key() {
        let good = key().to_string();
        for bad in [
            String::new(),
            "../../etc/passwd".to_owned(),
            format!("/{good}"),
            format!("{good}/"),
            format!("{good}\0"),
            format!("media/../{good}"),
            good.replace("media", "secrets"),
            good.replace("media/ab", "media/.."),
            good.replace("media/ab", "media/ac"),
            good.replace("webp", "html"),
            good.replace(".webp", ".webp.webp"),
            good.to_uppercase(),
            good.replace("/", "%2f"),
        ] {
            assert_eq!(bad.parse::<Key>(), Err(InvalidKey), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "[a-f0-9./é]{0,60}|media/[a-f0-9é]{2}/.{2}/.{32}\\.png") {
            if let Ok(key) = text.parse::<Key>() {
                prop_assert!(!key.as_str().contains(".."));
            }
        }
    }
}
