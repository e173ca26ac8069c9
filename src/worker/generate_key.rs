//! Job: generates the key pair with which a new local account signs its requests to other servers (HTTP signatures).
//!
//! A job rather than part of the sign-up, since it takes some 100 ms of CPU time and a thousand accounts may be created
//! at once.

use super::Run;
use context::Cx;
use context::error::Error;
use context::queue::{self, Done, Failure, GenerateKey};
use crypto::key_pair;
use service::signing_key;
use store::job::Claim;

impl Run for GenerateKey {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        if !store::account::lacks_keys(&cx.db, self.account).await? {
            return Ok(Done::Remove);
        }
        let made = tokio::task::spawn_blocking(key_pair::generate).await.map_err(Error::internal)?;
        let (public, private) = made.map_err(Error::internal)?;
        let sealed = signing_key::seal(cx, self.account, &private)?;
        let mut tx = cx.db.begin().await?;
        store::account::set_keys(&mut tx, self.account, &public, &sealed).await?;
        queue::finish(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
