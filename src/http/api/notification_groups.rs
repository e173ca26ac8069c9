//! Notifications of the signed-in user by groups.
//!
//! Spec: <https://docs.joinmastodon.org/methods/grouped_notifications/>

use axum::http::header;
use schemars::JsonSchema;
use serde::Deserialize;

use super::notifications::{Filters, Knowledge};
use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::auth::{ReadNotifications, WriteNotifications};
use crate::extract::{Auth, Limit, Paging, Params, Path};
use crate::json::Json;
use crate::page::{Links, Page, link_header};
use model::notification::NotificationKind;

use entity::fallback::Fallbacks;
use entity::notification::UnreadCount;
use entity::notification_group::ExpandAccounts;
use service::notification::groups::{self, GroupFilter};

/// Query parameters that filter groups.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct GroupFilters {
    #[serde(flatten)]
    filters: Filters,
    /// The types to group, of the types that can be grouped; unknown types are ignored. Default: all of them.
    grouped_types: Option<Vec<String>>,
}

/// Query parameters of [`index`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct IndexParams {
    #[serde(flatten)]
    groups: GroupFilters,
    /// Whether all accounts are shown whole.
    #[schemars(with = "Option<ExpandAccounts>")]
    expand_accounts: Option<String>,
    #[serde(flatten)]
    known: Knowledge,
}

impl GroupFilters {
    fn filter(self, cx: &Cx) -> GroupFilter {
        let names = self.grouped_types.filter(|names| !names.is_empty());
        let named =
            |kind: &NotificationKind| names.as_ref().is_none_or(|names| names.iter().any(|name| name == kind.as_str()));
        let grouped = groups::groupable_types(cx).into_iter().filter(named).collect();
        GroupFilter { notifications: self.filters.filter(cx), grouped }
    }
}

/// `GET /api/v2/notifications`
pub async fn index(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadNotifications>,
    paging: Paging<40, 80>,
    Params(params): Params<IndexParams>,
) -> Result<Json<entity::GroupedNotificationsResults>> {
    let expand = match params.expand_accounts.as_deref().filter(|word| !word.is_empty()) {
        None => ExpandAccounts::Full,
        Some(word) => word.parse().map_err(|how| Error::bad_request(format!("expand_accounts {how}")))?,
    };
    let (ids, page) = groups::page(&cx, &viewer, &params.groups.filter(&cx), &paging.cursor).await?;
    let fallbacks = Fallbacks::new(&cx, &viewer, params.known.supported_types);
    let rendered = entity::notification_group::render(&cx, &viewer, &page, expand, fallbacks.as_ref()).await?;
    let response = Json::new(rendered);
    let links = link_header(&paging, ids.last().copied(), ids.first().map(|id| ("min_id", *id)));
    Ok(match links {
        Some(links) => response.with_header(header::LINK, links),
        None => response,
    })
}

/// `GET /api/v2/notifications/{group_key}`
pub async fn show(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadNotifications>,
    Path(key): Path<String>,
    Params(known): Params<Knowledge>,
) -> Result<Json<entity::GroupedNotificationsResults>> {
    let group = groups::show(&cx, &viewer, &key).await?;
    let fallbacks = Fallbacks::new(&cx, &viewer, known.supported_types);
    Ok(Json::new(entity::notification_group::render_one(&cx, &viewer, &group, fallbacks.as_ref()).await?))
}

/// `GET /api/v2/notifications/{group_key}/accounts`
pub async fn accounts(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadNotifications>,
    Path(key): Path<String>,
    paging: Paging<40, 80>,
) -> Result<Page<entity::Account>> {
    let listed = groups::accounts(&cx, &viewer, &key, &paging.cursor).await?;
    let ids: Vec<i64> = listed.iter().map(|row| row.row_id.into()).collect();
    let items = entity::account::render_listed(&cx, &listed).await?;
    Ok(Page::new(&paging, Links::MinId, &ids, items))
}

/// `GET /api/v2/notifications/unread_count`
pub async fn unread_count(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadNotifications>,
    Limit(limit): Limit<100, 1000>,
    Params(filters): Params<GroupFilters>,
) -> Result<Json<entity::UnreadCount>> {
    let count = groups::count_unread(&cx, &viewer, &filters.filter(&cx), limit).await?;
    Json::of(&UnreadCount { count })
}

/// `POST /api/v2/notifications/{group_key}/dismiss`
pub async fn dismiss(
    cx: Cx,
    Auth(actor, ..): Auth<WriteNotifications>,
    Path(key): Path<String>,
) -> Result<Json<entity::Empty>> {
    groups::dismiss(&cx, &actor, &key).await?;
    Ok(Json::empty())
}
