//! Job: deletes avatar and header files that the profile does not show (any more).

use super::Run;
use super::purge_media::remove;
use context::Cx;
use context::queue::{Done, Failure, PurgeProfileImages};
use store::job::Claim;

impl Run for PurgeProfileImages {
    async fn run(self, cx: &Cx, _: Claim) -> Result<Done, Failure> {
        let account = store::account::find(&cx.db, self.account).await?;
        let shown: Vec<String> = account.map_or_else(Vec::new, |account| {
            let files = [account.avatar, account.avatar_static, account.header, account.header_static];
            files.into_iter().flatten().collect()
        });
        let unused: Vec<String> = self.files.into_iter().filter(|file| !shown.contains(file)).collect();
        remove(cx, &unused).await?;
        Ok(Done::Remove)
    }
}
