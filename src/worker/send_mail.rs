//! Jobs: send one e-mail, and one about notifications. Delivery is at least once: a kill between sending and removing the
//! job sends it twice.

use super::Run;
use context::Cx;
use context::queue::{Done, Failure, MailNotifications, SendMail};
use mail::{Email, Error};
use service::email;
use store::job::Claim;

impl Run for SendMail {
    async fn run(self, cx: &Cx, _: Claim) -> Result<Done, Failure> {
        send(cx, email::compose(cx, self.account, self.subject, self.link).await?).await
    }
}

impl Run for MailNotifications {
    async fn run(self, cx: &Cx, _: Claim) -> Result<Done, Failure> {
        send(cx, email::compose_news(cx, self.account, self.first).await?).await
    }
}

/// Sends a letter, if there is one.
async fn send(cx: &Cx, letter: Option<Email>) -> Result<Done, Failure> {
    let Some(letter) = letter else { return Ok(Done::Remove) };
    match cx.mail.send(letter).await {
        Ok(()) => Ok(Done::Remove),
        Err(Error::Permanent(why)) => Err(Failure::Fail(why)),
        Err(Error::Temporary(why)) => Err(Failure::Retry(why)),
    }
}
