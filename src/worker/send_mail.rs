//! Job: sends one e-mail. Delivery is at least once: a kill between sending and removing the job sends it twice.

use super::Run;
use mail::Error;
use rookery_core::Cx;
use rookery_core::queue::{Done, Failure, SendMail};
use rookery_core::service::email::{self};
use store::job::Claim;

impl Run for SendMail {
    async fn run(self, cx: &Cx, _: Claim) -> Result<Done, Failure> {
        let Some(letter) = email::compose(cx, self.account, self.subject, self.link).await? else {
            return Ok(Done::Remove);
        };
        match cx.mail.send(letter).await {
            Ok(()) => Ok(Done::Remove),
            Err(Error::Permanent(why)) => Err(Failure::Fail(why)),
            Err(Error::Temporary(why)) => Err(Failure::Retry(why)),
        }
    }
}
