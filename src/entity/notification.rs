//! <https://docs.joinmastodon.org/entities/Notification/>

use std::sync::Arc;

use futures_util::stream::{self, StreamExt as _};
use serde::Serialize;

use super::attached::{Attached, Member};
use super::fallback::Fallbacks;
use super::{account, status, status_views};
use context::Cx;
use context::error::{Error, Result};
use context::extension::{Decorations, Entity, Members, Target};
use context::json::{Array, Fragment, Object};
use model::notification::NotificationKind;
use model::{AccountId, Actor, Notification, NotificationId};
use service::notification::VisibleNotification;
use service::notification::groups::ungrouped;

/// The member names of a notification.
pub(super) const MEMBERS: &[&str] = &[
    "id",
    "type",
    "created_at",
    "group_key",
    "filtered",
    "account",
    "status",
    "list",
    "report",
    "event",
    "moderation_warning",
    "fallback",
];

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
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UnreadCount {
    /// Capped at the requested limit.
    pub count: usize,
}

/// How many receivers are sent to extensions concurrently.
const ASKED_AT_ONCE: usize = 4;

/// Approximate size of a notification without its account and its status, in bytes.
const FRAME_BYTES: usize = 256;

/// A notification with all its parts.
struct Entry<'a> {
    kind: &'a NotificationKind,
    shared: Fragment,
    sender: &'a str,
    status: Option<status::Entry<'a>>,
    about: Member<'a>,
    added: Option<&'a Members>,
    fallback: Option<Fragment>,
}

/// Renders notifications, in the order given; with words for the types that `fallbacks` requests. No statement for
/// accounts and statuses that are cached.
pub async fn render(
    cx: &Cx,
    actor: &Actor,
    page: &[VisibleNotification],
    fallbacks: Option<&Fallbacks<'_>>,
) -> Result<Array> {
    let senders: Vec<(AccountId, i64)> =
        page.iter().map(|shown| (shown.listed.notification.from_account_id, shown.listed.from_version)).collect();
    let statuses = page.iter().filter_map(|shown| shown.status.as_ref());
    let parts = status::Parts::load(cx, Some(actor), statuses, &senders).await?;
    let attached = Attached::load(cx, actor, page.iter()).await?;
    let added = added(cx, actor, page).await;
    let entries = page.iter().enumerate().map(|(index, shown)| entry(&parts, &attached, shown, added.of(index)));
    let mut entries: Vec<Entry<'_>> = entries.filter_map(Result::transpose).collect::<Result<_>>()?;
    if let Some(fallbacks) = fallbacks {
        for entry in &mut entries {
            entry.fallback = fallbacks.of(entry.kind, entry.sender)?;
        }
    }
    let capacity = 2 + entries.iter().map(Entry::size_bytes).sum::<usize>();
    Ok(Array::of(capacity, &entries, |out, entry| write(out, &parts, entry)))
}

/// `None` when the account, the status or another subject was deleted since the notification was read.
fn entry<'a>(
    parts: &'a status::Parts<'_>,
    attached: &'a Attached,
    shown: &'a VisibleNotification,
    added: Option<&'a Members>,
) -> Result<Option<Entry<'a>>> {
    let row = &shown.listed.notification;
    let Some(sender) = parts.authors.get(&row.from_account_id) else { return Ok(None) };
    let status = shown.status.as_ref().map(|seen| parts.entry(seen));
    if matches!(status, Some(None)) {
        return Ok(None);
    }
    let about = attached.of(shown);
    if matches!(about, Member::Gone) {
        return Ok(None);
    }
    let shared = Fragment::of(&Shared::new(shown))?;
    Ok(Some(Entry { kind: &row.kind, shared, sender, status: status.flatten(), about, added, fallback: None }))
}

fn write(out: &mut String, parts: &status::Parts<'_>, entry: &Entry<'_>) {
    let status = entry.status.as_ref().map(|status| |out: &mut String| parts.write(out, status));
    write_parts(out, &entry.shared, entry.sender, status, entry.about, (entry.added, entry.fallback.as_ref()));
}

fn write_parts(
    out: &mut String,
    shared: &Fragment,
    sender: &str,
    status: Option<impl FnOnce(&mut String)>,
    about: Member<'_>,
    (added, fallback): (Option<&Members>, Option<&Fragment>),
) {
    Object::write(out, |object| {
        object.members_of(shared.as_str()).member("account", sender);
        if let Some(status) = status {
            object.member_with("status", status);
        }
        if let Member::Of(name, value) = about {
            object.member(name, value.as_str());
        }
        if let Some(fallback) = fallback {
            object.member("fallback", fallback.as_str());
        }
        if let Some(members) = added {
            members.add_to(object);
        }
    });
}

