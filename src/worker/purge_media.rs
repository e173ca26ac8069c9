//! Job: deletes an upload that is on no status, row and files, a day after its last change.
//!
//! Queued before the files are written and when media is detached from a status, so neither a crash between file and
//! row nor a deleted status leaves orphaned files, nor does a thumbnail that was replaced.

use super::Run;
use context::Cx;
use context::queue::{self, Done, Failure, PurgeMedia};
use service::media::UNATTACHED_TTL;
use store::job::Claim;

impl Run for PurgeMedia {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        let mut files = self.files.clone();
        let mut tx = cx.db.begin().await?;
        let media = store::media::find(&mut tx, self.media).await?;
        if let Some(media) = media {
            let due = media.updated_at + UNATTACHED_TTL;
            if media.is_used() {
                drop(tx);
                let orphaned: Vec<String> = self.files.into_iter().filter(|file| !media.has_file(file)).collect();
                remove(cx, &orphaned).await?;
                return Ok(Done::Remove);
            }
            if due > cx.clock.now() {
                // Its owner changed it meanwhile, which prolongs its life.
                queue::enqueue_at(cx, &mut tx, &self, due).await?;
                queue::finish(&mut tx, claim).await?;
                tx.commit().await?;
                return Ok(Done::Removed);
            }
            if !store::media::delete_loose(&mut tx, self.media).await? {
                return Ok(Done::Remove);
            }
            // Its preview may be another by now. A kill after the commit leaves that to the job of when it was replaced.
            files.extend([media.file, media.preview].into_iter().flatten());
        }
        tx.commit().await?;
        // A file that cannot be deleted is retried: the row is gone, but this job remains.
        remove(cx, &files).await?;
        Ok(Done::Remove)
    }
}

/// Deletes files by their storage keys; a missing file is no error.
///
/// # Errors
/// [`Failure::Retry`] when the storage is unavailable.
pub(super) async fn remove(cx: &Cx, files: &[String]) -> Result<(), Failure> {
    for file in files {
        // A string that is not a storage key cannot be one of our files.
        let Ok(key) = file.parse() else { continue };
        cx.storage.delete(&key).await.map_err(|error| Failure::Retry(error.to_string()))?;
    }
    Ok(())
}
