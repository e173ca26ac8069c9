//! Who signed a request: the owner of the key. Of inboxes as well as of documents.
//!
//! Decides only who the signer is; what they may send or read is decided by the caller.
//!
//! Spec: docs/contract/federation.md#5-http-signatures

use std::net::IpAddr;
use std::time::Duration;

use context::Cx;
use context::budget::Allowance;
use crypto::rsa::VerifyingKey;
use store::remote::ActorRow;

use crate::floods::registrable;
use crate::lookups::{Turn, Why};
use crate::signature::{self, Claim, Incoming};
use crate::state::Network;
use crate::{Failure, fetch, policy};

/// Most requests for one key: for the actor, its owner, and WebFinger.
const REQUESTS: u32 = 10;
/// How long they may take together.
const PATIENCE: Duration = Duration::from_secs(20);

/// Why the signer of a request is not known; the text is shown to the peer.
#[derive(Debug, thiserror::Error)]
pub enum Rejection {
    /// The signature is missing or not acceptable.
    #[error("{0}")]
    Signature(#[from] signature::Refusal),
    /// The request was signed for another server.
    #[error("the request is for another host")]
    OtherServer,
    /// The signature is not made with the key of its owner.
    #[error("the signature does not fit the key {0}")]
    Forged(String),
    /// The key could not be fetched. The reason is for the log of this server: a client learns nothing of our network.
    #[error("the key could not be fetched")]
    NoKey(Failure),
    /// The key could not be fetched a moment ago.
    #[error("the key could not be fetched a moment ago, try again later")]
    NoKeyYet,
    /// This server does not talk to the signer's.
    #[error("{0}")]
    Refused(#[from] policy::Refused),
    /// Too many signers are being looked up.
    #[error("too busy, try again later")]
    Busy,
    /// This server failed.
    #[error("{0}")]
    Local(#[from] context::Error),
}

impl Rejection {
    /// A short name, a label of metrics.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Signature(refusal) => refusal.as_str(),
            Self::OtherServer => "other_server",
            Self::Forged(_) => "forged",
            Self::NoKey(_) => "no_key",
            Self::NoKeyYet => "no_key_yet",
            Self::Refused(refused) => refused.label(),
            Self::Busy => "busy",
            Self::Local(_) => "local",
        }
    }

    /// The status of the response.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            // The sender tries again: its server was not reached, failed, or sent too much in a short time.
            Self::NoKey(failure) if failure.is_transient() => 503,
            Self::Signature(_) | Self::OtherServer | Self::Forged(_) | Self::NoKey(_) => 401,
            Self::Refused(_) => 403,
            Self::Busy | Self::NoKeyYet => 503,
            Self::Local(_) => 500,
        }
    }
}

impl From<database::Error> for Rejection {
    fn from(error: database::Error) -> Self {
        Self::Local(error.into())
    }
}

/// The remote account that signed `request`, and the signature. Its key is fetched if it is not known, and once again if
/// it does not fit. `address`: of the client.
///
/// # Errors
/// [`Rejection`].
pub(crate) async fn signer(
    cx: &Cx,
    request: &Incoming<'_>,
    address: Option<IpAddr>,
) -> Result<(ActorRow, Claim), Rejection> {
    let now = cx.clock.now();
    let (claim, owner) = claimed(cx, request).await?;
    if let Some(actor) = owner.filter(|actor| fits(&claim, actor)) {
        return Ok((actor, claim));
    }
    let key_id = claim.key_id();
    let domain = registrable(&host_of_key(key_id).unwrap_or_default()).to_owned();
    let network = Network::of(cx)?;
    let lookups = &network.lookups;
    let _place = lookups.enter(&domain, address).ok_or(Rejection::Busy)?;
    // Of several requests of a sender that is not known yet, one fetches the key.
    let lock = lookups.running(key_id);
    let _one_at_a_time = lock.lock().await;
    let owner = known(cx, key_id).await?;
    let why = if owner.is_some() { Why::Refresh } else { Why::FirstContact };
    if let Some(actor) = owner.filter(|actor| fits(&claim, actor)) {
        return Ok((actor, claim));
    }
    let barred = address.is_some_and(|address| network.is_unreachable(address, now));
    match lookups.turn(&domain, key_id, why, now) {
        Turn::Now if !barred => {}
        Turn::Later => return Err(Rejection::Forged(key_id.to_owned())),
        Turn::Now | Turn::Failed => return Err(Rejection::NoKeyYet),
    }
    let allowance = Allowance { requests: REQUESTS, ..Allowance::of(&domain, now) };
    let spending = cx.spending(allowance.into());
    let fetched = tokio::time::timeout(PATIENCE, Box::pin(fetch::key(&spending, key_id))).await;
    let fetched = fetched.unwrap_or(Err(Failure::Request(outbound::Error::Timeout)));
    lookups.fetched(&domain, key_id, why, fetched.as_ref().is_err_and(Failure::is_transient), now);
    if let (Err(Failure::Request(_)), Some(address)) = (&fetched, address) {
        network.set_unreachable(address, now);
    }
    if let Err(failure) = &fetched {
        tracing::debug!(%failure, key.id = key_id, "the key of a request could not be fetched");
    }
    let actor = fetched.map_err(Rejection::NoKey)?;
    policy::may_talk(cx, actor.domain.as_deref().unwrap_or_default())?;
    if fits(&claim, &actor) { Ok((actor, claim)) } else { Err(Rejection::Forged(key_id.to_owned())) }
}

