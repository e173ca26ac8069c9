//! <https://docs.joinmastodon.org/entities/Notification/>

use serde::Serialize;

use super::{Fragment, status};
use crate::app::App;
use crate::error::{Error, Result};
use crate::plugins::hooks::{self, Decorations, Target};
use crate::service::notification::Shown;
use crate::service::visibility::Seen;
use model::notification::Kind;
use model::{AccountId, Actor, NotificationId};

/// Every member of a notification.
pub(super) const MEMBERS: &[&str] = &["id", "type", "created_at", "group_key", "filtered", "account", "status"];

/// The members that are neither an account nor a status.
#[derive(Debug, Serialize)]
struct Shared<'a> {
    id: NotificationId,
    #[serde(rename = "type")]
    kind: &'a Kind,
    created_at: String,
    group_key: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    filtered: bool,
}

/// <https://docs.joinmastodon.org/methods/notifications/#unread-count>
#[derive(Debug, Serialize)]
pub struct UnreadCount {
    /// Capped at the limit asked for.
    pub count: usize,
}

/// The actor's notifications, in the order given. A status that several are about is rendered once; accounts and
/// statuses cost no statement when none changed since they were last rendered.
///
/// # Errors
/// When the database does.
pub async fn render(app: &App, actor: &Actor, page: &[Shown]) -> Result<Vec<Fragment>> {
    let mut senders: Vec<(AccountId, i64)> =
        page.iter().map(|shown| (shown.listed.notification.from_account_id, shown.listed.from_version)).collect();
    senders.sort_unstable();
    senders.dedup();
    let mut seen: Vec<Seen> = page.iter().filter_map(|shown| shown.status.clone()).collect();
    seen.sort_unstable_by_key(|seen| seen.head().id);
    seen.dedup_by_key(|seen| seen.head().id);
    let beside = status::render_beside(app, Some(actor), &seen, &senders).await?;
    let added = added(app, actor, page).await?;
    let mut rendered = Vec::with_capacity(page.len());
    for (index, shown) in page.iter().enumerate() {
        // Whoever, or whatever, was deleted since the notification was read takes it along.
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

/// What plugins add to a page.
async fn added(app: &App, actor: &Actor, page: &[Shown]) -> Result<Decorations> {
    if !hooks::is_decorated(app, "notification") {
        return Ok(Decorations::default());
    }
    let target = |shown: &Shown| {
        let row = &shown.listed.notification;
        Target {
            id: row.id.into(),
            owner: row.from_account_id.into(),
            subject: row.status_id.map(i64::from),
            activity: Some(row.activity_id),
            code: row.kind.to_string(),
        }
    };
    hooks::decorate(app, Some(actor), "notification", page.iter().map(target).collect(), &[]).await
}

/// One notification.
///
/// # Errors
/// [`Error::NotFound`] when what it is about was deleted meanwhile.
pub async fn render_one(app: &App, actor: &Actor, shown: &Shown) -> Result<Fragment> {
    render(app, actor, std::slice::from_ref(shown)).await?.pop().ok_or(Error::NotFound)
}

impl<'a> Shared<'a> {
    fn new(shown: &'a Shown) -> Self {
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
