//! Media file storage: a folder of this machine, or a bucket at a service with the API of S3.
//!
//! Reached from services, and from the route that serves `/media/…`. A file is written once under an unguessable name
//! and never changed, so it may be cached for ever. The database records which file belongs to what.
//!
//! A server with a bucket knows both places. It writes to one ([`Backend`]), reads from the other what is missing there,
//! and withholds and deletes in both: files can be moved while it serves ([`transfer`]). Files in the making are always
//! in a folder of this machine.

mod bucket;
mod entry;
mod error;
mod fault;
mod key;
mod local;
mod side;
#[cfg(test)]
mod tests;
mod transfer;

use std::collections::HashSet;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_core::stream::BoxStream;
use futures_util::TryStreamExt as _;
use object_store::GetResult;
use tokio::time::Instant;

pub use bucket::{BucketOptions, Encryption};
pub use entry::{Backend, CACHE_CONTROL};
pub use error::Error;
pub use fault::BucketFault;
pub use key::{FileKind, InvalidKey, Key};
pub use transfer::Transferred;

use super::scratch::{self, Workshop};
use super::types::Format;
use bucket::Bucket;
use entry::Entry;
use error::disk_error;
use key::{ARCHIVE, FOLDERS, INCOMING, MEDIA_FOLDERS};
use local::Local;
use side::Side;

/// No stored file is larger: twice the largest video that the configuration can allow, since converting may make it
/// larger.
pub const LARGEST_BYTES: u64 = 8 << 30;

/// Free space below which the disk counts as full, in bytes.
const LEAST_ROOM_BYTES: u64 = 1 << 20;

/// How often a full disk is logged.
const LOG_EVERY: Duration = Duration::from_secs(60);

/// What there is in one folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The first part of its keys.
    pub folder: &'static str,
    /// How many files.
    pub files: u64,
    /// Their sizes together.
    pub bytes: u64,
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

/// A stored file on this machine: the file itself, or a copy that is deleted when this is dropped.
#[derive(Debug)]
pub struct LocalFile {
    path: PathBuf,
    _copy: Option<Scratch>,
}

impl LocalFile {
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The file store; shared behind an `Arc`.
#[derive(Debug)]
pub struct Storage {
    local: Local,
    bucket: Option<Bucket>,
    backend: Backend,
    /// Where files are made, once that was needed.
    workshop: Mutex<Option<Workshop>>,
    /// When a full disk was logged last.
    logged: Mutex<Option<Instant>>,
}

impl Storage {
    /// Opens the store in the directory `root`, which must exist.
    pub fn open(root: &Path) -> Result<Self, Error> {
        let local = Local::open(root)?;
        Ok(Self { local, bucket: None, backend: Backend::Local, workshop: Mutex::default(), logged: Mutex::default() })
    }

    /// The same store with a bucket, where `backend` is written to.
    ///
    /// # Errors
    /// When requests cannot be prepared, such as for an invalid endpoint. The bucket itself is not contacted.
    pub fn with_bucket(self, options: &BucketOptions, backend: Backend) -> Result<Self, Error> {
        Ok(Self { bucket: Some(Bucket::open(options)?), backend, ..self })
    }

