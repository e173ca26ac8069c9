//! <https://docs.joinmastodon.org/methods/notifications/>

use axum::extract::State;
use serde::Deserialize;

use crate::app::App;
use crate::entity::{self, notification::UnreadCount};
use crate::error::Result;
use crate::http::extract::auth::{ReadNotifications, WriteNotifications};
use crate::http::extract::params::{flag, list, word};
use crate::http::extract::{Auth, Paging, Params, Path};
use crate::http::json::Json;
use crate::http::page::{Links, Page};
use crate::service;
use crate::service::notification::Wanted;
use model::notification::Kind;
use model::{AccountId, NotificationId};

/// Which notifications are wanted.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Filters {
    #[serde(deserialize_with = "list")]
    types: Option<Vec<String>>,
    #[serde(deserialize_with = "list")]
    exclude_types: Option<Vec<String>>,
    #[serde(deserialize_with = "word")]
    account_id: Option<AccountId>,
    #[serde(deserialize_with = "flag")]
    include_filtered: Option<bool>,
}

impl Filters {
    /// Types that nobody knows are ignored; where only such are wanted, none is (contract rules, section 13).
    fn wanted(self, app: &App) -> Wanted {
        let named = |names: &[String], kind: &Kind| names.iter().any(|name| name == kind.as_str());
        let types = service::notification::types(app).into_iter().filter(|kind| {
            self.types.as_ref().is_none_or(|names| names.is_empty() || named(names, kind))
                && !self.exclude_types.as_ref().is_some_and(|names| named(names, kind))
        });
        Wanted {
            types: types.collect(),
            from: self.account_id,
            filtered: self.account_id.is_some() || self.include_filtered.unwrap_or_default(),
        }
    }
}

/// `GET /api/v1/notifications`
pub async fn index(
    State(app): State<App>,
    Auth(actor, ..): Auth<ReadNotifications>,
    paging: Paging<40, 80>,
    Params(filters): Params<Filters>,
) -> Result<Page> {
    let (ids, page) = service::notification::list(&app, &actor, &filters.wanted(&app), &paging.cursor).await?;
    let items = entity::notification::render(&app, &actor, &page).await?;
    Ok(Page::new(&paging, Links::Always, &ids, items))
}

/// `GET /api/v1/notifications/{id}`
pub async fn show(
    State(app): State<App>,
    Auth(actor, ..): Auth<ReadNotifications>,
    Path(id): Path<NotificationId>,
) -> Result<Json> {
    let shown = service::notification::show(&app, &actor, id).await?;
    Ok(Json(entity::notification::render_one(&app, &actor, &shown).await?))
}

/// `GET /api/v1/notifications/unread_count`
pub async fn unread_count(
    State(app): State<App>,
    Auth(actor, ..): Auth<ReadNotifications>,
    paging: Paging<100, 1000>,
    Params(filters): Params<Filters>,
) -> Result<Json> {
    let count = service::notification::count_unread(&app, &actor, &filters.wanted(&app), paging.cursor.limit).await?;
    Json::of(&UnreadCount { count })
}

/// `POST /api/v1/notifications/clear`
pub async fn clear(State(app): State<App>, Auth(actor, ..): Auth<WriteNotifications>) -> Result<Json> {
    service::notification::clear(&app, &actor).await?;
    Json::empty()
}

/// `POST /api/v1/notifications/{id}/dismiss`
pub async fn dismiss(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteNotifications>,
    Path(id): Path<NotificationId>,
) -> Result<Json> {
    service::notification::dismiss(&app, &actor, id).await?;
    Json::empty()
}
