//! Subscriptions to relays, which pass on public statuses between their subscribers.
//!
//! Reached from `/api/v1/admin/relays` and `rookery relay`. The server's actor follows the relay; the response is handled
//! by [`remote::relay`](crate::remote::relay). In limited federation there are none.
//!
//! Spec: docs/contract/federation.md#13-relays, docs/contract/admin.csv

use context::Cx;
use context::error::{Error, Result};
use context::federation::{RelayFollow, Resolved};
use database::Tx;
use model::relay::{RelayKind, RelayState};
use model::{RowId, Staff};
use outbound::Target as Address;
use serde_json::json;

use crate::audit::{self, Entry, Target};

pub use store::relay::Relay;

/// Most relays.
const MOST: usize = 20;
/// Longest address, in bytes.
const URL_MAX: usize = 2_048;
/// The collection that means everyone.
const PUBLIC: &str = "https://www.w3.org/ns/activitystreams#Public";

/// The relays, oldest first.
#[model::use_case]
pub async fn list(cx: &Cx) -> Result<Vec<Relay>> {
    Ok(store::relay::list(&cx.db).await?)
}

/// Subscribes to the relay `url`: its inbox for [`RelayKind::Mastodon`], its actor for [`RelayKind::Litepub`]. Without a
/// kind, a URL that ends with `/inbox` is an inbox.
///
/// # Errors
/// [`Error::Invalid`] for an address that is no URL of another server, an actor that cannot be fetched, a relay that there
/// is already, beyond 20 relays, and in limited federation.
#[model::use_case]
pub async fn add(cx: &Cx, staff: &Staff, url: &str, kind: Option<RelayKind>) -> Result<Relay> {
    if cx.config.access.limited_federation {
        return Err(Error::invalid("Relays are not possible in limited federation"));
    }
    let url = url.trim();
    let usable = Address::parse(url).ok().filter(|_| url.len() <= URL_MAX && !url.contains([' ', '#', '"', '\\']));
    let address = usable.ok_or_else(|| Error::invalid(format!("{url:?} is not the URL of a relay")))?;
    if cx.config.is_local_domain(&address.authority()) {
        return Err(Error::invalid(format!("{url} is on this server")));
    }
    let is_inbox = address.url().split('?').next().is_some_and(|path| path.trim_end_matches('/').ends_with("/inbox"));
    let kind = kind.unwrap_or(if is_inbox { RelayKind::Mastodon } else { RelayKind::Litepub });
    let (inbox_url, actor_uri) = match kind {
        RelayKind::Mastodon => (address.url().to_owned(), None),
        RelayKind::Litepub => actor(cx, url).await?,
    };
    let relay = Relay {
        id: cx.ids.next(),
        inbox_url,
        actor_uri,
        kind,
        state: RelayState::Idle,
        follow_activity_id: None,
        created_at: cx.clock.now(),
    };
    let mut tx = cx.db.begin().await?;
    if store::relay::list(&mut tx).await?.len() >= MOST {
        return Err(Error::invalid(format!("There can be at most {MOST} relays")));
    }
    if !store::relay::insert(&mut tx, &relay).await? {
        return Err(Error::invalid(format!("{} is a relay already", relay.inbox_url)));
    }
    audit::record(cx, &mut tx, staff, entry("relay.create", &relay)).await?;
    let relay = follow(cx, &mut tx, relay).await?;
    tx.commit().await?;
    Ok(relay)
}

/// The inbox and the id of the actor at `url`.
async fn actor(cx: &Cx, url: &str) -> Result<(String, Option<String>)> {
    let unknown = || Error::invalid(format!("No actor of a relay was found at {url}"));
    let Some(Resolved::Account(account)) = cx.federation.find_by_url(cx, url).await? else { return Err(unknown()) };
    let actor = store::remote::get_actor(&cx.db, account).await?.filter(|actor| actor.domain.is_some());
    let actor = actor.ok_or_else(unknown)?;
    Ok((actor.inbox_url.ok_or_else(unknown)?, Some(actor.uri)))
}

