//! Subscriptions to pushed notifications: one for each access token.
//!
//! Spec: <https://docs.joinmastodon.org/methods/push/>

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::auth::Push;
use crate::extract::{Auth, Params};
use crate::json::Json;
use model::notification::PushPolicy;
use model::params::required;
use model::params::{flag, flags, text};

use service::push::{self, Destination, Wanted};

/// Body parameters of [`create`].
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewSubscription {
    /// Where to send, from the browser or the app's relay.
    #[schemars(transform = required)]
    subscription: Option<Subscription>,
    /// What to send; nothing when left out.
    data: Option<Data>,
}

/// Where to send.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Subscription {
    /// An `https:` or `http:` URL.
    #[serde(deserialize_with = "text")]
    #[schemars(with = "String", transform = required)]
    endpoint: Option<String>,
    keys: Option<Keys>,
    /// True for messages in the encoding of RFC 8291 (`aes128gcm`), else in the encoding of the draft (`aesgcm`).
    #[serde(deserialize_with = "flag")]
    standard: Option<bool>,
}

/// The keys that messages are encrypted with.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
struct Keys {
    /// A public key on the curve P-256, base64url.
    #[schemars(with = "String", transform = required)]
    p256dh: Option<String>,
    /// 16 bytes, base64url.
    #[schemars(with = "String", transform = required)]
    auth: Option<String>,
}

/// Body parameters of [`update`].
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SubscriptionParams {
    data: Option<Data>,
}

/// What to send.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
struct Data {
    /// By type of notification; absent types are not sent, and unknown types are ignored.
    #[serde(deserialize_with = "flags")]
    alerts: BTreeMap<String, bool>,
    /// Whose notifications; everybody's when left out.
    policy: Option<PushPolicy>,
}

fn requested(data: Option<Data>) -> Wanted {
    let Data { alerts, policy } = data.unwrap_or_default();
    Wanted { alerts, policy }
}

/// `GET /api/v1/push/subscription`
///
/// # Errors
/// 404 when there is none.
pub async fn show(cx: Cx, Auth(actor, ..): Auth<Push>) -> Result<Json<entity::WebPushSubscription>> {
    Ok(Json::new(entity::push_subscription::render(&cx, &push::show(&cx, &actor).await?)?))
}

/// `POST /api/v1/push/subscription`
///
/// # Errors
/// 400 without a subscription, 422 for one that nothing can be sent to.
pub async fn create(
    cx: Cx,
    Auth(actor, ..): Auth<Push>,
    Params(new): Params<NewSubscription>,
) -> Result<Json<entity::WebPushSubscription>> {
    let Some(Subscription { endpoint, keys, standard }) = new.subscription else {
        return Err(Error::bad_request("subscription is missing").into());
    };
    let Keys { p256dh, auth } = keys.unwrap_or_default();
    let to = Destination { endpoint, p256dh, auth, standard: standard.unwrap_or_default() };
    let subscription = push::subscribe(&cx, &actor, to, requested(new.data)).await?;
    Ok(Json::new(entity::push_subscription::render(&cx, &subscription)?))
}

/// `PUT` and `PATCH /api/v1/push/subscription`
///
/// # Errors
/// 404 when there is none.
pub async fn update(
    cx: Cx,
    Auth(actor, ..): Auth<Push>,
    Params(change): Params<SubscriptionParams>,
) -> Result<Json<entity::WebPushSubscription>> {
    let subscription = push::update(&cx, &actor, requested(change.data)).await?;
    Ok(Json::new(entity::push_subscription::render(&cx, &subscription)?))
}

/// `DELETE /api/v1/push/subscription`
pub async fn destroy(cx: Cx, Auth(actor, ..): Auth<Push>) -> Result<Json<entity::Empty>> {
    push::unsubscribe(&cx, &actor).await?;
    Ok(Json::empty())
}