impl Entry<'_> {
    fn size_bytes(&self) -> usize {
        let status = self.status.as_ref().map_or(0, status::Entry::size_bytes);
        let about = if let Member::Of(_, value) = self.about { value.as_str().len() } else { 0 };
        let fallback = self.fallback.as_ref().map_or(0, |fallback| fallback.as_str().len());
        FRAME_BYTES + self.sender.len() + status + about + fallback + self.added.map_or(0, Members::size_bytes)
    }
}

/// Members that plugins add to a page.
async fn added(cx: &Cx, actor: &Actor, page: &[VisibleNotification]) -> Decorations {
    if !cx.extensions().decorates(Entity::Notification) {
        return Decorations::default();
    }
    let targets = page.iter().map(|shown| target(shown.listed.notification.id, &shown.listed.notification)).collect();
    cx.extensions().decorate(cx, Some(actor), Entity::Notification, targets, &[]).await
}

/// The input of extensions for a notification. `id` is the id of the notification, or of the group that it belongs
/// to.
pub(super) fn target(id: NotificationId, row: &Notification) -> Target {
    Target {
        id: id.into(),
        owner: row.from_account_id.into(),
        subject: row.status_id.map(i64::from),
        activity: Some(row.activity_id),
        code: row.kind.to_string(),
    }
}

/// Renders one notification.
///
/// # Errors
/// [`Error::NotFound`] when its account or status was deleted meanwhile.
pub async fn render_one(
    cx: &Cx,
    actor: &Actor,
    shown: &VisibleNotification,
    fallbacks: Option<&Fallbacks<'_>>,
) -> Result<Fragment> {
    let page = String::from(render(cx, actor, std::slice::from_ref(shown), fallbacks).await?);
    let one = page.strip_prefix('[').and_then(|page| page.strip_suffix(']')).filter(|one| !one.is_empty());
    one.map(Fragment::from_json).ok_or(Error::NotFound)
}

/// Renders each notification for its receiver, in order; `None` if the account or status was deleted meanwhile. A
/// batch about one status takes as many statements as one notification; each further status adds the statements for
/// the parts that depend on the viewer.
///
/// # Errors
/// As [`status_views::render_each`].
pub async fn render_each(cx: &Cx, shown: &[(Arc<Actor>, VisibleNotification)]) -> Result<Vec<Option<Fragment>>> {
    let row =
        |(_, shown): &(_, VisibleNotification)| (shown.listed.notification.from_account_id, shown.listed.from_version);
    let mut senders: Vec<(AccountId, i64)> = shown.iter().map(row).collect();
    senders.sort_unstable();
    senders.dedup();
    let senders = account::render_versions(cx, &senders).await?;
    let seen: Vec<_> = shown.iter().map(|(receiver, shown)| Some((Arc::clone(receiver), shown.status?))).collect();
    let statuses = status_views::render_pairs(cx, &seen).await?;
    let attached = Attached::load_each(cx, shown).await?;
    let added = added_to_each(cx, shown).await;
    let rendered = shown.iter().enumerate().map(|(index, (_, shown))| {
        let Some(sender) = senders.get(&shown.listed.notification.from_account_id) else { return Ok(None) };
        let (status, about) = (&statuses[index], attached.of(shown));
        if (shown.status.is_some() && status.is_none()) || matches!(about, Member::Gone) {
            return Ok(None);
        }
        let size = FRAME_BYTES + sender.len() + status.as_ref().map_or(0, |status| status.len());
        let status = status.as_ref().map(|status| |out: &mut String| out.push_str(status));
        let mut text = String::with_capacity(size);
        let members = added.get(index).and_then(|added| added.of(0));
        write_parts(&mut text, &Fragment::of(&Shared::new(shown))?, sender, status, about, (members, None));
        Ok(Some(Fragment::from_json(&text)))
    });
    rendered.collect()
}

/// Members that plugins add to each notification, requested separately for each receiver.
async fn added_to_each(cx: &Cx, shown: &[(Arc<Actor>, VisibleNotification)]) -> Vec<Decorations> {
    if !cx.extensions().decorates(Entity::Notification) {
        return Vec::new();
    }
    let ask = |(receiver, shown): &(Arc<Actor>, VisibleNotification)| {
        let (cx, receiver, shown) = (cx.begin(None), Arc::clone(receiver), shown.clone());
        async move { added(&cx, &receiver, std::slice::from_ref(&shown)).await }
    };
    stream::iter(shown.iter().map(ask)).buffered(ASKED_AT_ONCE).collect().await
}

impl<'a> Shared<'a> {
    fn new(shown: &'a VisibleNotification) -> Self {
        let row = &shown.listed.notification;
        Self {
            id: row.id,
            kind: &row.kind,
            created_at: row.created_at.to_api(),
            group_key: row.group_key.clone().unwrap_or_else(|| ungrouped(row.id)),
            filtered: row.filtered,
        }
    }
}
