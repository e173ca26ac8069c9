//! Web push: which notifications are pushed to whose subscriptions, and the server's key pair.
//!
//! A subscription belongs to an access token and is deleted with it. Whether to push is decided when a notification
//! is created, in its transaction ([`record`](context::change::record())), and again when it is sent ([`send()`]).
//! The access token in a message is derived again at that time: it is not stored in any row.
//!
//! Spec: docs/contract/push.md.

mod request;
mod send;

pub use send::{DuePush, Sent, due, send};

use std::collections::BTreeMap;

use crate::access::grants;
use crate::notification;
use context::Cx;
use context::error::{Error, Result};
use crypto::push::Receiver;
use model::notification::PushPolicy;
use model::{Actor, TokenId};
use outbound::Target;
use store::push::{NewSubscription, Subscription};

/// Most characters of an endpoint.
const MAX_ENDPOINT: usize = 2_000;

/// The options that a client requests.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Types of notifications, and whether they are pushed. Unknown types are dropped.
    pub alerts: BTreeMap<String, bool>,
    /// The senders whose notifications are pushed; all senders when omitted.
    pub policy: Option<PushPolicy>,
}

/// The push endpoint and keys of a client.
#[derive(Clone, Debug, Default)]
pub struct Destination {
    pub endpoint: Option<String>,
    pub p256dh: Option<String>,
    pub auth: Option<String>,
    /// Whether the encoding is `aes128gcm`.
    pub standard: bool,
}

/// Deletes the key pair and every subscription, since none works with another key pair. The next start creates a new
/// one. Returns the number of deleted subscriptions.
#[model::use_case]
pub async fn reset(cx: &Cx) -> Result<u64> {
    let mut tx = cx.db.begin().await?;
    store::server_key::delete(&mut tx, context::vapid::KEY).await?;
    let subscriptions = store::push::delete_all(&mut tx).await?;
    tx.commit().await?;
    Ok(subscriptions)
}

/// Subscribes the actor's token, replacing its previous subscription.
///
/// # Errors
/// [`Error::Invalid`] for an unusable destination, [`Error::Unavailable`] while the server has no key pair.
#[model::use_case]
pub async fn subscribe(cx: &Cx, actor: &Actor, to: Destination, wanted: Wanted) -> Result<Subscription> {
    let token = token_of(actor)?;
    if cx.vapid.is_none() {
        return Err(Error::Unavailable("This server cannot push notifications at present".into()));
    }
    let endpoint = endpoint(to.endpoint)?;
    let (p256dh, auth) = (sent(to.p256dh, "keys][p256dh")?, sent(to.auth, "keys][auth")?);
    Receiver::parse(&p256dh, &auth).map_err(|key| {
        Error::invalid(match key {
            "auth" => "subscription[keys][auth] must be 16 bytes as base64url",
            _ => "subscription[keys][p256dh] must be a public key on the curve P-256 as base64url",
        })
    })?;
    let Wanted { alerts, policy } = known(cx, wanted);
    let new = NewSubscription {
        token_id: token,
        account_id: actor.id,
        endpoint,
        p256dh,
        auth,
        standard: to.standard,
        alerts,
        policy: policy.unwrap_or(PushPolicy::All),
    };
    let mut tx = cx.db.begin().await?;
    // The token may have been revoked since the request began, and a token of an earlier secret key cannot be derived
    // again.
    let live = store::oauth::find_live_token(&mut tx, token).await?.ok_or(Error::InvalidToken)?;
    let text = grants::text(cx, token, &live.nonce);
    if !store::oauth::has_hash(&mut tx, token, &crypto::hash(text.expose())).await? {
        return Err(Error::invalid("This access token predates the server's current secret key: sign in again"));
    }
    store::push::save(&mut tx, new, cx.clock.now()).await?;
    let saved = store::push::find_of_token(&mut tx, token).await?.ok_or(Error::NotFound)?;
    tx.commit().await?;
    Ok(saved)
}

/// The subscription of the viewer's token.
///
/// # Errors
/// [`Error::NotFound`] when there is none.
#[model::use_case]
pub async fn show(cx: &Cx, viewer: &Actor) -> Result<Subscription> {
    store::push::find_of_token(&cx.db, token_of(viewer)?).await?.ok_or(Error::NotFound)
}

/// Replaces all options of the subscription of the actor's token.
///
/// # Errors
/// [`Error::NotFound`] when it has no subscription.
#[model::use_case]
pub async fn update(cx: &Cx, actor: &Actor, wanted: Wanted) -> Result<Subscription> {
    let token = token_of(actor)?;
    let Wanted { alerts, policy } = known(cx, wanted);
    let mut tx = cx.db.begin().await?;
    if !store::push::update(&mut tx, token, alerts, policy.unwrap_or(PushPolicy::All)).await? {
        return Err(Error::NotFound);
    }
    let saved = store::push::find_of_token(&mut tx, token).await?.ok_or(Error::NotFound)?;
    tx.commit().await?;
    Ok(saved)
}

/// Ends the subscription of the actor's token, if there is one.
#[model::use_case]
pub async fn unsubscribe(cx: &Cx, actor: &Actor) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    store::push::delete_of_tokens(&mut tx, &[token_of(actor)?]).await?;
    Ok(tx.commit().await?)
}

/// The token of a request.
fn token_of(actor: &Actor) -> Result<TokenId> {
    actor.token.ok_or_else(|| Error::invalid("A subscription belongs to an access token"))
}

/// `wanted` without unknown types of notifications.
fn known(cx: &Cx, mut wanted: Wanted) -> Wanted {
    let types = notification::types(cx);
    wanted.alerts.retain(|name, _| types.iter().any(|kind| kind.as_str() == name));
    wanted
}

fn sent(value: Option<String>, name: &str) -> Result<String> {
    let missing = || Error::invalid(format!("subscription[{name}] is missing"));
    value.filter(|value| !value.trim().is_empty()).ok_or_else(missing)
}

/// A valid endpoint URL. Whether its host is on the public internet is checked when a push is sent.
fn endpoint(value: Option<String>) -> Result<String> {
    let endpoint = sent(value, "endpoint")?;
    if endpoint.len() > MAX_ENDPOINT {
        return Err(Error::invalid(format!("subscription[endpoint] is longer than {MAX_ENDPOINT} characters")));
    }
    // Returned as sent: apps compare it with their own.
    let endpoint = endpoint.trim();
    Target::parse(endpoint)
        .map(|_| endpoint.to_owned())
        .map_err(|error| Error::invalid(format!("subscription[endpoint] is not a valid address: {error}")))
}
