//! Who signed a request: the owner of the key. Of inboxes as well as of documents.
//!
//! Decides only who the signer is; what they may send or read is decided by the caller.
//!
//! Spec: docs/contract/federation.md#5-http-signatures

use std::net::IpAddr;

use context::Cx;
use crypto::rsa::VerifyingKey;
use store::remote::ActorRow;

use crate::signature::{self, Claim, Incoming};
use crate::state::Network;
use crate::{Failure, fetch, policy};

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
    /// The key could not be fetched.
    #[error("the key could not be fetched: {0}")]
    NoKey(Failure),
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
            Self::Refused(refused) => refused.label(),
            Self::Busy => "busy",
            Self::Local(_) => "local",
        }
    }

    /// The status of the response.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::Signature(_) | Self::OtherServer | Self::Forged(_) | Self::NoKey(_) => 401,
            Self::Refused(_) => 403,
            Self::Busy => 503,
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
    let (claim, known) = claimed(cx, request).await?;
    if let Some(actor) = known.filter(|actor| fits(&claim, actor)) {
        return Ok((actor, claim));
    }
    let key_id = claim.key_id().to_owned();
    let forged = || Rejection::Forged(key_id.clone());
    let network = Network::of(cx)?;
    let _permit = network.lookups.try_acquire().map_err(|_| Rejection::Busy)?;
    let barred = address.is_some_and(|address| network.is_unreachable(address, now));
    if barred || !network.may_refresh(&key_id, now) {
        return Err(forged());
    }
    let fetched = fetch::key(cx, &key_id).await;
    if let (Err(Failure::Request(_)), Some(address)) = (&fetched, address) {
        network.set_unreachable(address, now);
    }
    let actor = fetched.map_err(Rejection::NoKey)?;
    policy::may_talk(cx, actor.domain.as_deref().unwrap_or_default())?;
    if fits(&claim, &actor) { Ok((actor, claim)) } else { Err(forged()) }
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
    let host = crate::address::host_of(claim.key_id()).ok_or_else(forged)?;
    policy::may_talk(cx, &host)?;
    let known = known(cx, claim.key_id()).await?;
    Ok((claim, known))
}

/// True when the request names a domain of this server: another server could pass on requests that were signed for it.
fn is_for_us(cx: &Cx, request: &Incoming<'_>) -> bool {
    let host = request.headers.get(hyper::header::HOST).and_then(|host| host.to_str().ok());
    host.is_some_and(|host| cx.config.is_local_domain(host))
}

/// The known account with the key `key_id`.
async fn known(cx: &Cx, key_id: &str) -> Result<Option<ActorRow>, Rejection> {
    let uri = match cx.caches.key_owners.get(&key_id.to_owned()) {
        Some(uri) => uri.to_string(),
        None => key_id.split('#').next().unwrap_or_default().to_owned(),
    };
    Ok(store::remote::find_actor(&cx.db, &uri).await?.filter(|actor| actor.domain.is_some()))
}

fn fits(claim: &Claim, actor: &ActorRow) -> bool {
    let key = actor.public_key.as_deref().and_then(VerifyingKey::parse);
    key.is_some_and(|key| claim.verify(&key))
}
