//! The folder of stored files on this machine.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use futures_util::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};
use object_store::local::LocalFileSystem;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::entry::Entry;
use super::error::{Error, disk_error};
use super::key::{Key, WITHHELD};
use crate::scratch;

/// The folder, with a subfolder for each kind of file.
#[derive(Debug)]
pub(super) struct Local {
    pub(super) files: LocalFileSystem,
    root: PathBuf,
}

impl Local {
    /// Opens the directory `root`, which must exist.
    pub(super) fn open(root: &Path) -> Result<Self, Error> {
        Ok(Self { files: LocalFileSystem::new_with_prefix(root)?.with_fsync(true), root: root.to_owned() })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Locks the folder for a process that moves all files, until the result is dropped.
    ///
    /// # Errors
    /// [`Error::Busy`] while another process holds the lock.
    pub(super) fn lock(&self) -> Result<fs::File, Error> {
        let folder = fs::File::open(&self.root).map_err(disk_error)?;
        match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(folder),
            Err(Errno::WOULDBLOCK) => Err(Error::Busy),
            Err(error) => Err(disk_error(error.into())),
        }
    }

    /// Where the file is, if it exists; that of a withheld file is below the folder [`WITHHELD`].
    pub(super) fn path(&self, key: &Key, withheld: bool) -> PathBuf {
        let root = if withheld { self.root.join(WITHHELD) } else { self.root.clone() };
        root.join(key.as_str())
    }

    /// Moves the file at `from`, on the same disk, to its place: it is there whole or not at all, also after a crash.
    pub(super) async fn adopt(&self, key: &Key, withheld: bool, from: &Path) -> Result<(), Error> {
        let (from, to) = (from.to_owned(), self.path(key, withheld));
        on_the_disk(move || scratch::adopt(&from, &to)).await
    }

    /// Every stored file of `folder`, withheld ones included. Files without a key are left out.
    pub(super) fn entries(&self, folder: &'static str) -> BoxStream<'_, Result<Entry, Error>> {
        let shards = [false, true].into_iter().flat_map(|withheld| (0..=u8::MAX).map(move |shard| (withheld, shard)));
        stream::iter(shards)
            .then(move |(withheld, shard)| {
                let root = if withheld { self.root.join(WITHHELD) } else { self.root.clone() };
                on_the_disk(move || list(&root, folder, shard, withheld))
            })
            .map_ok(|entries| stream::iter(entries.into_iter().map(Ok)))
            .try_flatten()
            .boxed()
    }
}

/// The files of `folder` whose random part begins with `shard`.
fn list(root: &Path, folder: &str, shard: u8, withheld: bool) -> io::Result<Vec<Entry>> {
    let mut found = Vec::new();
    for second in entries(&root.join(folder).join(format!("{shard:02x}")))? {
        for file in entries(&second?.path())? {
            let path = file?.path();
            let key: Option<Key> =
                path.strip_prefix(root).ok().and_then(Path::to_str).and_then(|text| text.parse().ok());
            // A file may be deleted meanwhile.
            if let (Some(key), Ok(metadata)) = (key, path.metadata()) {
                let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                found.push(Entry { key, withheld, bytes: metadata.len(), modified, md5: None });
            }
        }
    }
    Ok(found)
}

/// The entries of a folder; none when there is no such folder.
fn entries(folder: &Path) -> io::Result<impl Iterator<Item = io::Result<fs::DirEntry>>> {
    match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None::<fs::ReadDir>.into_iter().flatten())
        }
        entries => Ok(Some(entries?).into_iter().flatten()),
    }
}

/// Does `work` on a thread that may wait for the disk.
pub(super) async fn on_the_disk<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(work).await.map_err(|error| disk_error(error.into()))?;
    done.map_err(disk_error)
}