    /// True when the disk of files in the making has room for more than a few blocks. Unknown counts as room.
    pub fn has_room(&self) -> bool {
        let Ok(disk) = rustix::fs::statvfs(self.local.root()) else { return true };
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
    pub fn scratch(&self) -> io::Result<Scratch> {
        let mut workshop = self.workshop.lock().unwrap_or_else(PoisonError::into_inner);
        let root = self.local.root();
        match workshop.as_ref().map(Workshop::folder) {
            // Not made yet, or deleted with other files of media. The root is not made again: its disk may not be mounted.
            None => {}
            Some(Err(error)) if error.kind() == io::ErrorKind::NotFound && root.is_dir() => {}
            Some(folder) => return folder,
        }
        let opened = Workshop::open(root)?;
        workshop.insert(opened).folder()
    }

    /// Deletes what processes that were killed left in the making; returns how many there were.
    pub fn sweep(&self) -> io::Result<usize> {
        scratch::sweep(self.local.root())
    }

    /// What there is in each folder of the place that is written to.
    pub async fn usage(&self) -> Result<Vec<Stored>, Error> {
        let mut found = Vec::new();
        for folder in FOLDERS {
            let empty = Stored { folder, files: 0, bytes: 0 };
            let add = |stored: Stored, entry: Entry| {
                let (files, bytes) = (stored.files + 1, stored.bytes + entry.bytes);
                std::future::ready(Ok(Stored { files, bytes, ..stored }))
            };
            found.push(self.main().entries(folder).try_fold(empty, add).await?);
        }
        Ok(found)
    }

    /// The files of attachments that are not `known` by their [number](Key::number) and were written before `before`, with
    /// their sizes in bytes.
    pub async fn strays(&self, known: HashSet<u128>, before: SystemTime) -> Result<Vec<(Key, u64)>, Error> {
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        for side in self.sides() {
            for folder in MEDIA_FOLDERS {
                let mut entries = side.entries(folder);
                while let Some(entry) = entries.try_next().await? {
                    let number = entry.key.number();
                    if !known.contains(&number) && entry.modified < before && seen.insert(number) {
                        found.push((entry.key, entry.bytes));
                    }
                }
            }
        }
        Ok(found)
    }

    /// The key for a new file; `random` must come from a cryptographic source: nothing else makes the key unguessable.
    pub fn key(kind: FileKind, format: Format, random: [u8; 16]) -> Key {
        Key::sharded((kind.folder(), format.extension()), random)
    }

    /// The key for an upload as it was sent; `random` as for [`key`](Self::key). It is never served.
    pub fn incoming_key(random: [u8; 16]) -> Key {
        Key::sharded(INCOMING, random)
    }

    /// The key for an archive; `random` as for [`key`](Self::key). It is not served under its key.
    pub fn archive_key(random: [u8; 16]) -> Key {
        Key::sharded(ARCHIVE, random)
    }

    /// The file on this machine, for a program that reads it, also one that is withheld. A file of a bucket is copied.
    ///
    /// # Errors
    /// [`Error::TooLarge`] when it would have to be copied and has more than `max_bytes`.
    pub async fn local_file(&self, key: &Key, max_bytes: u64) -> Result<LocalFile, Error> {
        for withheld in [true, false] {
            let path = self.local.path(key, withheld);
            if tokio::fs::metadata(&path).await.is_ok_and(|found| found.is_file()) {
                return Ok(LocalFile { path, _copy: None });
            }
        }
        let bucket = self.bucket.as_ref().ok_or(Error::NotFound)?;
        let mut opened = Side::Bucket(bucket).open(key, false).await;
        if matches!(opened, Err(Error::NotFound)) {
            opened = Side::Bucket(bucket).open(key, true).await;
        }
        let folder = self.scratch().map_err(disk_error)?;
        let path = folder.path().join("file");
        side::write(opened?, &path, max_bytes).await?;
        Ok(LocalFile { path, _copy: Some(folder) })
    }

    /// Stores the file at `path`, which is in a [scratch folder](Self::scratch) and afterwards no longer there; readers
    /// see all of it or nothing, as with [`put`](Self::put).
    pub async fn adopt(&self, key: &Key, path: &Path) -> Result<(), Error> {
        match self.main() {
            Side::Local(local) => local.adopt(key, false, path).await,
            Side::Bucket(bucket) => {
                bucket.send(key, false, path).await?;
                tokio::fs::remove_file(path).await.map_err(disk_error)
            }
        }
    }

    /// Writes a file atomically: readers see all of it or nothing, also after a crash.
    pub async fn put(&self, key: &Key, bytes: impl Into<Bytes>) -> Result<(), Error> {
        self.main().put(key, bytes.into()).await
    }

    /// Moves a file out of reach of [`get`](Self::get), or back; that it is not where it was is no error.
    pub async fn place(&self, key: &Key, withheld: bool) -> Result<(), Error> {
        for side in self.sides() {
            side.place(key, withheld).await?;
        }
        Ok(())
    }

    /// Opens a file that is not withheld.
    pub async fn get(&self, key: &Key) -> Result<Object, Error> {
        for side in self.sides() {
            match side.open(key, false).await {
                Err(Error::NotFound) => {}
                opened => return opened.map(Object),
            }
        }
        Err(Error::NotFound)
    }

    /// Reads a byte range of a file, for HTTP range requests; an end beyond the file is clamped.
    pub async fn get_range(&self, key: &Key, range: Range<u64>) -> Result<Bytes, Error> {
        for side in self.sides() {
            match side.read(key, range.clone()).await {
                Err(Error::NotFound) => {}
                read => return read,
            }
        }
        Err(Error::NotFound)
    }

    /// The size of a file that is not withheld, in bytes.
    pub async fn length(&self, key: &Key) -> Result<u64, Error> {
        for side in self.sides() {
            if let Some(found) = side.find(key, false).await? {
                return Ok(found.bytes);
            }
        }
        Err(Error::NotFound)
    }

    /// Whether the file exists and is not withheld.
    pub async fn exists(&self, key: &Key) -> Result<bool, Error> {
        match self.length(key).await {
            Ok(_) => Ok(true),
            Err(Error::NotFound) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// A URL of limited life by which everyone can read the file, where the configuration has files served so. `None`:
    /// read it with [`get`](Self::get).
    ///
    /// # Errors
    /// [`Error::NotFound`] for a file that is missing or withheld.
    pub async fn presigned(&self, key: &Key) -> Result<Option<Presigned>, Error> {
        let Side::Bucket(bucket) = self.main() else { return Ok(None) };
        let Some(life) = bucket.presigned else { return Ok(None) };
        if self.main().find(key, false).await?.is_none() {
            return if self.exists(key).await? { Ok(None) } else { Err(Error::NotFound) };
        }
        Ok(Some(Presigned { url: bucket.presigned(key, life).await?, life }))
    }

    /// Copies every file to `to`, unless it is there, and calls `progress` after each. With `delete` the files of the
    /// source are deleted, each after its copy was compared with it. Needs some 100 bytes of memory for each file of the
    /// largest folder of the destination.
    ///
    /// # Errors
    /// [`Error::NoBucket`]; [`Error::Busy`] while another process does it; the first failure of a place. Files that were
    /// copied are skipped by the next run.
    pub async fn transfer(
        &self,
        to: Backend,
        delete: bool,
        progress: &(dyn Fn(Transferred) + Sync),
    ) -> Result<Transferred, Error> {
        let bucket = self.bucket.as_ref().ok_or(Error::NoBucket)?;
        let _lock = self.local.lock()?;
        let scratch = self.scratch().map_err(disk_error)?;
        transfer::run((&self.local, bucket), to, delete, scratch.path(), progress).await
    }

    /// Deletes a file, also one that is withheld; that it is missing is not an error.
    pub async fn delete(&self, key: &Key) -> Result<(), Error> {
        for side in self.sides() {
            side.delete(key, false).await?;
            side.delete(key, true).await?;
        }
        Ok(())
    }

    /// The place that is written to.
    fn main(&self) -> Side<'_> {
        match (self.backend, &self.bucket) {
            (Backend::Bucket, Some(bucket)) => Side::Bucket(bucket),
            (Backend::Bucket, None) | (Backend::Local, _) => Side::Local(&self.local),
        }
    }

    /// The place that is written to, then the other one, if there is one.
    fn sides(&self) -> impl Iterator<Item = Side<'_>> {
        let other = match self.main() {
            Side::Local(_) => self.bucket.as_ref().map(Side::Bucket),
            Side::Bucket(_) => Some(Side::Local(&self.local)),
        };
        [Some(self.main()), other].into_iter().flatten()
    }
}

/// Writes an object called `name` to a bucket, reads it, lists it and deletes it.
///
/// # Errors
/// The first failure.
pub async fn probe(options: &BucketOptions, name: &str) -> Result<(), Error> {
    side::probe(&Bucket::open(options)?, name).await
}

/// A URL of limited life.
#[derive(Clone, Debug)]
pub struct Presigned {
    pub url: String,
    pub life: Duration,
}
