//! Media file storage: a local directory behind the interface of an object store.
//!
//! Reached from services, and from the route that serves `/media/…`. A file is written once under an unguessable name
//! and never changed, so it may be cached for ever. The database records which file belongs to what.

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_core::stream::BoxStream;
use object_store::local::LocalFileSystem;
use object_store::{GetResult, ObjectStoreExt, path};
use tokio::time::Instant;

use super::inventory::{self, Stored};
use super::scratch::Workshop;
use super::types::Format;

/// Free space below which the disk counts as full, in bytes.
const LEAST_ROOM_BYTES: u64 = 1 << 20;

/// How often a full disk is logged.
const LOG_EVERY: Duration = Duration::from_secs(60);

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
}

impl FileKind {
    const ALL: [Self; 6] = [Self::Media, Self::Avatar, Self::Header, Self::Emoji, Self::Card, Self::Remote];

    const fn folder(self) -> &'static str {
        match self {
            Self::Media => "media",
            Self::Avatar => "avatars",
            Self::Header => "headers",
            Self::Emoji => "emojis",
            Self::Card => "cards",
            Self::Remote => "remote",
        }
    }
}

/// Every format a file may have been stored in.
const FORMATS: [Format; 6] = [Format::Jpeg, Format::Png, Format::Gif, Format::Webp, Format::Mp4, Format::Mp3];

/// The folder and the extension of uploads as they were sent.
const INCOMING: (&str, &str) = ("incoming", "upload");

/// The folder and the extension of archives of what people wrote.
const ARCHIVE: (&str, &str) = ("archives", "zip");

/// The folder of the files of suspended accounts, under their keys.
pub(super) const WITHHELD: &str = "withheld";

/// Every folder of keys.
pub(super) const FOLDERS: [&str; 8] =
    ["media", "avatars", "headers", "emojis", "cards", "remote", INCOMING.0, ARCHIVE.0];

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

    /// The random part, which no two keys share.
    pub fn number(&self) -> u128 {
        let name = self.0.rsplit('/').next().unwrap_or_default();
        name.split('.').next().and_then(|digits| u128::from_str_radix(digits, 16).ok()).unwrap_or_default()
    }

    fn path(&self) -> path::Path {
        path::Path::from(self.0.as_str())
    }

    /// Where the file is while its owner is suspended.
    fn withheld(&self) -> path::Path {
        path::Path::from(format!("{WITHHELD}/{}", self.0))
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

/// Why a file could not be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Deleted, or never stored.
    #[error("no such file")]
    NotFound,
    /// The storage backend failed.
    #[error("media storage")]
    Store(#[source] object_store::Error),
}

impl From<object_store::Error> for Error {
    fn from(error: object_store::Error) -> Self {
        match error {
            object_store::Error::NotFound { .. } => Self::NotFound,
            other => Self::Store(other),
        }
    }
}

/// An open stored file.
#[derive(Debug)]
pub struct Object(GetResult);

impl Object {
    /// The size of the file, in bytes.
    pub fn length(&self) -> u64 {
        self.0.meta.size
    }

    /// Reads the whole file into memory.
    pub async fn bytes(self) -> Result<Bytes, Error> {
        Ok(self.0.bytes().await?)
    }

    /// Streams the file, for a response body.
    pub fn into_stream(self) -> BoxStream<'static, object_store::Result<Bytes>> {
        self.0.into_stream()
    }
}

/// A folder for files in the making, which is deleted when it is dropped.
pub type Scratch = tempfile::TempDir;

/// The file store; shared behind an `Arc`.
#[derive(Debug)]
pub struct Storage {
    files: LocalFileSystem,
    root: PathBuf,
    /// Where files are made, once that was needed.
    workshop: Mutex<Option<Workshop>>,
    /// When a full disk was logged last.
    logged: Mutex<Option<Instant>>,
}

