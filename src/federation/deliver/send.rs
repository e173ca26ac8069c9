//! The job that sends the deliveries to one host.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chrono::TimeDelta;
use context::queue::{self, DeliverToHost, Done, Failure as JobFailure};
use context::{Cx, Error, Result, job};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _, TryStreamExt as _, stream};
use hyper::body::Bytes;
use hyper::header::USER_AGENT;
use model::{AccountId, RowId};
use outbound::{Method, Request, Target};
use store::delivery::{Claimed, DocumentRow};
use store::host::RemoteHost;
use store::job::Claim;

use super::{health, synchronization};
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
/// Pause of a host that failed while many others that failed are tried.
const CROWDED_PAUSE: TimeDelta = TimeDelta::seconds(10);
/// Most inboxes of one host that are sent to at once.
const INBOXES: usize = 4;
/// Time limit of one request.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Largest response that is read, in bytes; its content does not matter.
const RESPONSE_LIMIT: usize = 64 * 1024;
/// Attempts of a delivery (docs/contract/federation.md#8-delivery).
const ATTEMPTS: i64 = 16;

/// The result of one delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sent {
    /// The other server has it.
    Delivered,
    /// It will never take it, or there is nothing to send.
    Refused,
    /// It may take it later: its host responded, or the key of the signer cannot be opened.
    Failed(String),
    /// The host did not respond.
    Silent(String),
}

impl Sent {
    /// True when the delivery need not be tried again.
    fn is_final(&self) -> bool {
        matches!(self, Self::Delivered | Self::Refused)
    }

    fn label(&self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Refused => "refused",
            Self::Failed(_) => "failed",
            Self::Silent(_) => "silent",
        }
    }
}

#[model::use_case]
#[job]
async fn deliver_to_host(cx: &Cx, job: DeliverToHost, claim: Claim) -> Result<Done, JobFailure> {
    let network = Network::of(cx)?;
    let lock = network.sending(&job.host);
    let _one_at_a_time = lock.lock().await;
    let mut permit = None;
    loop {
        let state = store::host::find(&cx.db, &job.host).await?;
        if state.as_ref().is_some_and(|state| state.paused_at.is_some()) {
            return Ok(Done::Remove);
        }
        // Hosts that failed before leave most of the lane to the others.
        if permit.is_none() && state.as_ref().is_some_and(|state| state.failures > 0) {
            let Ok(acquired) = network.failing.try_acquire() else {
                return later(cx, &job, claim, CROWDED_PAUSE).await;
            };
            permit = Some(acquired);
        }
        let now = cx.clock.now();
        let mut tx = cx.db.begin().await?;
        let batch = store::delivery::claim(&mut tx, &job.host, now, now + CLAIM, BATCH).await?;
        tx.commit().await?;
        let pause = if !batch.is_empty() {
            send_batch(cx, &job.host, state, batch).await?
        } else if store::delivery::waits(&cx.db, &job.host).await? {
            Some(until_next(cx, &job.host).await?)
        } else {
            return Ok(Done::Remove);
        };
        if let Some(pause) = pause {
            return later(cx, &job, claim, pause).await;
        }
    }
}

async fn later(cx: &Cx, job: &DeliverToHost, claim: Claim, pause: TimeDelta) -> Result<Done, JobFailure> {
    let mut tx = cx.db.begin().await?;
    queue::enqueue_at(cx, &mut tx, job, cx.clock.now() + pause).await?;
    queue::finish(&mut tx, claim).await?;
    tx.commit().await?;
    Ok(Done::Removed)
}

/// How long a host is left alone to which deliveries are owed that cannot be claimed.
async fn until_next(cx: &Cx, host: &str) -> Result<TimeDelta> {
    let now = cx.clock.now();
    if store::delivery::is_claimed(&cx.db, host, now).await? {
        return Ok(CLAIMED_PAUSE);
    }
    let next = store::host::next_inbox(&cx.db, host).await?;
    Ok(next.map_or(CLAIMED_PAUSE, |until| (until - now).max(TimeDelta::seconds(1))))
}