/// Follows an idle or refused relay again; nothing when it is followed.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Invalid`] in limited federation.
#[model::use_case]
pub async fn enable(cx: &Cx, staff: &Staff, id: RowId) -> Result<Relay> {
    if cx.config.access.limited_federation {
        return Err(Error::invalid("Relays are not possible in limited federation"));
    }
    let mut tx = cx.db.begin().await?;
    let relay = store::relay::find(&mut tx, id).await?.ok_or(Error::NotFound)?;
    if matches!(relay.state, RelayState::Accepted | RelayState::Pending) {
        return Ok(relay);
    }
    audit::record(cx, &mut tx, staff, entry("relay.enable", &relay)).await?;
    let relay = follow(cx, &mut tx, relay).await?;
    tx.commit().await?;
    Ok(relay)
}

/// Ends the follow of a relay, which stays in the list.
///
/// # Errors
/// [`Error::NotFound`].
#[model::use_case]
pub async fn disable(cx: &Cx, staff: &Staff, id: RowId) -> Result<Relay> {
    let mut tx = cx.db.begin().await?;
    let relay = store::relay::find(&mut tx, id).await?.ok_or(Error::NotFound)?;
    if relay.state == RelayState::Idle {
        return Ok(relay);
    }
    audit::record(cx, &mut tx, staff, entry("relay.disable", &relay)).await?;
    let relay = unfollow(cx, &mut tx, relay).await?;
    tx.commit().await?;
    Ok(relay)
}

/// Ends the follow of a relay, and removes it.
///
/// # Errors
/// [`Error::NotFound`].
#[model::use_case]
pub async fn remove(cx: &Cx, staff: &Staff, id: RowId) -> Result<Relay> {
    let mut tx = cx.db.begin().await?;
    let relay = store::relay::find(&mut tx, id).await?.ok_or(Error::NotFound)?;
    audit::record(cx, &mut tx, staff, entry("relay.destroy", &relay)).await?;
    let relay = unfollow(cx, &mut tx, relay).await?;
    if !store::relay::delete(&mut tx, id).await? {
        return Err(Error::NotFound);
    }
    tx.commit().await?;
    Ok(relay)
}

async fn follow(cx: &Cx, tx: &mut Tx, mut relay: Relay) -> Result<Relay> {
    let before = relay.follow_activity_id.take();
    let id = cx.urls.path(&format!("/payloads/{}", uuid()));
    (relay.state, relay.follow_activity_id) = (RelayState::Pending, Some(id.clone()));
    if !store::relay::update(tx, &relay, before.as_deref()).await? {
        return Err(Error::Conflict("Try again".into()));
    }
    let follow = RelayFollow { id, object: object(&relay), inbox: relay.inbox_url.clone(), undone: false };
    cx.federation.follow_relay(cx, tx, follow).await?;
    Ok(relay)
}

async fn unfollow(cx: &Cx, tx: &mut Tx, mut relay: Relay) -> Result<Relay> {
    let before = relay.follow_activity_id.take();
    relay.state = RelayState::Idle;
    if !store::relay::update(tx, &relay, before.as_deref()).await? {
        return Err(Error::Conflict("Try again".into()));
    }
    if let Some(id) = before {
        let follow = RelayFollow { id, object: object(&relay), inbox: relay.inbox_url.clone(), undone: true };
        cx.federation.follow_relay(cx, tx, follow).await?;
    }
    Ok(relay)
}

fn object(relay: &Relay) -> String {
    match relay.kind {
        RelayKind::Mastodon => PUBLIC.to_owned(),
        RelayKind::Litepub => relay.actor_uri.clone().unwrap_or_default(),
    }
}

fn entry(action: &'static str, relay: &Relay) -> Entry {
    Entry::new(action, Target::new("relay", relay.id, relay.inbox_url.clone()))
        .with(json!({ "kind": relay.kind.as_str() }))
}

/// A random UUID (RFC 9562, version 4).
fn uuid() -> String {
    let mut bytes = [0; 16];
    crypto::fill_random(&mut bytes);
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex = crypto::hex(&bytes);
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    #[test]
    fn uuid_has_its_form() {
        let uuid = super::uuid();
        assert_eq!((uuid.len(), &uuid[14..15]), (36, "4"), "{uuid}");
        assert!("89ab".contains(&uuid[19..20]), "{uuid}");
        assert_ne!(uuid, super::uuid());
    }
}
