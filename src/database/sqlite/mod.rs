//! SQLite as a library: statements run on the calling thread, without a thread switch between a statement and its
//! rows.
//!
//! Reached from [`db`](crate::db) and [`query`](crate::query) alone. Reads take a [connection] from a
//! [pool](readers); a statement that does not end within a time slice is interrupted and run again on a blocking
//! thread. Changes go through the one [writer], for which transactions queue; a commit writes to the write-ahead log,
//! and its caller then waits for the [sync](log_sync) of that file, which many commits share. Plugins' statements are
//! confined in [`confined`](crate::confined), on the writer and on separate connections.

mod columns;
pub(crate) mod connection;
mod log_sync;
pub(crate) mod readers;
mod snapshot;
mod stream;
#[cfg(test)]
mod tests;
mod vacuum;
pub(crate) mod writer;
mod writer_lock;

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::OpenFlags;

use crate::versions::Versions;
use crate::{Error, Options, PoolStats, Result};

pub(crate) use columns::BorrowedRow;
pub(crate) use connection::Connection;
pub(crate) use readers::Readers;
pub(crate) use writer::{Transaction, Writer};
pub(crate) use writer_lock::HeldSince;

/// The connections to one database file.
#[derive(Debug)]
pub(crate) struct Sqlite {
    pub(crate) readers: Arc<Readers>,
    pub(crate) writer: Writer,
    pub(crate) versions: Arc<Versions>,
}

impl Sqlite {
    /// Opens the database of `options`, creating the file and its folder when missing.
    pub(crate) async fn open(options: &Options) -> Result<Self> {
        let (file, timeout) = (file_of(&options.url)?, options.acquire_timeout);
        let versions = Arc::new(Versions::default());
        let (opening, touching) = (file.clone(), Arc::clone(&versions));
        let writer = blocking(move || {
            create(&opening)?;
            Writer::open(&opening, timeout, touching)
        })
        .await?;
        let readers = Arc::new(Readers::new(&file, options.max_connections, timeout));
        Ok(Self { readers, writer, versions })
    }

    /// Waits for running statements and closes every connection; the last one checkpoints the write-ahead log.
    pub(crate) async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }

    pub(crate) fn stats(&self) -> PoolStats {
        self.readers.stats()
    }
}

/// Copies the database of the `sqlite:` URL `url` to the new file `target`, which only this user may read, and checks the
/// copy. Returns its size in bytes. Takes as long as reading and writing the whole file; writers do not wait for it.
///
/// # Errors
/// [`Error::Url`] for another engine, when there is no database, and when `target` exists or cannot be written: no file
/// is left then. [`Error::Sql`] when the database cannot be read, or the copy is damaged.
pub async fn snapshot(url: &str, target: &Path) -> Result<u64> {
    if !url.starts_with("sqlite:") {
        return Err(Error::Url("is not of SQLite: use pg_dump for PostgreSQL".into()));
    }
    let (source, target) = (file_of(url)?, target.to_owned());
    blocking(move || snapshot::copy(&source, &target)).await
}

/// Runs `work` on a thread that may block.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(Error::Sql(sqlx::Error::Io(error.into()))),
    }
}

/// The file of a `sqlite:` URL, percent-decoded, without parameters.
pub(crate) fn file_of(url: &str) -> Result<PathBuf> {
    let path = url.trim_start_matches("sqlite:").trim_start_matches("//");
    let path = path.split('?').next().unwrap_or_default();
    let path = percent_encoding::percent_decode_str(path).decode_utf8();
    match path {
        Ok(path) if !path.is_empty() && path != ":memory:" => Ok(PathBuf::from(&*path)),
        Ok(_) => Err(Error::Url("names no file".into())),
        Err(_) => Err(Error::Url("is not UTF-8".into())),
    }
}

/// The file of a `sqlite:` URL that does not exist; `None` when it does, and for another engine.
#[must_use]
pub fn missing_file(url: &str) -> Option<PathBuf> {
    let file = url.starts_with("sqlite:").then(|| file_of(url).ok()).flatten()?;
    (!file.exists()).then_some(file)
}

/// Creates the file and its folder when missing, with access for this user alone; SQLite gives its log and index the
/// same mode. A file from an earlier version that others may read becomes private.
fn create(file: &Path) -> Result<()> {
    let failed = |error: std::io::Error| Error::Url(format!("cannot create {}: {error}", file.display()));
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    }
    refuse_links(file).map_err(failed)?;
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(file).map_err(failed)?;
    for end in ["", "-wal", "-shm"] {
        let mut path = file.as_os_str().to_owned();
        path.push(end);
        let Ok(metadata) = fs::metadata(&path) else { continue };
        let mode = metadata.permissions().mode();
        if mode & 0o007 != 0 {
            fs::set_permissions(&path, Permissions::from_mode(mode & 0o770)).map_err(failed)?;
        }
    }
    Ok(())
}

/// Rejects symbolic links in place of the file and its log, for root: the owner of the folder could have created
/// them.
fn refuse_links(file: &Path) -> std::io::Result<()> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    for end in ["", "-wal", "-shm"] {
        let mut path = file.as_os_str().to_owned();
        path.push(end);
        let link = fs::symlink_metadata(&path).ok().filter(|found| found.is_symlink() && found.uid() != 0);
        if link.is_some() {
            let path = Path::new(&path).display();
            return Err(std::io::Error::other(format!("{path} is a link that root did not make: it is not followed")));
        }
    }
    Ok(())
}

/// The open flags of a read connection. It has one user at a time, so it needs no mutex.
pub(crate) const READING: OpenFlags = OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);
