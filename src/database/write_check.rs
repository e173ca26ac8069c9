//! Whether changes can be saved: a full disk is seen before a write fails, and the end of a fault by a trial.

use std::path::{Path, PathBuf};

use tokio::time::Instant;

use crate::fault::Fault;
use crate::{Db, Result, sql};

/// Free space below which the disk counts as full: the log may still have room for a small change when nothing else has.
const LEAST_ROOM_BYTES: u64 = 1 << 20;
/// Size of the row that is written to find out whether there is room again.
const TRIAL_BYTES: usize = 64 << 10;

impl Db {
    /// The fault that keeps changes from being saved, `None` when there is none. While there is one, a write is tried, at most
    /// once a second; when it succeeds the fault is over.
    pub async fn check_writing(&self) -> Option<Fault> {
        if self.folder().is_some_and(|folder| is_full(&folder)) {
            self.faults.set(Fault::Full, Instant::now());
            return Some(Fault::Full);
        }
        let fault = self.faults.current()?;
        if !self.faults.may_try() {
            return Some(fault);
        }
        match self.try_writing().await {
            Ok(()) => self.faults.clear(),
            // Noted where it happened.
            Err(error) => tracing::debug!(%error, "the database cannot be written yet"),
        }
        self.faults.current()
    }

    /// Commits a change that needs room, and leaves nothing behind.
    async fn try_writing(&self) -> Result<()> {
        let mut content = vec![0; TRIAL_BYTES];
        // Random, since PostgreSQL would compress anything else.
        crypto::fill_random(&mut content);
        let mut tx = self.begin().await?;
        tx.query(sql!("INSERT INTO write_trials (slot, content) VALUES (1, $1)")).bind(content).execute().await?;
        tx.query(sql!("DELETE FROM write_trials WHERE slot = 1")).execute().await?;
        tx.commit().await
    }

    /// The folder of a SQLite file.
    fn folder(&self) -> Option<PathBuf> {
        let file = self.file.as_deref()?;
        Some(file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned())
    }
}

/// True when the disk of `folder` has less room than any change needs. Unknown counts as room.
fn is_full(folder: &Path) -> bool {
    let Ok(disk) = rustix::fs::statvfs(folder) else { return false };
    // Some blocks are reserved for root.
    let blocks = if rustix::process::geteuid().is_root() { disk.f_bfree } else { disk.f_bavail };
    blocks.saturating_mul(disk.f_frsize) < LEAST_ROOM_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disk_without_room_counts_as_full() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(!is_full(folder.path()));
        assert!(!is_full(Path::new("/no/such/folder")), "unknown counts as room");
    }
}
