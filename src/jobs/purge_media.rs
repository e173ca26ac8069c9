//! Removes an upload that nobody posted, row and files, a day after it was last of use.
//!
//! Queued before the files are written and when a status lets go of its media: so a crash between a file and its row,
//! or after a status was deleted, leaves nothing behind.

use serde::{Deserialize, Serialize};

use super::{Done, Failure, Job};
use crate::app::App;
use crate::service::media::LOOSE_FOR;
use model::job::Lane;
use model::{JobId, MediaId};

/// Removes an attachment that is on no status by now, and its files; also when there is no row of it at all.
#[derive(Debug, Serialize, Deserialize)]
pub struct PurgeMedia {
    /// Which.
    pub media: MediaId,
    /// Its storage keys.
    pub files: Vec<String>,
}

impl Job for PurgeMedia {
    const KIND: &'static str = "purge_media";
    const LANE: Lane = Lane::Background;

    async fn run(self, app: &App, _: JobId) -> Result<Done, Failure> {
        let mut tx = app.db.begin().await?;
        let media = store::media::find(&mut tx, self.media).await?;
        if let Some(media) = media {
            let due = media.updated_at + LOOSE_FOR;
            if media.status_id.is_some() {
                return Ok(Done::Remove);
            }
            if due > app.clock.now() {
                // Its owner was at it meanwhile.
                super::enqueue_at(app, &mut tx, &self, due).await?;
                tx.commit().await?;
                return Ok(Done::Remove);
            }
            if !store::media::delete_loose(&mut tx, self.media).await? {
                return Ok(Done::Remove);
            }
        }
        tx.commit().await?;
        // A file whose removal fails is tried again: the row is gone, and this job remains.
        remove(app, &self.files).await?;
        Ok(Done::Remove)
    }
}

/// Removes files by their storage keys; one that is gone already is no error.
///
/// # Errors
/// When the storage does not answer.
pub(super) async fn remove(app: &App, files: &[String]) -> Result<(), Failure> {
    for file in files {
        // What is no key was never a file of ours.
        let Ok(key) = file.parse() else { continue };
        app.storage.delete(&key).await.map_err(|error| Failure::Retry(error.to_string()))?;
    }
    Ok(())
}
