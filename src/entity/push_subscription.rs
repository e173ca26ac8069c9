//! <https://docs.joinmastodon.org/entities/WebPushSubscription/>

use std::collections::BTreeMap;

use serde::Serialize;

use context::Cx;
use context::error::Result;
use context::json::Fragment;
use model::notification::PushPolicy;
use store::push::Subscription;

/// The push subscription of an access token.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct WebPushSubscription<'a> {
    /// A number, unlike every other id.
    id: i64,
    endpoint: &'a str,
    alerts: &'a BTreeMap<String, bool>,
    server_key: Option<&'a str>,
    policy: PushPolicy,
    /// The encoding of messages is that of RFC 8291.
    standard: bool,
}

pub fn render(cx: &Cx, subscription: &Subscription) -> Result<Fragment> {
    Fragment::of(&WebPushSubscription {
        id: subscription.number,
        endpoint: &subscription.endpoint,
        alerts: &subscription.alerts.0,
        server_key: cx.vapid.as_ref().map(|vapid| vapid.public_key()),
        policy: subscription.policy,
        standard: subscription.standard,
    })
}
