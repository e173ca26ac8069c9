//! The job that renders a status, an edit or a profile for other servers and finds its recipients.

use context::queue::{Distribute, Distribution, Failure, Next};
use context::{Cx, Result, job};
use database::Tx;
use model::{AccountId, StatusId, Visibility};

use super::queue::{Outgoing, send};
use super::statuses::recipients;
use crate::documents::{self, limited};

#[model::use_case]
#[job]
async fn distribute(cx: &Cx, tx: &mut Tx, job: Distribute) -> Result<Next<Distribute>, Failure> {
    match job.what {
        Distribution::Published(status) => published(cx, tx, status).await?,
        Distribution::Edited(status) => edited(cx, tx, status).await?,
        Distribution::Profile(account) => profile(cx, tx, account).await?,
    }
    Ok(Next::Nothing)
}

async fn published(cx: &Cx, tx: &mut Tx, id: StatusId) -> Result<()> {
    // Locked, so that its deletion is sent after it.
    let Some(status) = store::status::lock(tx, id).await? else { return Ok(()) };
    let inboxes = recipients(tx, &status).await?;
    if inboxes.is_empty() {
        return Ok(());
    }
    let Some(author) = store::account::find(&mut *tx, status.account_id).await? else { return Ok(()) };
    let body = match status.visibility {
        Visibility::Limited if status.reblog_of_id.is_none() => Some(limited(cx, &author, &status)?),
        _ => documents::activity_of(cx, &author, &status).await?,
    };
    let Some(body) = body else { return Ok(()) };
    send(cx, tx, Outgoing { signer: author.id, private_key: None, body }, inboxes).await
}

async fn edited(cx: &Cx, tx: &mut Tx, id: StatusId) -> Result<()> {
    // Locked, so that its deletion is sent after it.
    let Some(status) = store::status::lock(tx, id).await? else { return Ok(()) };
    let inboxes = recipients(tx, &status).await?;
    if inboxes.is_empty() {
        return Ok(());
    }
    let Some(author) = store::account::find(&mut *tx, status.account_id).await? else { return Ok(()) };
    let body = documents::update_of(cx, &author, &status).await?;
    send(cx, tx, Outgoing { signer: author.id, private_key: None, body }, inboxes).await
}

async fn profile(cx: &Cx, tx: &mut Tx, id: AccountId) -> Result<()> {
    let inboxes = store::delivery::follower_inboxes(&mut *tx, id).await?;
    if inboxes.is_empty() {
        return Ok(());
    }
    let Some(account) = store::account::find(&mut *tx, id).await? else { return Ok(()) };
    let body = documents::update_of_actor(cx, &account).await?;
    send(cx, tx, Outgoing { signer: id, private_key: None, body }, inboxes).await
}
