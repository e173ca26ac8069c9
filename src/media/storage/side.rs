//! One of the places of stored files: what the folder and the bucket have in common.

use std::ops::Range;
use std::path::Path;

use bytes::Bytes;
use futures_util::stream::{BoxStream, TryStreamExt as _};
use object_store::{GetResult, ObjectStore, ObjectStoreExt as _, path};
use tokio::fs::File;
use tokio::io::AsyncWriteExt as _;

use super::bucket::{Bucket, md5_of_tag};
use super::entry::Entry;
use super::error::{Error, disk_error};
use super::key::{Key, WITHHELD};
use super::local::Local;

/// A place of stored files.
#[derive(Clone, Copy, Debug)]
pub(super) enum Side<'a> {
    Local(&'a Local),
    Bucket(&'a Bucket),
}

/// A stored file that was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) bytes: u64,
    /// Known without reading the file.
    pub(super) md5: Option<[u8; 16]>,
}

impl<'a> Side<'a> {
    fn store(self) -> &'a dyn ObjectStore {
        match self {
            Self::Local(local) => &local.files,
            Self::Bucket(bucket) => &bucket.objects,
        }
    }

    fn path(self, key: &Key, withheld: bool) -> path::Path {
        match self {
            Self::Local(_) if withheld => path::Path::from(format!("{WITHHELD}/{key}")),
            Self::Local(_) => path::Path::from(key.as_str()),
            Self::Bucket(bucket) => bucket.path(key, withheld),
        }
    }

    pub(super) fn failed(self, error: object_store::Error) -> Error {
        match self {
            Self::Local(_) => error.into(),
            Self::Bucket(_) => Error::of_bucket(error),
        }
    }

    pub(super) fn entries(self, folder: &'static str) -> BoxStream<'a, Result<Entry, Error>> {
        match self {
            Self::Local(local) => local.entries(folder),
            Self::Bucket(bucket) => bucket.entries(folder),
        }
    }

    pub(super) async fn put(self, key: &Key, bytes: Bytes) -> Result<(), Error> {
        match self {
            Self::Local(local) => Ok(local.files.put(&self.path(key, false), bytes.into()).await.map(drop)?),
            Self::Bucket(bucket) => bucket.put(key, false, bytes).await,
        }
    }

    /// Moves a file out of reach of its key, or back; that it is not where it was is no error.
    pub(super) async fn place(self, key: &Key, withheld: bool) -> Result<(), Error> {
        let (from, to) = (self.path(key, !withheld), self.path(key, withheld));
        // In a bucket a copy and a deletion.
        gone_is_fine(self.store().rename(&from, &to).await.map_err(|error| self.failed(error)))
    }

    pub(super) async fn open(self, key: &Key, withheld: bool) -> Result<GetResult, Error> {
        self.store().get(&self.path(key, withheld)).await.map_err(|error| self.failed(error))
    }

    /// Reads a range of a file that is not withheld.
    pub(super) async fn read(self, key: &Key, range: Range<u64>) -> Result<Bytes, Error> {
        self.store().get_range(&self.path(key, false), range).await.map_err(|error| self.failed(error))
    }

    pub(super) async fn find(self, key: &Key, withheld: bool) -> Result<Option<Found>, Error> {
        match self.store().head(&self.path(key, withheld)).await.map_err(|error| self.failed(error)) {
            Ok(meta) => {
                let md5 = match self {
                    Self::Local(_) => None,
                    Self::Bucket(_) => meta.e_tag.as_deref().and_then(md5_of_tag),
                };
                Ok(Some(Found { bytes: meta.size, md5 }))
            }
            Err(Error::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn delete(self, key: &Key, withheld: bool) -> Result<(), Error> {
        gone_is_fine(self.store().delete(&self.path(key, withheld)).await.map_err(|error| self.failed(error)))
    }
}

fn gone_is_fine(done: Result<(), Error>) -> Result<(), Error> {
    match done {
        Err(Error::NotFound) => Ok(()),
        done => done,
    }
}

/// Writes an open file to `path`, piece by piece.
///
/// # Errors
/// [`Error::TooLarge`] when it has more than `max_bytes`.
pub(super) async fn write(opened: GetResult, path: &Path, max_bytes: u64) -> Result<(), Error> {
    if opened.meta.size > max_bytes {
        return Err(Error::TooLarge(opened.meta.size));
    }
    let mut file = File::create_new(path).await.map_err(disk_error)?;
    let mut stream = opened.into_stream();
    while let Some(piece) = stream.try_next().await.map_err(Error::of_bucket)? {
        file.write_all(&piece).await.map_err(disk_error)?;
    }
    file.flush().await.map_err(disk_error)
}

/// Writes, reads, lists and deletes an object.
pub(super) async fn probe(bucket: &Bucket, name: &str) -> Result<(), Error> {
    let (objects, path) = (&bucket.objects, bucket.probe(name));
    let failed = Error::of_bucket;
    objects.put(&path, Bytes::from_static(b"probe").into()).await.map_err(failed)?;
    let checked = async {
        objects.get(&path).await.map_err(failed)?.bytes().await.map_err(failed)?;
        objects.list(Some(&path)).try_next().await.map_err(failed)
    };
    let checked = checked.await;
    objects.delete(&path).await.map_err(failed)?;
    checked.map(drop)
}
