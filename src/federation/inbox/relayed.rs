//! Statuses that a relay passes on: they are fetched from their own server, within the budget of the relay.
//!
//! Nothing of the activity is believed but the address of the status.
//!
//! Spec: docs/contract/federation.md#13-relays

use context::Cx;
use service::remote::relay;

use super::inbound::Inbound;
use super::reason::Reason;
use super::refusal::Ignored;
use crate::address::host_of;
use crate::floods::{Flood, domain_of};
use crate::state::Network;

/// True when the sender is a relay that accepted, and passed on fewer statuses in a minute than it may.
///
/// # Errors
/// [`Reason::TooManyRelayed`].
pub(super) async fn admits(cx: &Cx, inbound: &Inbound) -> Result<bool, Ignored> {
    if !relay::is_accepted(cx, &inbound.sender.uri).await? {
        return Ok(false);
    }
    let domain = domain_of(&inbound.sender.uri);
    match Network::of(cx)?.floods.admit(Flood::Relayed, &domain, cx.clock.now()) {
        true => Ok(true),
        false => {
            count(inbound, "refused");
            Err(Reason::TooManyRelayed.into())
        }
    }
}

/// Counts a status that the sender, a relay, passed on.
pub(super) fn count(inbound: &Inbound, result: &'static str) {
    let relay = host_of(&inbound.sender.uri).unwrap_or_default();
    metrics::counter!("rookery_relayed_statuses_total", "relay" => relay, "result" => result).increment(1);
}

/// Counts the result of fetching a status that a relay passed on.
pub(super) fn counted<T>(inbound: &Inbound, fetched: Result<T, Ignored>) -> Result<T, Ignored> {
    match &fetched {
        // The activity is processed again where requests may be made.
        Err(ignored) if ignored.is_deferred() => {}
        Err(_) => count(inbound, "failed"),
        Ok(_) => count(inbound, "stored"),
    }
    fetched
}