/// Sends a batch: the deliveries to one inbox in order until one fails, several inboxes at once. Returns how long the host
/// is left alone then. `state`: the row of the host, if it failed before.
async fn send_batch(cx: &Cx, host: &str, state: Option<RemoteHost>, batch: Vec<Claimed>) -> Result<Option<TimeDelta>> {
    let ids: Vec<RowId> = batch.iter().map(|delivery| delivery.document_id).collect();
    let documents = store::delivery::documents(&cx.db, &ids).await?;
    let mut signers: HashMap<AccountId, Signer> = HashMap::new();
    for document in &documents {
        if let Entry::Vacant(entry) = signers.entry(document.account_id) {
            entry.insert(signer(cx, document).await?);
        }
    }
    let mut synchronizations = HashMap::new();
    if let Some(first) = batch.first() {
        synchronizations = synchronization::headers(cx, &documents, &first.inbox).await?;
    }
    let documents = documents.into_iter().map(|document| (document.id, document)).collect();
    let outbox = Outbox { cx, host, documents, signers, synchronizations, silent: AtomicBool::new(false) };
    let mut inboxes: BTreeMap<&str, Vec<&Claimed>> = BTreeMap::new();
    for delivery in &batch {
        inboxes.entry(&delivery.inbox).or_default().push(delivery);
    }
    let sending: Vec<BoxFuture<'_, _>> =
        inboxes.into_values().map(|deliveries| outbox.send_in_order(deliveries).boxed()).collect();
    let sent: Vec<Vec<(&Claimed, Sent)>> = stream::iter(sending).buffer_unordered(INBOXES).try_collect().await?;
    settle(cx, host, state, &batch, sent.into_iter().flatten().collect()).await
}

/// Stores the results of a batch; returns how long the host is left alone.
async fn settle(
    cx: &Cx,
    host: &str,
    state: Option<RemoteHost>,
    batch: &[Claimed],
    sent: Vec<(&Claimed, Sent)>,
) -> Result<Option<TimeDelta>> {
    let now = cx.clock.now();
    let mut silent: Option<(TimeDelta, &str)> = None;
    let (mut ended, mut counted): (Vec<RowId>, Vec<RowId>) = (Vec::new(), Vec::new());
    let mut tx = cx.db.begin().await?;
    for (delivery, sent) in &sent {
        let given_up = !sent.is_final() && delivery.attempts + 1 >= ATTEMPTS;
        let result = if given_up { "given_up" } else { sent.label() };
        metrics::counter!("rookery_deliveries_total", "result" => result).increment(1);
        if let Sent::Failed(error) | Sent::Silent(error) = sent {
            let failures = state.as_ref().filter(|_| matches!(sent, Sent::Silent(_))).map_or(0, |state| state.failures);
            let pause = back_off(delivery.attempts.max(failures));
            if given_up {
                store::host::dead_letter(&mut tx, &[delivery.id], error, now).await?;
            } else {
                counted.push(delivery.id);
            }
            match sent {
                Sent::Silent(_) if silent.is_none_or(|(longest, _)| longest < pause) => silent = Some((pause, error)),
                Sent::Failed(_) => {
                    store::host::pause_inbox(&mut tx, &delivery.inbox, host, now + pause, error).await?;
                }
                _ => {}
            }
        }
        if given_up || sent.is_final() {
            ended.push(delivery.id);
        }
    }
    let kept: Vec<RowId> = batch.iter().map(|delivery| delivery.id).filter(|id| !ended.contains(id)).collect();
    store::delivery::delete(&mut tx, &ended).await?;
    if !kept.is_empty() {
        store::delivery::release(&mut tx, &kept, &counted).await?;
    }
    match silent {
        Some((_, error)) => health::failed(cx, &mut tx, host, state, error).await?,
        None if state.is_some() => drop(store::host::recover(&mut tx, host).await?),
        None => {}
    }
    tx.commit().await?;
    Ok(silent.map(|(pause, _)| pause))
}

/// Who signs a document.
#[derive(Clone, Debug)]
enum Signer {
    Ready(Identity),
    /// The key cannot be opened with this server's secret key.
    Locked,
    Gone,
}

