//! Checks whether changes can be saved: detects a full disk before a write fails, and the end of a fault by a trial
//! write.

use std::path::{Path, PathBuf};

use tokio::time::Instant;

use crate::fault::Fault;
use crate::{Db, Result, sql};

/// Free space below which the disk counts as full: the log may have space for a small change although other files do
/// not.
const LEAST_ROOM_BYTES: u64 = 1 << 20;
/// Size of the trial row.
const TRIAL_BYTES: usize = 64 << 10;

impl Db {
    /// The fault that prevents saving changes, `None` when there is none. During a fault a write is tried, at most
    /// once a second; when it succeeds the fault ends.
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
            // Already recorded by the failed statement.
            Err(error) => tracing::debug!(%error, "the database cannot be written yet"),
        }
        self.faults.current()
    }

    /// Commits a change that needs space, and removes it again.
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

/// True when the disk of `folder` has less space than any change needs. Unknown counts as space.
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