impl Storage {
    /// Opens the store in the directory `root`, which must exist.
    pub fn open(root: &Path) -> Result<Self, Error> {
        let files = LocalFileSystem::new_with_prefix(root)?.with_fsync(true);
        Ok(Self { files, root: root.to_owned(), workshop: Mutex::default(), logged: Mutex::default() })
    }

    /// True when the disk has room for more than a few blocks. Unknown counts as room.
    pub fn has_room(&self) -> bool {
        let Ok(disk) = rustix::fs::statvfs(&self.root) else { return true };
        // Some blocks are reserved for root.
        let blocks = if rustix::process::geteuid().is_root() { disk.f_bfree } else { disk.f_bavail };
        blocks.saturating_mul(disk.f_frsize) >= LEAST_ROOM_BYTES
    }

    /// True once a minute: when a fault that many requests meet is to be logged.
    pub fn may_log(&self) -> bool {
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        let due = logged.is_none_or(|at| at.elapsed() >= LOG_EVERY);
        if due {
            *logged = Some(Instant::now());
        }
        due
    }

    /// A folder for files in the making, beside the stored ones; it is deleted when it is dropped.
    pub fn scratch(&self) -> std::io::Result<Scratch> {
        let mut workshop = self.workshop.lock().unwrap_or_else(PoisonError::into_inner);
        match workshop.as_ref().map(Workshop::folder) {
            // Not made yet, or deleted with other files of media. The root is not made again: its disk may not be mounted.
            None => {}
            Some(Err(error)) if error.kind() == io::ErrorKind::NotFound && self.root.is_dir() => {}
            Some(folder) => return folder,
        }
        let opened = Workshop::open(&self.root)?;
        workshop.insert(opened).folder()
    }

    /// Deletes what processes that were killed left in the making; returns how many there were.
    pub fn sweep(&self) -> std::io::Result<usize> {
        super::scratch::sweep(&self.root)
    }

    /// What there is in each folder.
    pub async fn usage(&self) -> Result<Vec<Stored>, Error> {
        let root = self.root.clone();
        on_the_disk(move || inventory::usage(&root)).await
    }

    /// The files of attachments that are not `known` by their [number](Key::number) and were written before `before`, with
    /// their sizes in bytes.
    pub async fn strays(&self, known: HashSet<u128>, before: SystemTime) -> Result<Vec<(Key, u64)>, Error> {
        let root = self.root.clone();
        on_the_disk(move || inventory::strays(&root, &known, before)).await
    }

    /// The key for an upload as it was sent; `random` as for [`key`](Self::key). It is never served.
    pub fn incoming_key(random: [u8; 16]) -> Key {
        sharded(INCOMING.0, random, INCOMING.1)
    }

    /// The key for an archive; `random` as for [`key`](Self::key). It is not served under its key.
    pub fn archive_key(random: [u8; 16]) -> Key {
        sharded(ARCHIVE.0, random, ARCHIVE.1)
    }

    /// Where the file is on this machine, for a program that reads it.
    pub fn local_path(&self, key: &Key) -> Result<PathBuf, Error> {
        Ok(self.files.path_to_filesystem(&key.path())?)
    }

    /// Where a stored file is on this machine, also one that is withheld.
    pub fn readable_path(&self, key: &Key) -> Result<PathBuf, Error> {
        let withheld = self.files.path_to_filesystem(&key.withheld())?;
        if withheld.is_file() { Ok(withheld) } else { self.local_path(key) }
    }

    /// Stores the file at `path`, which is in a [scratch folder](Self::scratch), by moving it; atomically, as [`put`](Self::put).
    pub async fn adopt(&self, key: &Key, path: &Path) -> Result<(), Error> {
        let (from, to) = (path.to_owned(), self.local_path(key)?);
        on_the_disk(move || super::scratch::adopt(&from, &to)).await
    }

    /// The key for a new file; `random` must come from a cryptographic source: nothing else makes the key unguessable.
    pub fn key(kind: FileKind, format: Format, random: [u8; 16]) -> Key {
        sharded(kind.folder(), random, format.extension())
    }

