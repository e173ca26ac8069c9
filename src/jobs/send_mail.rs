//! Sends one letter. Sent again after a kill at the wrong moment: twice is better than never.

use serde::{Deserialize, Serialize};

use super::{Done, Failure, Job};
use crate::app::App;
use crate::service::letter::{self, Subject};
use mail::Error;
use model::job::Lane;
use model::{AccountId, JobId, RowId};

/// Writes to `account`.
#[derive(Debug, Serialize, Deserialize)]
pub struct SendMail {
    /// To whom.
    pub account: AccountId,
    /// What about.
    pub subject: Subject,
    /// The link that the letter holds.
    pub link: Option<RowId>,
}

impl Job for SendMail {
    const KIND: &'static str = "send_mail";
    const LANE: Lane = Lane::Mail;

    async fn run(self, app: &App, _: JobId) -> Result<Done, Failure> {
        let Some(letter) = letter::compose(app, self.account, self.subject, self.link).await? else {
            return Ok(Done::Remove);
        };
        match app.mail.send(letter).await {
            Ok(()) => Ok(Done::Remove),
            Err(Error::Refused(why)) => Err(Failure::Fail(why)),
            Err(Error::Failed(why)) => Err(Failure::Retry(why)),
        }
    }
}
