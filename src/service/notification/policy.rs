//! Notification policies: the treatment of notifications from some kinds of senders, chosen by the receiver.
//!
//! Reached from `/api/v1/notifications/policy` and `/api/v2/notifications/policy`. The policy is applied when a
//! notification is created; a change does not affect existing ones.
//!
//! Spec: docs/contract/rules.md#13-notifications.

use context::Cx;
use context::error::Result;
use model::Actor;
use model::notification::Policy;

pub use store::notification::policy::PolicyRow as PolicyChange;
pub use store::notification::requests::Summary;

/// The viewer's policy, and the numbers of pending requests and filtered notifications.
#[model::use_case]
pub async fn show(cx: &Cx, viewer: &Actor) -> Result<(Policy, Summary)> {
    let policy = store::notification::policy::find(&cx.db, viewer.id).await?;
    Ok((policy, store::notification::requests::summary(&cx.db, viewer.id).await?))
}

/// Changes the given values of the actor's policy. Returns it as [`show`] does.
#[model::use_case]
pub async fn update(cx: &Cx, actor: &Actor, change: PolicyChange) -> Result<(Policy, Summary)> {
    let mut tx = cx.db.begin().await?;
    store::notification::policy::save(&mut tx, actor.id, change).await?;
    tx.commit().await?;
    show(cx, actor).await
}
