//! The job that renders a status, an edit or a profile for other servers and finds its recipients.

use context::queue::{self, Distribute, Distribution, Done, Failure};
use context::{Cx, Result, job};
use database::Tx;
use model::relay::RelayKind;
use model::{Account, Status, Visibility};
use service::status::decision;
use store::job::Claim;

use super::follows::inbox;
use super::queue::{Outgoing, send};
use super::relays;
use super::statuses::recipients;
use crate::address::host_of;
use crate::documents::{self, limited};

/// Rendering reads on other connections, so no transaction is open meanwhile.
#[model::use_case]
#[job]
async fn distribute(cx: &Cx, job: Distribute, claim: Claim) -> Result<Done, Failure> {
    let mut tx = cx.db.begin().await?;
    let found = find(cx, &mut tx, job.what).await?;
    drop(tx);
    let Some(found) = found else { return Ok(Done::Remove) };
    let Some(body) = render(cx, job.what, &found).await? else { return Ok(Done::Remove) };
    let mut tx = cx.db.begin().await?;
    // Locked, so that its deletion is sent after it.
    if let Some(status) = &found.status
        && store::status::lock(&mut tx, status.id).await?.is_none()
    {
        return Ok(Done::Remove);
    }
    send(cx, &mut tx, Outgoing { signer: found.author.id, private_key: None, body, urgent: false }, found.inboxes)
        .await?;
    if let Some(status) = &found.status {
        relays::announce(cx, &mut tx, &found.author, status, found.announced_to).await?;
    }
    queue::finish(&mut tx, claim).await?;
    tx.commit().await?;
    Ok(Done::Removed)
}

/// A document to send, and its inboxes.
struct Found {
    author: Account,
    /// `None` for a profile.
    status: Option<Status>,
    inboxes: Vec<String>,
    /// Inboxes of relays to which the server's actor announces the status.
    announced_to: Vec<String>,
}

/// The rows of a distribution; `None` when they are gone, or there is no recipient.
async fn find(cx: &Cx, tx: &mut Tx, what: Distribution) -> Result<Option<Found>> {
    let (author, status, inboxes) = match what {
        Distribution::Published(id) | Distribution::Edited(id) | Distribution::Tally(id) => {
            let Some(status) = store::status::find(&mut *tx, id).await? else { return Ok(None) };
            // Others receive it once it is approved.
            if status.approval.is_some() {
                return Ok(None);
            }
            let mut inboxes = recipients(tx, &status).await?;
            if status.sensitive || !status.spoiler_text.is_empty() {
                inboxes.retain(|inbox| takes_sensitive(cx, inbox));
            }
            (status.account_id, Some(status), inboxes)
        }
        Distribution::Profile(id) => (id, None, store::delivery::follower_inboxes(&mut *tx, id).await?),
        Distribution::Requested(id) => {
            let Some(parties) = decision::find_parties(tx, id).await? else { return Ok(None) };
            let Some(status) = decision::find_local(cx, tx, &parties.request).await? else { return Ok(None) };
            (parties.account.id, Some(status), inbox(&parties.author))
        }
    };
    let Some(author) = store::account::find(&mut *tx, author).await? else { return Ok(None) };
    let mut found = Found { author, status, inboxes, announced_to: Vec::new() };
    if let Some(status) = found.status.as_ref().filter(|_| !found.author.is_limited()) {
        match what {
            Distribution::Published(_) => {
                found.inboxes.extend(relays::inboxes(cx, tx, status, Some(RelayKind::Mastodon)).await?);
                found.announced_to = relays::inboxes(cx, tx, status, Some(RelayKind::Litepub)).await?;
            }
            Distribution::Edited(_) => found.inboxes.extend(relays::inboxes(cx, tx, status, None).await?),
            Distribution::Tally(_) | Distribution::Profile(_) | Distribution::Requested(_) => {}
        }
    }
    let has_recipients = !found.inboxes.is_empty() || !found.announced_to.is_empty();
    Ok(has_recipients.then_some(found))
}

/// True unless the policy about the host of `inbox` keeps sensitive statuses from it.
fn takes_sensitive(cx: &Cx, inbox: &str) -> bool {
    host_of(inbox).is_some_and(|host| !cx.domain_policy().of(&host).flags.reject_send_sensitive)
}

/// The document; `None` for a reblog of a deleted status.
async fn render(cx: &Cx, what: Distribution, Found { author, status, .. }: &Found) -> Result<Option<String>> {
    match (what, status) {
        (Distribution::Published(_), Some(status))
            if status.visibility == Visibility::Limited && status.reblog_of_id.is_none() =>
        {
            limited(cx, author, status).map(Some)
        }
        (Distribution::Published(_), Some(status)) => documents::activity_of(cx, author, status).await,
        (Distribution::Edited(_), Some(status)) => {
            let edited = status.edited_at.unwrap_or(status.created_at);
            documents::update_of(cx, author, status, edited).await.map(Some)
        }
        (Distribution::Tally(_), Some(status)) => {
            documents::update_of(cx, author, status, cx.clock.now()).await.map(Some)
        }
        (Distribution::Requested(id), Some(status)) => documents::request_of(cx, author, status, id).await,
        (Distribution::Profile(_), _) | (_, None) => documents::update_of_actor(cx, author).await.map(Some),
    }
}
