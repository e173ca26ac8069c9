//! Removes files of a profile's pictures that the profile does not show (any more).

use serde::{Deserialize, Serialize};

use super::purge_media::remove;
use super::{Done, Failure, Job};
use crate::app::App;
use model::job::Lane;
use model::{AccountId, JobId};

/// Removes those among `files` that are not the account's pictures by now.
#[derive(Debug, Serialize, Deserialize)]
pub struct PurgeProfileImages {
    /// Whose.
    pub account: AccountId,
    /// Storage keys.
    pub files: Vec<String>,
}

impl Job for PurgeProfileImages {
    const KIND: &'static str = "purge_profile_images";
    const LANE: Lane = Lane::Background;

    async fn run(self, app: &App, _: JobId) -> Result<Done, Failure> {
        let account = store::account::find(&app.db, self.account).await?;
        let shown: Vec<String> = account.map_or_else(Vec::new, |account| {
            let files = [account.avatar, account.avatar_static, account.header, account.header_static];
            files.into_iter().flatten().collect()
        });
        let unused: Vec<String> = self.files.into_iter().filter(|file| !shown.contains(file)).collect();
        remove(app, &unused).await?;
        Ok(Done::Remove)
    }
}
