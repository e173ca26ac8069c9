//! Temporary files: uploads while they arrive, and the output of `ffmpeg`.
//!
//! They are in the folder `tmp` beside the stored files, so that storing one is a move. Each process has a folder there
//! and holds a lock on it; the folder of a killed process can be locked by others, and [`sweep`] deletes it.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

/// The folder of all processes.
const FOLDER: &str = "tmp";

/// The folder of this process.
#[derive(Debug)]
pub(super) struct Workshop {
    folder: TempDir,
    /// Held for as long as it is open.
    _lock: File,
}

impl Workshop {
    /// Makes and locks a folder below `root`.
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        fs::create_dir_all(root.join(FOLDER))?;
        let folder = TempDir::new_in(root.join(FOLDER))?;
        let lock = File::open(folder.path())?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self { folder, _lock: lock })
    }

    /// A new folder in it.
    pub(super) fn folder(&self) -> io::Result<TempDir> {
        TempDir::new_in(self.folder.path())
    }
}

/// Deletes the folders below `root` of ended processes; returns their number.
pub(super) fn sweep(root: &Path) -> io::Result<usize> {
    let entries = match fs::read_dir(root.join(FOLDER)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    let mut deleted = 0;
    for entry in entries {
        let path = entry?.path();
        let Ok(folder) = File::open(&path) else { continue };
        if flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok() {
            fs::remove_dir_all(&path)?;
            deleted += 1;
        }
    }
    Ok(deleted)
}

/// Moves a file to `to`, so that it is there whole or not at all, also after a crash.
pub(super) fn adopt(from: &Path, to: &Path) -> io::Result<()> {
    File::open(from)?.sync_all()?;
    let folder = to.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::create_dir_all(folder)?;
    fs::rename(from, to)?;
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweep_deletes_unlocked_folders() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(sweep(root.path()).unwrap(), 0);
        let workshop = Workshop::open(root.path()).unwrap();
        let folder = workshop.folder().unwrap();
        let left = root.path().join(FOLDER).join("left");
        fs::create_dir(&left).unwrap();
        fs::write(left.join("file"), b"x").unwrap();

        assert_eq!(sweep(root.path()).unwrap(), 1);
        assert!(folder.path().exists() && !left.exists());
    }
}
