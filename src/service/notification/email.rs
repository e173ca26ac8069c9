//! Queueing of e-mail, in the transaction that makes a mail due. [`mail`](crate::server::mail) writes and sends it.
//!
//! The job queue contains neither addresses nor links. An address typed into a form is sealed ([`request`]).

use context::Cx;
use context::error::Result;
use context::queue::{self, RequestMail, SendMail, Subject};
use crypto::Secret;
use database::Tx;
use model::{AccountId, RowId};

/// Purpose of the key that seals the address of a request.
pub(crate) const REQUESTED: &str = "requested mail";

/// Queues a mail to `account`; `link` is the one-time link it contains.
pub async fn queue(cx: &Cx, tx: &mut Tx, account: AccountId, subject: Subject, link: Option<RowId>) -> Result<()> {
    queue::enqueue(cx, tx, &SendMail { account, subject, link }).await
}

/// Queues the lookup of `email`, and the mail to its account. Does the same for every address, known or not.
pub async fn request(cx: &Cx, subject: Subject, email: &str) -> Result<()> {
    let sealed_email = cx.keys.seal(REQUESTED, "", &Secret::from(email.to_owned()))?;
    let mut tx = cx.db.begin().await?;
    queue::enqueue(cx, &mut tx, &RequestMail { sealed_email, subject }).await?;
    tx.commit().await?;
    Ok(())
}
