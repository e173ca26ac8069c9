//! Receives requests to inboxes: cheap checks first, then a row and a job.

use std::net::IpAddr;

use context::queue::{self, ProcessInbox};
use context::{Cx, Error};
use model::AccountId;
use model::urls::Owner;
use store::inbound::NewActivity;
use store::remote::ActorRow;

use super::kinds::Kind;
use super::{Refusal, bundle, synchronize};
use crate::floods::domain_of;
use crate::signature::{Claim, Incoming, Synchronization};
use crate::signer::signer;
use crate::vocabulary::Activity;

/// Most activities of one registrable domain that wait, and most bytes of their bodies.
const WAITING_MAX: i64 = 5_000;
const WAITING_BYTES_MAX: i64 = 32 * 1024 * 1024;

/// The inbox of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mailbox {
    /// For everyone of this server.
    Shared,
    /// Of the server's actor.
    Server,
    /// Of a local account.
    Account(Owner),
}

/// The result of an accepted request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// It is queued.
    Queued,
    /// It was queued before, or concerns no known account.
    Ignored,
}

/// Accepts a request to an inbox. `address`: of the client.
///
/// # Errors
/// [`Refusal`].
pub async fn receive(
    cx: &Cx,
    mailbox: &Mailbox,
    request: &Incoming<'_>,
    address: Option<IpAddr>,
) -> Result<Received, Refusal> {
    let received = accept(cx, mailbox, request, address).await;
    let result = match &received {
        Ok(Received::Queued) => "queued",
        Ok(Received::Ignored) => "ignored",
        Err(refusal) => refusal.as_str(),
    };
    metrics::counter!("rookery_inbox_requests_total", "result" => result).increment(1);
    received
}

async fn accept(
    cx: &Cx,
    mailbox: &Mailbox,
    request: &Incoming<'_>,
    address: Option<IpAddr>,
) -> Result<Received, Refusal> {
    let owner = owner(cx, mailbox).await?;
    let mut items = Vec::new();
    for item in bundle::activities(request.body)? {
        if !concerns_a_stranger(cx, &item.0).await? {
            items.push(item);
        }
    }
    if items.is_empty() {
        return Ok(Received::Ignored);
    }
    let (sender, claim) = Box::pin(signer(cx, request, address)).await?;
    // A sign of life only of the sender's own server: an actor may name an inbox anywhere.
    let inbox = sender.inbox_url.as_deref().filter(|inbox| domain_of(inbox) == domain_of(&sender.uri));
    if let Some(host) = inbox.and_then(crate::address::host_of) {
        crate::deliver::mark_alive(cx, &host).await?;
    }
    if let Some(header) = Synchronization::of(request, &claim) {
        synchronize::consider(cx, &sender, header).await?;
    }
    let mut received = Ok(Received::Ignored);
    for (activity, body) in &items {
        let one = match (check(activity, &sender), Kind::of(&activity.kind)) {
            (Err(refusal), _) => Err(refusal),
            (Ok(()), None) => Ok(Received::Ignored),
            (Ok(()), kind) => Ok(store(cx, &sender, &claim, owner, kind, body).await?),
        };
        if !matches!(received, Ok(Received::Queued)) {
            received = one;
        }
    }
    received
}

/// The account of the inbox; `None` for one of the server.
async fn owner(cx: &Cx, mailbox: &Mailbox) -> Result<Option<AccountId>, Refusal> {
    let Mailbox::Account(owner) = mailbox else { return Ok(None) };
    match service::access::owner::known(cx, owner).await {
        Err(Error::NotFound) => Err(Refusal::NoInbox),
        Err(Error::Gone) => Err(Refusal::Gone),
        account => Ok(Some(account?.id)),
    }
}

/// True for the deletion or the change of an actor who is not known here: nothing is to be done, and the key of a deleted
/// actor could not be fetched.
async fn concerns_a_stranger(cx: &Cx, activity: &Activity) -> Result<bool, Refusal> {
    let of_itself = activity.object.first().and_then(|object| object.id.as_deref()) == Some(&*activity.actor);
    if !of_itself || !matches!(Kind::of(&activity.kind), Some(Kind::Delete | Kind::Update)) {
        return Ok(false);
    }
    Ok(store::remote::find_actor(&cx.db, &activity.actor).await?.is_none())
}

fn check(activity: &Activity, sender: &ActorRow) -> Result<(), Refusal> {
    let kind = Kind::of(&activity.kind);
    if *activity.actor != *sender.uri && !kind.is_some_and(Kind::may_be_forwarded) {
        return Err(Refusal::NotTheActor);
    }
    if sender.suspended_at.is_some() && !kind.is_some_and(Kind::is_accepted_of_suspended) {
        Err(Refusal::Suspended)
    } else {
        Ok(())
    }
}

async fn store(
    cx: &Cx,
    sender: &ActorRow,
    claim: &Claim,
    mailbox: Option<AccountId>,
    kind: Option<Kind>,
    body: &[u8],
) -> Result<Received, Refusal> {
    let id = cx.ids.next();
    let body = String::from_utf8_lossy(body).into_owned();
    let digest = match kind {
        // Sent again, with a new signature, it is answered again.
        Some(Kind::Follow) => crypto::sha256_hex(&[claim.signature(), body.as_bytes()].concat()),
        _ => crypto::sha256_hex(body.as_bytes()),
    };
    let domain = domain_of(&sender.uri);
    let (activities, bytes) = store::inbound::waiting(&cx.db, &domain, WAITING_MAX).await?;
    if activities >= WAITING_MAX || bytes >= WAITING_BYTES_MAX {
        return Err(Refusal::Full);
    }
    let mut tx = cx.db.begin().await?;
    let new =
        NewActivity { id, account: sender.id, mailbox, domain: domain.clone(), digest, body, now: cx.clock.now() };
    if !store::inbound::insert(&mut tx, new).await? {
        return Ok(Received::Ignored);
    }
    let job = ProcessInbox { account: sender.id, domain, asks: false };
    queue::enqueue(cx, &mut tx, &job).await?;
    tx.commit().await?;
    Ok(Received::Queued)
}
