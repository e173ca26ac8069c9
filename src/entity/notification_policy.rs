//! <https://docs.joinmastodon.org/entities/NotificationPolicy/>

use serde::Serialize;

use context::error::Result;
use context::json::Fragment;
use model::notification::{Policy, PolicyAction};
use service::notification::policy::Summary as Waiting;

/// The policy for notifications from some kinds of senders.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NotificationPolicy {
    pub for_not_following: PolicyAction,
    pub for_not_followers: PolicyAction,
    pub for_new_accounts: PolicyAction,
    pub for_private_mentions: PolicyAction,
    pub for_limited_accounts: PolicyAction,
    pub summary: Summary,
}

/// Version 1 of the API, in which a value is true for everything but `accept`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct V1NotificationPolicy {
    pub filter_not_following: bool,
    pub filter_not_followers: bool,
    pub filter_new_accounts: bool,
    pub filter_private_mentions: bool,
    pub summary: Summary,
}

/// The number of requests and notifications that wait for a decision.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Summary {
    pub pending_requests_count: i64,
    pub pending_notifications_count: i64,
}

impl From<Waiting> for Summary {
    fn from(waiting: Waiting) -> Self {
        Self { pending_requests_count: waiting.requests, pending_notifications_count: waiting.notifications }
    }
}

pub fn render(policy: &Policy, waiting: Waiting) -> Result<Fragment> {
    Fragment::of(&NotificationPolicy {
        for_not_following: policy.for_not_following,
        for_not_followers: policy.for_not_followers,
        for_new_accounts: policy.for_new_accounts,
        for_private_mentions: policy.for_private_mentions,
        for_limited_accounts: policy.for_limited_accounts,
        summary: waiting.into(),
    })
}

/// Renders a policy in version 1 of the API.
pub fn render_v1(policy: &Policy, waiting: Waiting) -> Result<Fragment> {
    let held = |action: PolicyAction| action != PolicyAction::Accept;
    Fragment::of(&V1NotificationPolicy {
        filter_not_following: held(policy.for_not_following),
        filter_not_followers: held(policy.for_not_followers),
        filter_new_accounts: held(policy.for_new_accounts),
        filter_private_mentions: held(policy.for_private_mentions),
        summary: waiting.into(),
    })
}
