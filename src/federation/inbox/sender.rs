//! Who sent a request: the owner of the key that signed it.

use std::net::IpAddr;

use context::Cx;
use crypto::rsa::VerifyingKey;
use store::remote::ActorRow;

use super::Refusal;
use crate::signature::{Claim, Incoming};
use crate::state::Network;
use crate::{fetch, policy};

/// The remote account that signed `request`, and the signature. Its key is fetched if it is not known, and once again if
/// it does not fit.
///
/// # Errors
/// [`Refusal`].
pub(super) async fn sender(
    cx: &Cx,
    request: &Incoming<'_>,
    address: Option<IpAddr>,
) -> Result<(ActorRow, Claim), Refusal> {
    let now = cx.clock.now();
    let claim = Claim::parse(request, now)?;
    if !is_for_us(cx, request) {
        return Err(Refusal::OtherServer);
    }
    let key_id = claim.key_id().to_owned();
    let forged = || Refusal::Forged(key_id.clone());
    let host = crate::address::host_of(&key_id).ok_or_else(forged)?;
    policy::may_talk(cx, &host)?;
    let known = known(cx, &key_id).await?;
    if let Some(actor) = known.as_ref().filter(|actor| fits(&claim, actor)) {
        return Ok((actor.clone(), claim));
    }
    let network = Network::of(cx)?;
    let _permit = network.lookups.try_acquire().map_err(|_| Refusal::Busy)?;
    let barred = address.is_some_and(|address| network.is_unreachable(address, now));
    if barred || !network.may_refresh(&key_id, now) {
        return Err(forged());
    }
    let fetched = fetch::key(cx, &key_id).await;
    if let (Err(crate::Failure::Request(_)), Some(address)) = (&fetched, address) {
        network.set_unreachable(address, now);
    }
    let actor = fetched.map_err(Refusal::NoKey)?;
    policy::may_talk(cx, actor.domain.as_deref().unwrap_or_default())?;
    if fits(&claim, &actor) { Ok((actor, claim)) } else { Err(forged()) }
}

/// True when the request names a domain of this server: another one could pass on what was signed for it.
fn is_for_us(cx: &Cx, request: &Incoming<'_>) -> bool {
    let host = request.headers.get(hyper::header::HOST).and_then(|host| host.to_str().ok());
    host.is_some_and(|host| cx.config.is_local_domain(host))
}

/// The known account with the key `key_id`.
async fn known(cx: &Cx, key_id: &str) -> Result<Option<ActorRow>, Refusal> {
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
