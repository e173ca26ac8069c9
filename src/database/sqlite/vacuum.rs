//! Giving unused pages of the file back to the file system (`auto_vacuum = incremental`).
//!
//! Reached from the hourly clean-up, through [`Db`](crate::Db). A file that was made without that setting keeps its pages.

use super::Sqlite;
use super::connection::Wanted;
use crate::Result;

/// Unused pages that the file keeps for what is written next: 4 MiB.
const KEPT: i64 = 1024;

/// Most pages of a transaction, since others wait for it meanwhile: a mebibyte, some milliseconds.
const STEP: i64 = 256;

impl Sqlite {
    /// Gives the next pages back, in a transaction of their own; true when there are more.
    pub(crate) async fn release_pages(&self) -> Result<bool> {
        let mut tx = self.writer.begin().await?;
        let unused: Vec<(i64,)> = tx.fetch("PRAGMA freelist_count", &[], Wanted::First)?;
        let spare = unused.first().map_or(0, |(pages,)| pages - KEPT);
        if spare <= 0 {
            return Ok(false);
        }
        tx.execute(&format!("PRAGMA incremental_vacuum({})", spare.min(STEP)), &[])?;
        tx.commit().await?;
        Ok(spare > STEP)
    }
}
