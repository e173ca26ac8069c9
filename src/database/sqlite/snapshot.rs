//! A copy of the database while a server writes to it: one consistent moment, by SQLite's backup interface.
//!
//! A copy of the file alone lacks what is still in the write-ahead log.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::{Error, Result};

/// Copies the database in the file `source` to the new file `target`; returns its size in bytes.
pub(super) fn copy(source: &Path, target: &Path) -> Result<u64> {
    let failed = |error: std::io::Error| Error::Url(format!("cannot be copied to {}: {error}", target.display()));
    if !source.exists() {
        return Err(Error::Url(format!("names {}, which does not exist", source.display())));
    }
    if target.exists() {
        return Err(failed(std::io::ErrorKind::AlreadyExists.into()));
    }
    let unfinished = Unfinished(target.with_extension("unfinished"));
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished.0).map_err(failed)?;
    fill(source, &unfinished.0)?;
    fs::File::open(&unfinished.0).and_then(|file| file.sync_all()).map_err(failed)?;
    // Unlike a rename, it does not replace a file that was made meanwhile.
    fs::hard_link(&unfinished.0, target).map_err(failed)?;
    Ok(fs::metadata(target).map_err(failed)?.len())
}

/// A file that is deleted when it is dropped.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn fill(source: &Path, target: &Path) -> Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let from = Connection::open_with_flags(source, flags)?;
    from.busy_timeout(std::time::Duration::from_secs(30))?;
    let mut to = Connection::open_with_flags(target, flags)?;
    // In one step: a backup in several begins anew after every change of another connection.
    let done = Backup::new(&from, &mut to)?.step(-1)?;
    if done != StepResult::Done {
        return Err(Error::Url("is busy: try again".into()));
    }
    let checked: String = to.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    // A copy is a single file: without a write-ahead log of its own.
    to.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
    if checked == "ok" { Ok(()) } else { Err(Error::Url(format!("was copied, and the copy is damaged: {checked}"))) }
}
