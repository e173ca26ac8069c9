//! Returns unused pages of the file to the file system (`auto_vacuum = incremental`).
//!
//! Reached from the hourly clean-up, through [`Db`](crate::Db). A file that was created without that setting keeps
//! its pages.

use super::Sqlite;
use super::connection::Wanted;
use crate::Result;

/// Unused pages that the file keeps for later writes: 4 MiB.
const KEPT: i64 = 1024;

/// Most pages per transaction, since others wait for it: one MiB, which takes some milliseconds.
const STEP: i64 = 256;

impl Sqlite {
    /// Returns the next pages to the file system, in a separate transaction; true when there are more.
    pub(crate) async fn release_pages(&self) -> Result<bool> {
        let mut tx = self.writer.begin().await?;
        let unused: Vec<(i64,)> = tx.fetch_made("PRAGMA freelist_count", &[], Wanted::First)?;
        let spare = unused.first().map_or(0, |(pages,)| pages - KEPT);
        if spare <= 0 {
            return Ok(false);
        }
        tx.execute(&format!("PRAGMA incremental_vacuum({})", spare.min(STEP)), &[])?;
        tx.commit().await?;
        Ok(spare > STEP)
    }
}
