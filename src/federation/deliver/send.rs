//! The job that sends the deliveries to one host.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use context::queue::{self, DeliverToHost, Done, Failure as JobFailure};
use context::{Cx, Error, Result, job};
use hyper::body::Bytes;
use hyper::header::USER_AGENT;
use model::{AccountId, RowId};
use outbound::{Method, Request, Target};
use store::delivery::{Claimed, DocumentRow};
use store::job::Claim;

use crate::fetch::document::{may_contact, user_agent};
use crate::identity::{self, Identity};
use crate::policy;
use crate::state::Network;

/// Most deliveries of one batch: they end together.
const BATCH: i64 = 20;
/// How long a batch is claimed: longer than all of its time limits.
const CLAIM: TimeDelta = TimeDelta::minutes(5);
/// Pause while another worker has a batch for the host, or died with it.
const CLAIMED_PAUSE: TimeDelta = TimeDelta::seconds(30);
/// Time limit of one request.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Largest response that is read, in bytes; its content does not matter.
const RESPONSE_LIMIT: usize = 64 * 1024;
/// Attempts of a delivery (docs/contract/federation.md#8-delivery).
const ATTEMPTS: i64 = 16;

/// The result of one delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    /// The other server has it.
    Delivered,
    /// It will never take it, or there is nothing to send.
    Refused,
    /// It may take it later.
    Failed,
}

#[model::use_case]
#[job]
async fn deliver_to_host(cx: &Cx, job: DeliverToHost, claim: Claim) -> Result<Done, JobFailure> {
    let lock = Network::of(cx)?.sending(&job.host);
    let _one_at_a_time = lock.lock().await;
    loop {
        let now = cx.clock.now();
        let mut tx = cx.db.begin().await?;
        let batch = store::delivery::claim(&mut tx, &job.host, now, now + CLAIM, BATCH).await?;
        tx.commit().await?;
        let pause = if !batch.is_empty() {
            send_batch(cx, &job.host, batch).await?
        } else if store::delivery::waits(&cx.db, &job.host).await? {
            Some(CLAIMED_PAUSE)
        } else {
            return Ok(Done::Remove);
        };
        if let Some(pause) = pause {
            let mut tx = cx.db.begin().await?;
            queue::enqueue_at(cx, &mut tx, &job, cx.clock.now() + pause).await?;
            queue::finish(&mut tx, claim).await?;
            tx.commit().await?;
            return Ok(Done::Removed);
        }
    }
}

/// Sends a batch in order, until one fails; returns how long the host is left alone then.
async fn send_batch(cx: &Cx, host: &str, batch: Vec<Claimed>) -> Result<Option<TimeDelta>> {
    let ids: Vec<RowId> = batch.iter().map(|delivery| delivery.document_id).collect();
    let documents = store::delivery::documents(&cx.db, &ids).await?;
    let documents: HashMap<RowId, DocumentRow> =
        documents.into_iter().map(|document| (document.id, document)).collect();
    let mut identities: HashMap<AccountId, Identity> = HashMap::new();
    let mut ended: Vec<RowId> = Vec::new();
    let mut failed: Option<&Claimed> = None;
    for delivery in &batch {
        let sent = match documents.get(&delivery.document_id) {
            Some(document) if policy::may_talk(cx, host).is_ok() => {
                send(cx, &mut identities, &delivery.inbox, document).await?
            }
            Some(_) | None => Sent::Refused,
        };
        let given_up = sent == Sent::Failed && delivery.attempts + 1 >= ATTEMPTS;
        let result = match sent {
            Sent::Delivered => "delivered",
            Sent::Refused => "refused",
            Sent::Failed if given_up => "given_up",
            Sent::Failed => "failed",
        };
        metrics::counter!("rookery_deliveries_total", "result" => result).increment(1);
        if sent != Sent::Failed || given_up {
            ended.push(delivery.id);
        }
        if sent == Sent::Failed {
            failed = Some(delivery);
            break;
        }
    }
    let kept: Vec<RowId> = batch.iter().map(|delivery| delivery.id).filter(|id| !ended.contains(id)).collect();
    let counted: Vec<RowId> = failed.iter().map(|delivery| delivery.id).collect();
    let mut tx = cx.db.begin().await?;
    store::delivery::delete(&mut tx, &ended).await?;
    if !kept.is_empty() {
        store::delivery::release(&mut tx, &kept, &counted).await?;
    }
    tx.commit().await?;
    Ok(failed.map(|delivery| back_off(delivery.attempts)))
}

