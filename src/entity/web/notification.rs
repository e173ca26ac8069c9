//! Notifications and conversations on web pages, from the JSON of the API.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::author::Author;
use super::source::{AccountSource, Source, time};
use super::view::{View, WebStatus};
use context::Cx;
use context::error::{Error, Result};
use model::filter::FilterContext;
use model::notification::NotificationKind;
use model::{AccountId, Actor, StatusId, Time};
use service::conversation::VisibleConversation;
use service::notification::groups::Group;
use service::notification::requests::VisibleRequest;
use service::notification::title;

/// Notifications of one kind, about one thing.
#[derive(Clone, Debug, Serialize)]
pub struct WebNotification {
    pub key: String,
    pub kind: String,
    /// The event, in a sentence.
    pub sentence: String,
    /// The newest accounts that caused it.
    pub people: Vec<Author>,
    /// How many it stands for.
    pub count: i64,
    pub status: Option<WebStatus>,
    pub newest_id: i64,
    pub latest_iso: Option<String>,
    pub latest_human: Option<String>,
}

#[derive(Deserialize)]
struct Results {
    accounts: Vec<AccountSource>,
    statuses: Vec<Source>,
    notification_groups: Vec<GroupSource>,
}

#[derive(Deserialize)]
struct GroupSource {
    group_key: String,
    notifications_count: i64,
    #[serde(rename = "type")]
    kind: String,
    most_recent_notification_id: i64,
    #[serde(default)]
    latest_page_notification_at: Option<String>,
    sample_account_ids: Vec<AccountId>,
    #[serde(default)]
    status_id: Option<StatusId>,
}

/// Builds a page of groups, in the order given, as [`render`](crate::notification_group::render) renders them.
///
/// # Errors
/// As [`render`](crate::notification_group::render).
pub async fn notifications(cx: &Cx, viewer: &Actor, page: &[Group]) -> Result<Vec<WebNotification>> {
    let expand = crate::notification_group::ExpandAccounts::Full;
    let json = crate::notification_group::render(cx, viewer, page, expand, None).await?;
    let results: Results = serde_json::from_str(json.as_str()).map_err(Error::internal)?;
    let kinds: HashMap<String, &NotificationKind> = page
        .iter()
        .map(|group| &group.newest.listed.notification.kind)
        .map(|kind| (kind.as_str().to_owned(), kind))
        .collect();
    let view = View::new(cx, Some(viewer), Some(FilterContext::Notifications));
    let people: HashMap<AccountId, Author> =
        results.accounts.into_iter().map(|source| source.author(true)).map(|author| (author.id, author)).collect();
    let statuses: HashMap<StatusId, Option<WebStatus>> =
        results.statuses.into_iter().map(|source| (source.id, view.entry(source))).collect();
    let mut shown = Vec::with_capacity(results.notification_groups.len());
    for group in results.notification_groups {
        let people: Vec<Author> = group.sample_account_ids.iter().filter_map(|id| people.get(id)).cloned().collect();
        let (Some(first), Some(kind)) = (people.first(), kinds.get(&group.kind)) else { continue };
        let status = match group.status_id {
            // A filter hides it.
            Some(id) if matches!(statuses.get(&id), Some(None)) => continue,
            Some(id) => statuses.get(&id).cloned().flatten(),
            None => None,
        };
        let others = group.notifications_count - 1;
        let name = if others > 0 {
            cx.language().say_with("notices.others", &[("name", &first.display_name), ("count", &others)])
        } else {
            first.display_name.clone()
        };
        let latest = group.latest_page_notification_at.as_deref().map(time);
        shown.push(WebNotification {
            sentence: title::sentence(cx, cx.language(), kind, first.id == viewer.id, &name),
            key: group.group_key,
            kind: group.kind,
            count: group.notifications_count,
            newest_id: group.most_recent_notification_id,
            latest_iso: latest.map(Time::to_api_seconds),
            latest_human: latest.map(|at| cx.language().minute(&at)),
            people,
            status,
        });
    }
    Ok(shown)
}

/// A sender whose notifications wait, on web pages.
#[derive(Clone, Debug, Serialize)]
pub struct WebSender {
    pub id: String,
    pub count: String,
    pub person: Author,
    pub last_status: Option<WebStatus>,
}

#[derive(Deserialize)]
struct RequestSource {
    id: String,
    notifications_count: String,
    account: AccountSource,
    last_status: Option<Box<Source>>,
}

/// Builds a page of notification requests, in the order given.
///
/// # Errors
/// As [`render`](crate::notification_request::render).
pub async fn senders(cx: &Cx, viewer: &Actor, page: &[VisibleRequest]) -> Result<Vec<WebSender>> {
    let json = crate::notification_request::render(cx, viewer, page).await?;
    let sources: Vec<RequestSource> = serde_json::from_str(json.as_str()).map_err(Error::internal)?;
    let view = View::new(cx, Some(viewer), Some(FilterContext::Notifications));
    let mut shown = Vec::with_capacity(sources.len());
    for source in sources {
        let last_status = source.last_status.and_then(|status| view.entry(*status));
        let person = source.account.author(true);
        shown.push(WebSender { id: source.id, count: source.notifications_count, person, last_status });
    }
    Ok(shown)
}

/// A conversation on web pages.
#[derive(Clone, Debug, Serialize)]
pub struct WebConversation {
    pub id: String,
    pub unread: bool,
    pub people: Vec<Author>,
    pub last_status: Option<WebStatus>,
}

#[derive(Deserialize)]
struct ConversationSource {
    id: String,
    unread: bool,
    accounts: Vec<AccountSource>,
    last_status: Option<Box<Source>>,
}

/// Builds a page of conversations, in the order given.
///
/// # Errors
/// As [`render`](crate::conversation::render).
pub async fn conversations(cx: &Cx, viewer: &Actor, page: &[VisibleConversation]) -> Result<Vec<WebConversation>> {
    let json = crate::conversation::render(cx, viewer, page).await?;
    let sources: Vec<ConversationSource> = serde_json::from_str(json.as_str()).map_err(Error::internal)?;
    let view = View::new(cx, Some(viewer), Some(FilterContext::Notifications));
    let mut shown = Vec::with_capacity(sources.len());
    for source in sources {
        let last_status = source.last_status.and_then(|status| view.entry(*status));
        shown.push(WebConversation {
            id: source.id,
            unread: source.unread,
            people: source.accounts.into_iter().map(|account| account.author(true)).collect(),
            last_status,
        });
    }
    Ok(shown)
}
