//! Job: seals the signing keys that an earlier version stored in clear, in batches (`service::signing_key`).

use super::Run;
use rookery_core::Cx;
use rookery_core::queue::{Done, Failure, SealKeys, enqueue, finish};
use rookery_core::service::signing_key;
use store::job::Claim;

/// Accounts per transaction.
const BATCH: i64 = 200;

impl Run for SealKeys {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        let mut tx = cx.db.begin().await?;
        let accounts = store::account::list_private_keys(&mut tx, self.after, BATCH).await?;
        let last = accounts.last().map(|(account, _)| *account);
        for (account, stored) in accounts {
            let Some(clear) = stored.filter(|stored| signing_key::is_clear(stored)) else { continue };
            let sealed = signing_key::seal(cx, account, &clear.clone().into())?;
            store::account::replace_private_key(&mut tx, account, &clear, &sealed).await?;
        }
        if let Some(after) = last {
            enqueue(cx, &mut tx, &Self { after }).await?;
        }
        finish(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
