//! One server for each SQLite database: its caches know nothing of changes that another server makes.
//!
//! `rookery serve` holds a lock (`flock`) on a file beside the database for as long as it runs, and writes its process id into
//! it. Commands take no lock: they go on working beside a server. On PostgreSQL any number of servers share a database.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use config::Config;
use context::{Error, Result};

/// The suffix of the lock file's name after the name of the database.
const SUFFIX: &str = "-server";

/// The lock, held until this is dropped. The file stays: deleting it would let two servers lock two files of one name.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// Takes the lock for the database of `config`; `None` on PostgreSQL, and where the file system has no locks.
///
/// # Errors
/// When another server holds it, or the file cannot be made.
pub(crate) fn take(config: &Config) -> Result<Option<Lock>> {
    let Some(database) = database::db::sqlite_file(config.database.url.expose())? else { return Ok(None) };
    take_beside(&database)
}

fn take_beside(database: &Path) -> Result<Option<Lock>> {
    let path = beside(database);
    let failed = |error: io::Error| Error::internal(format!("cannot make {}: {error}", path.display()));
    let mut file = open(&path).map_err(failed)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return Err(taken(&mut file, database)),
        Err(error) => {
            tracing::warn!(
                "a second server on this database will not be noticed: {} cannot be locked: {error}",
                path.display()
            );
            return Ok(None);
        }
    }
    // For the sentence that a second server prints; the lock holds without it, on a full disk too.
    if let Err(error) = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())) {
        tracing::warn!(%error, "could not write the process id into {}", path.display());
    }
    Ok(Some(Lock { _file: file }))
}

fn beside(database: &Path) -> PathBuf {
    let mut path = OsString::from(database);
    path.push(SUFFIX);
    path.into()
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn taken(file: &mut File, database: &Path) -> Error {
    let mut text = String::new();
    let pid = file.read_to_string(&mut text).ok().and_then(|_| text.trim().parse::<u32>().ok());
    let holder = pid.map_or_else(|| "another server".to_owned(), |pid| format!("another server (process {pid})"));
    Error::internal(format!(
        "{holder} serves the database {} already: stop it, or give this server another database (database.url)",
        database.display()
    ))
}
