//! Job: deletes the row and files of an upload that is not attached to a status and not named by a saved draft, a day
//! after its last change.
//!
//! Queued before the files are written and when media is detached from a status, so that neither a crash between
//! writing a file and its row, nor a deleted status, nor a replaced thumbnail leaves orphaned files.

use super::UNATTACHED_TTL;
use context::Cx;
use context::job;
use context::queue::{self, Done, Failure, PurgeMedia};
use store::job::Claim;

#[model::use_case]
#[job]
async fn purge_media(cx: &Cx, job: PurgeMedia, claim: Claim) -> Result<Done, Failure> {
    let mut files = job.files.clone();
    let mut tx = cx.db.begin().await?;
    // Locked, so that no draft begins to name it meanwhile.
    let media = store::media::lock(&mut tx, job.media).await?;
    if let Some(media) = media {
        let due = media.updated_at + UNATTACHED_TTL;
        if media.is_used() || store::saved_draft::has_media(&mut tx, media.id).await? {
            // A draft queues another job when it no longer names it.
            drop(tx);
            let orphaned: Vec<String> = job.files.into_iter().filter(|file| !media.has_file(file)).collect();
            remove(cx, &not_held(cx, orphaned).await?).await?;
            return Ok(Done::Remove);
        }
        if due > cx.clock.now() {
            // Its owner changed it meanwhile, which extends its lifetime.
            queue::enqueue_at(cx, &mut tx, &job, due).await?;
            queue::finish(&mut tx, claim).await?;
            tx.commit().await?;
            return Ok(Done::Removed);
        }
        if !store::media::delete_loose(&mut tx, job.media).await? {
            return Ok(Done::Remove);
        }
        // Its preview may have been replaced. After a kill behind the commit, the job of the replacement deletes the
        // previous one.
        files.extend([media.file, media.preview].into_iter().flatten());
    }
    tx.commit().await?;
    // A file that cannot be deleted is retried: the row is deleted, but this job remains.
    remove(cx, &not_held(cx, files).await?).await?;
    Ok(Done::Remove)
}

/// The files that no deleted status holds for the staff.
async fn not_held(cx: &Cx, mut files: Vec<String>) -> Result<Vec<String>, Failure> {
    if !files.is_empty() {
        let held = store::held_status::list_files(&cx.db, &files).await.map_err(context::Error::from)?;
        files.retain(|file| !held.contains(file));
    }
    Ok(files)
}

/// Deletes files by their storage keys; a missing file is not an error.
///
/// # Errors
/// [`Failure::Retry`] when the storage is unavailable.
pub(crate) async fn remove(cx: &Cx, files: &[String]) -> Result<(), Failure> {
    for file in files {
        // A string that is not a storage key cannot be one of our files.
        let Ok(key) = file.parse() else { continue };
        cx.storage.delete(&key).await.map_err(|error| Failure::Retry(error.to_string()))?;
    }
    Ok(())
}
