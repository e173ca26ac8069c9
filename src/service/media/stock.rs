//! The stored files as a whole: what they take up, and deleting what belongs to nothing.
//!
//! Reached from `rookery media`. Files are deleted with their attachments, by jobs; what [`prune`] finds was left by a lost
//! database, a restored backup or a hand that deleted rows.

use std::collections::HashSet;
use std::time::SystemTime;

use chrono::Duration;

use context::Cx;
use context::error::{Error, Result};
use media::Stored;
use media::storage::Key;
use model::MediaId;
use store::media::KindUsage;

/// How old a file is before it may be called left: twice as old as an upload becomes that is waiting for its row.
const LEFT_AFTER: Duration = Duration::days(2);

/// Attachments read at a time.
const BATCH: i64 = 1_000;

/// What is stored: attachments by kind, and files by folder.
///
/// # Errors
/// When the database or the disk fails.
#[model::use_case]
pub async fn usage(cx: &Cx) -> Result<(Vec<KindUsage>, Vec<Stored>)> {
    let stored = cx.storage.usage().await.map_err(Error::internal)?;
    Ok((store::media::usage(&cx.db).await?, stored))
}

/// What [`prune`] deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PruneReport {
    pub files: u64,
    pub bytes: u64,
}

/// Deletes files of attachments that no attachment has and that are older than two days.
///
/// # Errors
/// When the database or the disk fails; files may have been deleted by then.
#[model::use_case]
pub async fn prune(cx: &Cx) -> Result<PruneReport> {
    let before = SystemTime::from(*(cx.clock.now() - LEFT_AFTER));
    // A file gets its row within a day, so that one which is older has it by now or never.
    let strays = cx.storage.strays(known_files(cx).await?, before).await.map_err(Error::internal)?;
    let mut report = PruneReport { files: 0, bytes: 0 };
    for (key, bytes) in strays {
        cx.storage.delete(&key).await.map_err(Error::internal)?;
        report.files += 1;
        report.bytes += bytes;
    }
    Ok(report)
}

/// The numbers of all files that attachments have, and 16 bytes of memory for each.
async fn known_files(cx: &Cx) -> Result<HashSet<u128>> {
    let (mut known, mut after) = (HashSet::new(), MediaId::from(0));
    loop {
        let batch = store::media::list_files(&cx.db, after, BATCH).await?;
        let Some(last) = batch.last() else { return Ok(known) };
        after = last.id;
        let files = batch.into_iter().flat_map(|media| [media.file, media.preview]).flatten();
        known.extend(files.filter_map(|file| file.parse().ok()).map(|key: Key| key.number()));
    }
}
