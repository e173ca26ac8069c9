//! The stored files as a whole: their size, and the deletion of orphaned files.
//!
//! Reached from `rookery media`. Jobs delete files with their attachments; [`prune`] finds files left by a lost
//! database, a restored backup or rows deleted by hand.

use std::collections::HashSet;
use std::time::SystemTime;

use chrono::Duration;

use context::Cx;
use context::error::{Error, Result};
use media::Stored;
use media::storage::Key;
use model::MediaId;
use store::media::KindUsage;

/// Minimum age of a file before it counts as orphaned: twice the time that an upload may wait for its row.
const LEFT_AFTER: Duration = Duration::days(2);

/// Attachments read at a time.
const BATCH: i64 = 1_000;

/// Stored media: attachments by kind, and files by folder.
///
/// # Errors
/// When the database or the disk fails.
#[model::use_case]
pub async fn usage(cx: &Cx) -> Result<(Vec<KindUsage>, Vec<Stored>)> {
    let stored = cx.storage.usage().await.map_err(Error::internal)?;
    Ok((store::media::usage(&cx.db).await?, stored))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PruneReport {
    pub files: u64,
    pub bytes: u64,
}

/// Deletes attachment files without a row that are older than two days.
///
/// # Errors
/// When the database or the disk fails. Some files may have been deleted already.
#[model::use_case]
pub async fn prune(cx: &Cx) -> Result<PruneReport> {
    let before = SystemTime::from(*(cx.clock.now() - LEFT_AFTER));
    // A file gets its row within a day, so an older file already has it or never will.
    let strays = cx.storage.strays(known_files(cx).await?, before).await.map_err(Error::internal)?;
    let mut report = PruneReport { files: 0, bytes: 0 };
    for (key, bytes) in strays {
        cx.storage.delete(&key).await.map_err(Error::internal)?;
        report.files += 1;
        report.bytes += bytes;
    }
    Ok(report)
}

/// The numbers of the files of all attachments, and of those that are held for the staff, at 16 bytes of memory each.
async fn known_files(cx: &Cx) -> Result<HashSet<u128>> {
    let (mut known, mut after) = (HashSet::new(), MediaId::from(0));
    let mut last = String::new();
    loop {
        let held = store::held_status::page_of_files(&cx.db, &last, BATCH).await?;
        known.extend(held.iter().filter_map(|file| file.parse().ok()).map(|key: Key| key.number()));
        match held.into_iter().next_back() {
            Some(file) => last = file,
            None => break,
        }
    }
    loop {
        let batch = store::media::list_files(&cx.db, after, BATCH).await?;
        let Some(last) = batch.last() else { return Ok(known) };
        after = last.id;
        let files = batch.into_iter().flat_map(|media| [media.file, media.preview]).flatten();
        known.extend(files.filter_map(|file| file.parse().ok()).map(|key: Key| key.number()));
    }
}