    /// Writes a file atomically: readers see all of it or nothing, also after a crash.
    pub async fn put(&self, key: &Key, bytes: impl Into<Bytes>) -> Result<(), Error> {
        self.files.put(&key.path(), bytes.into().into()).await?;
        Ok(())
    }

    /// Moves a file out of reach of [`get`](Self::get), or back; that it is not where it was is no error.
    pub async fn place(&self, key: &Key, withheld: bool) -> Result<(), Error> {
        let (from, to) = if withheld { (key.path(), key.withheld()) } else { (key.withheld(), key.path()) };
        match self.files.rename(&from, &to).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a file that is not withheld.
    pub async fn get(&self, key: &Key) -> Result<Object, Error> {
        Ok(Object(self.files.get(&key.path()).await?))
    }

    /// Reads a byte range of a file, for HTTP range requests; an end beyond the file is clamped.
    pub async fn get_range(&self, key: &Key, range: Range<u64>) -> Result<Bytes, Error> {
        Ok(self.files.get_range(&key.path(), range).await?)
    }

    /// Whether the file exists and is not withheld.
    pub async fn exists(&self, key: &Key) -> Result<bool, Error> {
        match self.files.head(&key.path()).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Deletes a file, also one that is withheld; that it is missing is not an error.
    pub async fn delete(&self, key: &Key) -> Result<(), Error> {
        for path in [key.path(), key.withheld()] {
            match self.files.delete(&path).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// Does `work` on a thread that may wait for the disk.
async fn on_the_disk<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> Result<T, Error> {
    let failed = |source: Box<dyn std::error::Error + Send + Sync>| {
        Error::Store(object_store::Error::Generic { store: "local", source })
    };
    let done = tokio::task::spawn_blocking(work).await.map_err(|error| failed(error.into()))?;
    done.map_err(|error| failed(error.into()))
}

fn sharded(folder: &str, random: [u8; 16], extension: &str) -> Key {
    let hex = format!("{:032x}", u128::from_be_bytes(random));
    Key(format!("{folder}/{}/{}/{hex}.{extension}", &hex[..2], &hex[2..4]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    #[tokio::test]
    async fn stray_is_an_old_file_that_nothing_knows() {
        let root = tempfile::tempdir().unwrap();
        let storage = Storage::open(root.path()).unwrap();
        let other = Storage::incoming_key([1; 16]);
        storage.put(&key(), b"hello".to_vec()).await.unwrap();
        storage.put(&other, b"12".to_vec()).await.unwrap();
        let usage = storage.usage().await.unwrap();
        assert_eq!((usage[0], usage[5].files), (Stored { folder: "media", files: 1, bytes: 5 }, 1));
        let known = HashSet::from([key().number()]);
        let (past, future) =
            (SystemTime::UNIX_EPOCH, SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(9_999_999_999));
        assert_eq!(storage.strays(known.clone(), past).await.unwrap(), []);
        assert_eq!(storage.strays(known, future).await.unwrap(), [(other, 2)]);
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

    #[tokio::test]
    async fn file_is_stored_read_in_part_and_deleted() {
        let root = tempfile::tempdir().unwrap();
        let storage = Storage::open(root.path()).unwrap();
        assert!(!storage.exists(&key()).await.unwrap());
        storage.put(&key(), b"hello".to_vec()).await.unwrap();
        assert!(storage.exists(&key()).await.unwrap());
        assert_eq!(std::fs::read(root.path().join(key().as_str())).unwrap(), b"hello");

        let object = storage.get(&key()).await.unwrap();
        assert_eq!(object.length(), 5);
        assert_eq!(&object.bytes().await.unwrap()[..], b"hello");
        assert_eq!(&storage.get_range(&key(), 1..99).await.unwrap()[..], b"ello");

        storage.delete(&key()).await.unwrap();
        storage.delete(&key()).await.unwrap();
        assert!(matches!(storage.get(&key()).await, Err(Error::NotFound)));
    }
}
