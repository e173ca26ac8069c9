//! Moving the stored files from the folder to the bucket, or back, while a server uses both.
//!
//! A run that was killed is repeated: files that are there already are skipped. Each copy is compared with its source,
//! by size and MD5, which the bucket knows of files that were sent whole; others are read back.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use futures_util::TryStreamExt as _;
use md5::{Digest as _, Md5};

use super::bucket::Bucket;
use super::entry::{Backend, Entry};
use super::error::{Error, disk_error};
use super::key::{FOLDERS, Key};
use super::local::Local;
use super::side::{self, Found, Side};

/// Files that are copied at the same time.
const COPIES: usize = 4;

/// What a transfer did, or has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transferred {
    /// Files copied by this run.
    pub copied: u64,
    /// The bytes of the copied files.
    pub copied_bytes: u64,
    /// Files that were there already.
    pub present: u64,
    /// Files of the source that were deleted after their copies were verified.
    pub deleted: u64,
    /// Files that the server deleted meanwhile.
    pub vanished: u64,
    /// Copies that differed from their source. They are removed, and their sources kept.
    pub differing: u64,
}

/// A file at the destination, before the transfer.
#[derive(Clone, Copy, Debug)]
struct Present {
    found: Found,
    withheld: bool,
}

struct Transfer<'a> {
    local: &'a Local,
    bucket: &'a Bucket,
    to: Backend,
    delete: bool,
    scratch: &'a Path,
    done: Mutex<Transferred>,
    progress: &'a (dyn Fn(Transferred) + Sync),
}

/// Copies every file to `to`, as [`Storage::transfer`](super::Storage::transfer); `scratch` is an empty folder beside the
/// stored files.
pub(super) async fn run(
    (local, bucket): (&Local, &Bucket),
    to: Backend,
    delete: bool,
    scratch: &Path,
    progress: &(dyn Fn(Transferred) + Sync),
) -> Result<Transferred, Error> {
    let transfer = Transfer { local, bucket, to, delete, scratch, done: Mutex::default(), progress };
    for folder in FOLDERS {
        transfer.folder(folder).await?;
    }
    Ok(transfer.done.into_inner().unwrap_or_else(PoisonError::into_inner))
}

impl<'a> Transfer<'a> {
    fn source(&self) -> Side<'a> {
        match self.to {
            Backend::Local => Side::Bucket(self.bucket),
            Backend::Bucket => Side::Local(self.local),
        }
    }

    fn destination(&self) -> Side<'a> {
        match self.to {
            Backend::Local => Side::Local(self.local),
            Backend::Bucket => Side::Bucket(self.bucket),
        }
    }

    async fn folder(&self, folder: &'static str) -> Result<(), Error> {
        let mut present = HashMap::new();
        let mut entries = self.destination().entries(folder);
        while let Some(Entry { key, withheld, bytes, md5, .. }) = entries.try_next().await? {
            present.insert(key.number(), Present { found: Found { bytes, md5 }, withheld });
        }
        let present = &present;
        let each = move |entry: Entry| async move {
            let found = present.get(&entry.key.number()).copied();
            self.file(entry, found).await
        };
        self.source().entries(folder).try_for_each_concurrent(COPIES, each).await
    }

    /// Moves one file.
    async fn file(&self, entry: Entry, present: Option<Present>) -> Result<(), Error> {
        let Entry { key, withheld, .. } = &entry;
        let there = present.filter(|present| present.found.bytes == entry.bytes);
        if let Some(there) = there {
            if there.withheld != *withheld {
                self.destination().place(key, *withheld).await?;
            }
            if !self.delete || self.same(&entry, there.found).await? {
                return self.end(&entry, |done| done.present += 1).await;
            }
        }
        match self.copy(&entry).await {
            Ok(()) => {}
            Err(Error::NotFound) => return self.vanished(key).await,
            Err(error) => return Err(error),
        }
        let copy = self.destination().find(key, *withheld).await?;
        let source = self.source().find(key, *withheld).await?;
        let Some((copy, source)) = copy.zip(source) else { return self.vanished(key).await };
        let md5 = copy.md5.or(source.md5);
        if copy.bytes != source.bytes || !self.same(&entry, Found { md5, ..copy }).await? {
            self.destination().delete(key, *withheld).await?;
            self.count(|done| done.differing += 1);
            return Ok(());
        }
        let bytes = entry.bytes;
        let copied = move |done: &mut Transferred| {
            done.copied += 1;
            done.copied_bytes += bytes;
        };
        self.end(&entry, copied).await
    }

    async fn copy(&self, Entry { key, withheld, bytes, .. }: &Entry) -> Result<(), Error> {
        match self.to {
            Backend::Bucket => {
                let path = self.local.path(key, *withheld);
                if !tokio::fs::try_exists(&path).await.map_err(disk_error)? {
                    return Err(Error::NotFound);
                }
                self.bucket.send(key, *withheld, &path).await
            }
            Backend::Local => {
                let opened = self.source().open(key, *withheld).await?;
                let path = self.scratch.join(format!("{:032x}", key.number()));
                side::write(opened, &path, *bytes).await?;
                self.local.adopt(key, *withheld, &path).await
            }
        }
    }

    /// Whether both places have the same content; `found` with the MD5 of the bucket, where it is known.
    async fn same(&self, Entry { key, withheld, .. }: &Entry, found: Found) -> Result<bool, Error> {
        let local = md5(Side::Local(self.local), key, *withheld).await;
        let bucket = match (&local, found.md5) {
            (Ok(local), Some(md5)) if md5 == *local => return Ok(true),
            // A different entity tag may still be of an encrypted object.
            _ => md5(Side::Bucket(self.bucket), key, *withheld).await,
        };
        match (local, bucket) {
            (Ok(local), Ok(bucket)) => Ok(local == bucket),
            (Err(Error::NotFound), _) | (_, Err(Error::NotFound)) => Ok(false),
            (Err(error), _) | (_, Err(error)) => Err(error),
        }
    }

    /// Ends with a file whose copy is whole: counts it, and deletes the source if that is wanted. The server may have
    /// deleted or withheld the source while it was copied.
    async fn end(&self, entry: &Entry, count: impl FnOnce(&mut Transferred)) -> Result<(), Error> {
        let Entry { key, withheld, .. } = entry;
        if self.source().find(key, *withheld).await?.is_none() {
            if self.source().find(key, !withheld).await?.is_none() {
                return self.vanished(key).await;
            }
            self.destination().place(key, !withheld).await?;
            self.count(count);
            return Ok(());
        }
        if self.delete {
            self.source().delete(key, *withheld).await?;
        }
        self.count(|done| {
            count(done);
            done.deleted += u64::from(self.delete);
        });
        Ok(())
    }

    /// Ends with a file that the server deleted meanwhile: a copy would stay for ever.
    async fn vanished(&self, key: &Key) -> Result<(), Error> {
        self.destination().delete(key, false).await?;
        self.destination().delete(key, true).await?;
        self.count(|done| done.vanished += 1);
        Ok(())
    }

    fn count(&self, count: impl FnOnce(&mut Transferred)) {
        let done = {
            let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
            count(&mut done);
            *done
        };
        (self.progress)(done);
    }
}

/// The MD5 of a stored file, which is read for it.
async fn md5(side: Side<'_>, key: &Key, withheld: bool) -> Result<[u8; 16], Error> {
    let mut pieces = side.open(key, withheld).await?.into_stream();
    let mut digest = Md5::new();
    while let Some(piece) = pieces.try_next().await.map_err(|error| side.failed(error))? {
        digest.update(&piece);
    }
    Ok(digest.finalize().into())
}
