//! Notifications of the signed-in user, one by one. By groups: [`notification_groups`](super::notification_groups).
//!
//! Spec: <https://docs.joinmastodon.org/methods/notifications/>

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{ReadNotifications, WriteNotifications};
use crate::extract::{Auth, Limit, Paging, Params, Path};
use crate::json::Json;
use crate::page::{Links, Page};
use entity::fallback::Fallbacks;
use entity::notification::UnreadCount;
use model::notification::NotificationKind;
use model::{AccountId, NotificationId};

use service::notification::NotificationFilter;

/// Query parameters that filter notifications.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Filters {
    /// Only notifications of these types; unknown ones match nothing.
    types: Option<Vec<String>>,
    /// No notifications of these types.
    exclude_types: Option<Vec<String>>,
    /// Only notifications that this account caused, filtered ones included; none for an invalid id.
    #[schemars(with = "Option<AccountId>")]
    account_id: Option<String>,
    /// Also notifications that the user's notification policy filters.
    include_filtered: Option<bool>,
}

impl Filters {
    /// Unknown types are ignored; a filter that names only unknown types matches nothing
    /// (docs/contract/rules.md#13-notifications).
    pub(super) fn filter(self, cx: &Cx) -> NotificationFilter {
        let named = |names: &[String], kind: &NotificationKind| names.iter().any(|name| name == kind.as_str());
        let types = service::notification::types(cx).into_iter().filter(|kind| {
            self.types.as_ref().is_none_or(|names| names.is_empty() || named(names, kind))
                && !self.exclude_types.as_ref().is_some_and(|names| named(names, kind))
        });
        let nobody = AccountId::from(0);
        let from = self.account_id.as_deref().filter(|text| !text.is_empty());
        let from = from.map(|text| text.parse().unwrap_or(nobody));
        NotificationFilter {
            types: types.collect(),
            from,
            filtered: from.is_some() || self.include_filtered.unwrap_or_default(),
        }
    }
}

/// The query parameter for the types that a client knows.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Knowledge {
    /// The types that the client can show; notifications of other types then have a `fallback` in words.
    pub(super) supported_types: Option<Vec<String>>,
}

/// Query parameters of [`index`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct IndexParams {
    #[serde(flatten)]
    filters: Filters,
    #[serde(flatten)]
    known: Knowledge,
}

/// `GET /api/v1/notifications`
pub async fn index(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadNotifications>,
    paging: Paging<40, 80>,
    Params(params): Params<IndexParams>,
) -> Result<Page<entity::Notification>> {
    let (ids, page) = service::notification::list(&cx, &viewer, &params.filters.filter(&cx), &paging.cursor).await?;
    let fallbacks = Fallbacks::new(&cx, &viewer, params.known.supported_types);
    let items = entity::notification::render(&cx, &viewer, &page, fallbacks.as_ref()).await?;
    Ok(Page::new(&paging, Links::Always, &ids, items))
}

/// `GET /api/v1/notifications/{id}`
pub async fn show(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadNotifications>,
    Path(id): Path<NotificationId>,
    Params(known): Params<Knowledge>,
) -> Result<Json<entity::Notification>> {
    let shown = service::notification::show(&cx, &viewer, id).await?;
    let fallbacks = Fallbacks::new(&cx, &viewer, known.supported_types);
    Ok(Json::new(entity::notification::render_one(&cx, &viewer, &shown, fallbacks.as_ref()).await?))
}

/// `GET /api/v1/notifications/unread_count`
pub async fn unread_count(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadNotifications>,
    Limit(limit): Limit<100, 1000>,
    Params(filters): Params<Filters>,
) -> Result<Json<entity::UnreadCount>> {
    let count = service::notification::count_unread(&cx, &viewer, &filters.filter(&cx), limit).await?;
    Json::of(&UnreadCount { count })
}

/// `POST /api/v1/notifications/clear`
pub async fn clear(cx: Cx, Auth(actor, ..): Auth<WriteNotifications>) -> Result<Json<entity::Empty>> {
    service::notification::clear(&cx, &actor).await?;
    Ok(Json::empty())
}

/// `POST /api/v1/notifications/{id}/dismiss`
pub async fn dismiss(
    cx: Cx,
    Auth(actor, ..): Auth<WriteNotifications>,
    Path(id): Path<NotificationId>,
) -> Result<Json<entity::Empty>> {
    service::notification::dismiss(&cx, &actor, id).await?;
    Ok(Json::empty())
}