/// Sends one document to one inbox. `identities`: of the signers of the batch so far.
async fn send(
    cx: &Cx,
    identities: &mut HashMap<AccountId, Identity>,
    inbox: &str,
    document: &DocumentRow,
) -> Result<Sent> {
    let known = identities.get(&document.account_id).cloned();
    let found = match known {
        Some(identity) => Ok(Some(identity)),
        None => identity::account(cx, document.account_id, document.private_key.clone()).await,
    };
    let identity = match found {
        Ok(Some(identity)) => identity,
        Ok(None) => return Ok(Sent::Refused),
        // The key of a new account is generated by a job.
        Err(Error::Unavailable(_)) => return Ok(Sent::Failed),
        Err(error) => return Err(error),
    };
    identities.insert(document.account_id, identity.clone());
    let Ok(target) = Target::parse(inbox) else { return Ok(Sent::Refused) };
    let status = match post(cx, &identity, &target, document.body.as_str().into()).await? {
        Ok(status) => status,
        Err(outbound::Error::Blocked | outbound::Error::Url(_)) => return Ok(Sent::Refused),
        // The head was read before the body turned out to be too large: the status is not known.
        Err(outbound::Error::TooLarge(_)) => return Ok(Sent::Delivered),
        Err(error) => {
            tracing::debug!(%error, host = target.host(), "a delivery failed");
            return Ok(Sent::Failed);
        }
    };
    Ok(match status {
        200..=299 => Sent::Delivered,
        401 | 408 | 429 => Sent::Failed,
        400..=499 | 501 => Sent::Refused,
        _ => Sent::Failed,
    })
}

async fn post(cx: &Cx, identity: &Identity, target: &Target, body: Arc<str>) -> Result<Result<u16, outbound::Error>> {
    if let Err(failure) = may_contact(cx, target).await {
        return match failure {
            crate::Failure::Local(error) => Err(error),
            crate::Failure::Request(error) => Ok(Err(error)),
            _ => Ok(Err(outbound::Error::Blocked)),
        };
    }
    let mut headers = identity.post(cx, target, Arc::clone(&body)).await?;
    headers.insert(USER_AGENT, user_agent(cx));
    let request = Request {
        method: Method::POST,
        target: target.clone(),
        headers,
        body: Bytes::from(body.as_bytes().to_vec()),
        timeout: TIMEOUT,
        limit: RESPONSE_LIMIT,
    };
    Ok(cx.outbound.send_reusing(request).await.map(|response| response.status.as_u16()))
}

/// The pause after a delivery that failed `attempts` times before: n⁴ + 15 s, with jitter.
fn back_off(attempts: i64) -> TimeDelta {
    let base = attempts.clamp(0, ATTEMPTS).pow(4);
    let mut byte = [0];
    crypto::fill_random(&mut byte);
    let jitter = base / 2 * i64::from(byte[0]) / 255 + i64::from(byte[0]) * 10 * (attempts + 1) / 255;
    TimeDelta::seconds(base + 15 + jitter)
}

/// Releases the deliveries that a killed process had claimed. Only for a server that is the only one on its database.
///
/// # Errors
/// When the database fails.
pub async fn release_claims(cx: &Cx) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    store::delivery::release_all(&mut tx).await?;
    Ok(tx.commit().await?)
}