/// The known remote account that signed `request`. Nothing is fetched, so that a reader of public documents waits for no
/// other server.
///
/// # Errors
/// [`Rejection`]; [`Rejection::Forged`] also when the key is not known.
pub(crate) async fn known_signer(cx: &Cx, request: &Incoming<'_>) -> Result<ActorRow, Rejection> {
    let (claim, known) = claimed(cx, request).await?;
    known.filter(|actor| fits(&claim, actor)).ok_or_else(|| Rejection::Forged(claim.key_id().to_owned()))
}

/// The signature of `request`, which is acceptable if its key confirms it, and the known account of this key.
async fn claimed(cx: &Cx, request: &Incoming<'_>) -> Result<(Claim, Option<ActorRow>), Rejection> {
    let claim = Claim::parse(request, cx.clock.now())?;
    if !is_for_us(cx, request) {
        return Err(Rejection::OtherServer);
    }
    let forged = || Rejection::Forged(claim.key_id().to_owned());
    let host = host_of_key(claim.key_id()).ok_or_else(forged)?;
    policy::may_talk(cx, &host)?;
    let known = known(cx, claim.key_id()).await?;
    Ok((claim, known))
}

/// The host of a key: of the URL that is its id, or of an address, `acct:user@host`.
fn host_of_key(id: &str) -> Option<String> {
    match id.strip_prefix("acct:") {
        Some(handle) => service::domain::parse(handle.rsplit_once('@')?.1),
        None => crate::address::host_of(id),
    }
}

/// True when the request names a domain of this server: another server could pass on requests that were signed for it.
fn is_for_us(cx: &Cx, request: &Incoming<'_>) -> bool {
    let host = request.headers.get(hyper::header::HOST).and_then(|host| host.to_str().ok());
    host.is_some_and(|host| cx.config.is_local_domain(host))
}

/// The known account with the key `key_id`.
async fn known(cx: &Cx, key_id: &str) -> Result<Option<ActorRow>, Rejection> {
    if let Some(handle) = key_id.strip_prefix("acct:") {
        let handle = handle.to_lowercase();
        let Some(account) = store::account::list_by_handles(&cx.db, &[handle]).await?.pop() else { return Ok(None) };
        return Ok(store::remote::get_actor(&cx.db, account.id).await?.filter(|actor| actor.domain.is_some()));
    }
    let uri = match cx.caches.key_owners.get(&key_id.to_owned()) {
        Some(uri) => uri.to_string(),
        None => key_id.split('#').next().unwrap_or_default().to_owned(),
    };
    Ok(store::remote::find_actor(&cx.db, &uri).await?.filter(|actor| actor.domain.is_some()))
}

/// True when `claim` was signed with one of the keys of `actor`: all of them are its own.
fn fits(claim: &Claim, actor: &ActorRow) -> bool {
    VerifyingKey::parse_all(actor.public_key.as_deref().unwrap_or_default()).any(|key| claim.verify(&key))
}
