//! What relays send: the response to a follow, and statuses of others.
//!
//! Spec: docs/contract/federation.md#13-relays

use context::Cx;
use context::error::Result;
use model::relay::{RelayKind, RelayState};
use outbound::Target;
use store::relay::Relay;

/// The actor `sender` responded to the follow `activity`; false when that is no follow of a relay of this actor.
#[model::use_case]
pub async fn respond(cx: &Cx, activity: &str, sender: &str, accepted: bool) -> Result<bool> {
    let mut tx = cx.db.begin().await?;
    let Some(mut relay) = store::relay::find_by_follow(&mut tx, activity).await?.filter(|relay| is_of(relay, sender))
    else {
        return Ok(false);
    };
    relay.actor_uri = Some(sender.to_owned());
    relay.state = if accepted { RelayState::Accepted } else { RelayState::Rejected };
    let changed = store::relay::update(&mut tx, &relay, Some(activity)).await?;
    tx.commit().await?;
    Ok(changed)
}

/// True when `sender` may respond for the relay: it is its actor, or until that is known an actor on the host of its inbox.
fn is_of(relay: &Relay, sender: &str) -> bool {
    if let Some(actor) = &relay.actor_uri {
        return actor == sender;
    }
    let host = |url: &str| Target::parse(url).ok().map(|target| target.authority());
    relay.kind == RelayKind::Mastodon && host(sender).is_some() && host(sender) == host(&relay.inbox_url)
}

/// True when the actor `uri` is of a relay that accepted.
#[model::use_case]
pub async fn is_accepted(cx: &Cx, uri: &str) -> Result<bool> {
    has(cx, uri, |state| state == RelayState::Accepted).await
}

/// True when the actor `uri` is of a relay that is followed, or will be when it accepts.
#[model::use_case]
pub async fn is_followed(cx: &Cx, uri: &str) -> Result<bool> {
    has(cx, uri, |state| matches!(state, RelayState::Accepted | RelayState::Pending)).await
}

async fn has(cx: &Cx, uri: &str, fits: fn(RelayState) -> bool) -> Result<bool> {
    if cx.config.access.limited_federation {
        return Ok(false);
    }
    let relays = store::relay::list_by_actor(&cx.db, uri).await?;
    Ok(relays.into_iter().any(|relay| fits(relay.state)))
}
