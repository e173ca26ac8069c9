//! Storing a document with a delivery for each inbox.

use std::collections::{BTreeMap, BTreeSet};

use context::queue::{self, DeliverToHost, Job as _};
use context::{Cx, Result};
use database::Tx;
use model::AccountId;
use serde::Serialize;
use store::delivery::NewDocument;

use super::health;
use crate::address::host_of;
use crate::policy;

/// A document to send, and who signs it.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) signer: AccountId,
    /// The sealed key of a signer who is being deleted.
    pub(super) private_key: Option<String>,
    /// JSON.
    pub(super) body: String,
    /// It is queued for hosts that are set aside too.
    pub(super) urgent: bool,
}

impl Outgoing {
    /// `activity`, signed by `signer`.
    ///
    /// # Errors
    /// [`context::Error::Internal`], which is a bug.
    pub(super) fn new<T: Serialize>(signer: AccountId, activity: &T) -> Result<Self> {
        let body = serde_json::to_string(activity).map_err(context::Error::internal)?;
        Ok(Self { signer, private_key: None, body, urgent: false })
    }
}

/// Stores `outgoing` for `inboxes`, and queues a job for each of their hosts that this server talks to and that is not
/// set aside.
pub(super) async fn send(cx: &Cx, tx: &mut Tx, outgoing: Outgoing, inboxes: Vec<String>) -> Result<()> {
    let mut by_host: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for inbox in inboxes {
        if let Some(host) = host_of(&inbox) {
            by_host.entry(host).or_default().insert(inbox);
        }
    }
    by_host.retain(|host, _| policy::may_talk(cx, host).is_ok());
    let hosts = health::receiving(cx, tx, by_host.keys().cloned().collect(), outgoing.urgent).await?;
    if hosts.is_empty() {
        return Ok(());
    }
    let owed = hosts
        .iter()
        .flat_map(|host| by_host.remove(host).unwrap_or_default().into_iter().map(move |inbox| (host, inbox)));
    let deliveries = owed.map(|(host, inbox)| (cx.ids.next(), host.clone(), inbox)).collect();
    let document = NewDocument {
        id: cx.ids.next(),
        account: outgoing.signer,
        private_key: outgoing.private_key,
        body: outgoing.body,
    };
    store::delivery::insert(tx, document, deliveries, cx.clock.now()).await?;
    // A job that waits for an inbox of its host does not delay the others.
    store::host::make_due(tx, DeliverToHost::KIND, &hosts, cx.clock.now()).await?;
    let jobs: Vec<DeliverToHost> = hosts.into_iter().map(|host| DeliverToHost { host }).collect();
    queue::enqueue_all(cx, tx, &jobs).await
}

/// True for an account of this server.
pub(super) async fn is_local(cx: &Cx, tx: &mut Tx, account: AccountId) -> Result<bool> {
    if let Some(domain) = cx.caches.domains.get(&account) {
        return Ok(domain.is_none());
    }
    Ok(store::account::find(&mut *tx, account).await?.is_some_and(|account| account.is_local()))
}
