//! What happens to notifications from some kinds of senders.
//!
//! Spec: <https://docs.joinmastodon.org/methods/notifications/#get-policy>

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{ReadNotifications, WriteNotifications};
use crate::extract::{Auth, Params};
use crate::json::Json;
use entity::notification_policy::{render, render_v1};
use model::notification::PolicyAction;
use service::notification::policy::{self, PolicyChange};

/// Body parameters of [`update`]; absent parameters change nothing.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Policy {
    /// Senders that the user does not follow.
    for_not_following: Option<PolicyAction>,
    /// Senders who do not follow the user, or for less than three days.
    for_not_followers: Option<PolicyAction>,
    /// Accounts of the last thirty days that the user does not follow.
    for_new_accounts: Option<PolicyAction>,
    /// Private mentions by accounts that the user neither follows nor has mentioned privately.
    for_private_mentions: Option<PolicyAction>,
    /// Accounts that moderators limited and the user does not follow.
    for_limited_accounts: Option<PolicyAction>,
}

/// Body parameters of [`update_v1`]: true filters, false accepts; absent parameters change nothing.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct V1Policy {
    filter_not_following: Option<bool>,
    filter_not_followers: Option<bool>,
    filter_new_accounts: Option<bool>,
    filter_private_mentions: Option<bool>,
}

impl From<Policy> for PolicyChange {
    fn from(policy: Policy) -> Self {
        Self {
            for_not_following: policy.for_not_following,
            for_not_followers: policy.for_not_followers,
            for_new_accounts: policy.for_new_accounts,
            for_private_mentions: policy.for_private_mentions,
            for_limited_accounts: policy.for_limited_accounts,
        }
    }
}

impl From<V1Policy> for PolicyChange {
    fn from(policy: V1Policy) -> Self {
        let action = |filters| if filters { PolicyAction::Filter } else { PolicyAction::Accept };
        Self {
            for_not_following: policy.filter_not_following.map(action),
            for_not_followers: policy.filter_not_followers.map(action),
            for_new_accounts: policy.filter_new_accounts.map(action),
            for_private_mentions: policy.filter_private_mentions.map(action),
            for_limited_accounts: None,
        }
    }
}

/// `GET /api/v2/notifications/policy`
pub async fn show(cx: Cx, Auth(viewer, ..): Auth<ReadNotifications>) -> Result<Json<entity::NotificationPolicy>> {
    let (policy, waiting) = policy::show(&cx, &viewer).await?;
    Ok(Json::new(render(&policy, waiting)?))
}

/// `PATCH /api/v2/notifications/policy`
pub async fn update(
    cx: Cx,
    Auth(actor, ..): Auth<WriteNotifications>,
    Params(change): Params<Policy>,
) -> Result<Json<entity::NotificationPolicy>> {
    let (policy, waiting) = policy::update(&cx, &actor, change.into()).await?;
    Ok(Json::new(render(&policy, waiting)?))
}

/// `GET /api/v1/notifications/policy`
pub async fn show_v1(cx: Cx, Auth(viewer, ..): Auth<ReadNotifications>) -> Result<Json<entity::V1NotificationPolicy>> {
    let (policy, waiting) = policy::show(&cx, &viewer).await?;
    Ok(Json::new(render_v1(&policy, waiting)?))
}

/// `PUT /api/v1/notifications/policy`
pub async fn update_v1(
    cx: Cx,
    Auth(actor, ..): Auth<WriteNotifications>,
    Params(change): Params<V1Policy>,
) -> Result<Json<entity::V1NotificationPolicy>> {
    let (policy, waiting) = policy::update(&cx, &actor, change.into()).await?;
    Ok(Json::new(render_v1(&policy, waiting)?))
}