/// The signer of `document`. The key of a new account is made now, if its job did not run yet.
async fn signer(cx: &Cx, document: &DocumentRow) -> Result<Signer> {
    let (id, sealed) = (document.account_id, document.private_key.clone());
    let mut identity = identity::account(cx, id, sealed.clone()).await;
    if matches!(identity, Err(Error::Unavailable(_))) && sealed.is_none() {
        service::signing_key::make(cx, id).await?;
        identity = identity::account(cx, id, None).await;
    }
    match identity {
        Ok(Some(identity)) => Ok(Signer::Ready(identity)),
        Ok(None) => Ok(Signer::Gone),
        Err(Error::Unavailable(_)) => Ok(Signer::Locked),
        Err(error) => Err(error),
    }
}

/// A batch that is being sent to one host.
struct Outbox<'a> {
    cx: &'a Cx,
    host: &'a str,
    documents: HashMap<RowId, DocumentRow>,
    signers: HashMap<AccountId, Signer>,
    /// The value of `Collection-Synchronization` by document.
    synchronizations: HashMap<RowId, String>,
    /// The host did not respond: no further delivery begins.
    silent: AtomicBool,
}

impl Outbox<'_> {
    /// Sends deliveries to one inbox in order, until one fails.
    async fn send_in_order<'d>(&self, deliveries: Vec<&'d Claimed>) -> Result<Vec<(&'d Claimed, Sent)>> {
        let mut results = Vec::with_capacity(deliveries.len());
        for delivery in deliveries {
            if self.silent.load(Ordering::Relaxed) {
                break;
            }
            let sent = self.send(delivery).await?;
            let is_final = sent.is_final();
            if matches!(sent, Sent::Silent(_)) {
                self.silent.store(true, Ordering::Relaxed);
            }
            results.push((delivery, sent));
            if !is_final {
                break;
            }
        }
        Ok(results)
    }

    /// Sends one document to one inbox.
    async fn send(&self, delivery: &Claimed) -> Result<Sent> {
        let Some(document) = self.documents.get(&delivery.document_id) else { return Ok(Sent::Refused) };
        if policy::may_talk(self.cx, self.host).is_err() {
            return Ok(Sent::Refused);
        }
        let identity = match self.signers.get(&document.account_id) {
            Some(Signer::Ready(identity)) => identity,
            Some(Signer::Locked) => return Ok(Sent::Failed("the key of the signer cannot be opened".to_owned())),
            Some(Signer::Gone) | None => return Ok(Sent::Refused),
        };
        let Ok(target) = Target::parse(&delivery.inbox) else { return Ok(Sent::Refused) };
        let synchronization = self.synchronizations.get(&document.id).cloned();
        let status = match post(self.cx, identity, &target, document.body.as_str().into(), synchronization).await? {
            Ok(status) => status,
            Err(outbound::Error::Blocked | outbound::Error::Url(_)) => return Ok(Sent::Refused),
            // The head was read before the body turned out to be too large: the status is not known.
            Err(outbound::Error::TooLarge(_)) => return Ok(Sent::Delivered),
            Err(error) => {
                tracing::debug!(%error, host = self.host, "a delivery failed");
                return Ok(Sent::Silent(error.to_string()));
            }
        };
        Ok(match status {
            200..=299 => Sent::Delivered,
            401 | 408 | 429 => Sent::Failed(format!("status {status}")),
            400..=499 | 501 => Sent::Refused,
            _ => Sent::Failed(format!("status {status}")),
        })
    }
}

async fn post(
    cx: &Cx,
    identity: &Identity,
    target: &Target,
    body: Arc<str>,
    synchronization: Option<String>,
) -> Result<Result<u16, outbound::Error>> {
    if let Err(failure) = may_contact(cx, target).await {
        return match failure {
            crate::Failure::Local(error) => Err(error),
            crate::Failure::Request(error) => Ok(Err(error)),
            _ => Ok(Err(outbound::Error::Blocked)),
        };
    }
    let mut headers = identity.post(cx, target, Arc::clone(&body), synchronization).await?;
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

/// The pause after a delivery, or a host, that failed `attempts` times before: n⁴ + 15 s, with jitter.
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
