//! Job: mails a one-time link to whoever has the address that somebody typed, if anybody has.

use super::Run;
use context::Cx;
use context::queue::{self, Done, Failure, RequestMail};
use service::email;
use store::job::Claim;

impl Run for RequestMail {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        let mut tx = cx.db.begin().await?;
        email::answer_request(cx, &mut tx, self.subject, &self.sealed_email).await?;
        queue::finish(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
