//! <https://docs.joinmastodon.org/entities/Notification/>

use serde::Serialize;

use super::{Fragment, status};
use crate::Cx;
use crate::error::{Error, Result};
use crate::extension::{Decorations, Target};
use crate::service::notification::VisibleNotification;
use crate::service::visibility::Seen;
use model::notification::NotificationKind;
use model::{AccountId, Actor, NotificationId};

/// The member names of a notification.
pub(super) const MEMBERS: &[&str] = &["id", "type", "created_at", "group_key", "filtered", "account", "status"];

/// The members other than account and status.
#[derive(Debug, Serialize)]
struct Shared<'a> {
    id: NotificationId,
    #[serde(rename = "type")]
    kind: &'a NotificationKind,
    created_at: String,
    group_key: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    filtered: bool,
}

/// <https://docs.joinmastodon.org/methods/notifications/#unread-count>
#[derive(Debug, Serialize)]
pub struct UnreadCount {
    /// Capped at the requested limit.
    pub count: usize,
}

/// Renders notifications, in the order given. A status that several share is rendered once; no statement for accounts
/// and statuses that are cached.
pub async fn render(cx: &Cx, actor: &Actor, page: &[VisibleNotification]) -> Result<Vec<Fragment>> {
    let mut senders: Vec<(AccountId, i64)> =
        page.iter().map(|shown| (shown.listed.notification.from_account_id, shown.listed.from_version)).collect();
    senders.sort_unstable();
    senders.dedup();
    let mut seen: Vec<Seen> = page.iter().filter_map(|shown| shown.status.clone()).collect();
    seen.sort_unstable_by_key(|seen| seen.head().id);
    seen.dedup_by_key(|seen| seen.head().id);
    let beside = status::render_beside(cx, Some(actor), &seen, &senders).await?;
    let added = added(cx, actor, page).await;
    let mut rendered = Vec::with_capacity(page.len());
    for (index, shown) in page.iter().enumerate() {
        // Left out when its account or status was deleted since the notification was read.
        let Some(sender) = beside.accounts.get(&shown.listed.notification.from_account_id) else { continue };
        let mut object = Fragment::of(&Shared::new(shown))?.open();
        object.member("account", sender);
        if let Some(seen) = &shown.status {
            let Some(status) = beside.statuses.get(&seen.head().id) else { continue };
            object.member("status", status.as_str());
        }
        if let Some(members) = added.of(index) {
            members.add_to(&mut object);
        }
        rendered.push(object.close());
    }
    Ok(rendered)
}

/// Members that plugins add to a page.
async fn added(cx: &Cx, actor: &Actor, page: &[VisibleNotification]) -> Decorations {
    if !cx.extensions().decorates("notification") {
        return Decorations::default();
    }
    let target = |shown: &VisibleNotification| {
        let row = &shown.listed.notification;
        Target {
            id: row.id.into(),
            owner: row.from_account_id.into(),
            subject: row.status_id.map(i64::from),
            activity: Some(row.activity_id),
            code: row.kind.to_string(),
        }
    };
    cx.extensions().decorate(cx, Some(actor), "notification", page.iter().map(target).collect(), &[]).await
}

/// Renders one notification.
///
/// # Errors
/// [`Error::NotFound`] when its account or status was deleted meanwhile.
pub async fn render_one(cx: &Cx, actor: &Actor, shown: &VisibleNotification) -> Result<Fragment> {
    render(cx, actor, std::slice::from_ref(shown)).await?.pop().ok_or(Error::NotFound)
}

impl<'a> Shared<'a> {
    fn new(shown: &'a VisibleNotification) -> Self {
        let row = &shown.listed.notification;
        Self {
            id: row.id,
            kind: &row.kind,
            created_at: row.created_at.to_api(),
            group_key: row.group_key.clone().unwrap_or_else(|| format!("ungrouped-{}", row.id)),
            filtered: row.filtered,
        }
    }
}
