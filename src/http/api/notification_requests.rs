//! Senders whose mentions the user's notification policy filtered.
//!
//! Spec: <https://docs.joinmastodon.org/methods/notifications/#get-requests>

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::auth::{ReadNotifications, WriteNotifications};
use crate::extract::{Auth, Paging, Params, Path};
use crate::json::Json;
use crate::page::{Links, Page};
use model::RowId;
use model::params::distinct;

use entity::notification_request::NotificationRequestsMerged;
use service::notification::requests;

/// Body parameters of [`accept_all`] and [`dismiss_all`].
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Requests {
    /// The requests; unknown ids and ids of other receivers are ignored. None when it is left out.
    #[serde(deserialize_with = "distinct")]
    #[schemars(with = "Option<Vec<RowId>>")]
    id: Option<Vec<serde_json::Value>>,
}

impl Requests {
    /// A key that is not an id is unknown.
    fn ids(self) -> Vec<RowId> {
        self.id.into_iter().flatten().filter_map(|id| serde_json::from_value(id).ok()).collect()
    }
}

/// `GET /api/v1/notifications/requests`
pub async fn index(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadNotifications>,
    paging: Paging<40, 80>,
) -> Result<Page<entity::NotificationRequest>> {
    let page = requests::list(&cx, &viewer, &paging.cursor).await?;
    let ids: Vec<i64> = page.iter().map(|request| request.row.id.into()).collect();
    let items = entity::notification_request::render(&cx, &viewer, &page).await?;
    Ok(Page::new(&paging, Links::MinId, &ids, items))
}

/// `GET /api/v1/notifications/requests/{id}`
pub async fn show(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadNotifications>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::NotificationRequest>> {
    let request = requests::show(&cx, &viewer, id).await?;
    Ok(Json::new(entity::notification_request::render_one(&cx, &viewer, &request).await?))
}

/// `GET /api/v1/notifications/requests/merged`
pub async fn merged(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadNotifications>,
) -> Result<Json<entity::NotificationRequestsMerged>> {
    Json::of(&NotificationRequestsMerged { merged: requests::is_merged(&cx, &viewer).await? })
}

/// `POST /api/v1/notifications/requests/{id}/accept`
pub async fn accept(
    cx: Cx,
    Auth(actor, ..): Auth<WriteNotifications>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::Empty>> {
    one(requests::accept(&cx, &actor, &[id]).await?)
}

/// `POST /api/v1/notifications/requests/{id}/dismiss`
pub async fn dismiss(
    cx: Cx,
    Auth(actor, ..): Auth<WriteNotifications>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::Empty>> {
    one(requests::dismiss(&cx, &actor, &[id]).await?)
}

/// `POST /api/v1/notifications/requests/accept`
pub async fn accept_all(
    cx: Cx,
    Auth(actor, ..): Auth<WriteNotifications>,
    Params(params): Params<Requests>,
) -> Result<Json<entity::Empty>> {
    requests::accept(&cx, &actor, &params.ids()).await?;
    Ok(Json::empty())
}

/// `POST /api/v1/notifications/requests/dismiss`
pub async fn dismiss_all(
    cx: Cx,
    Auth(actor, ..): Auth<WriteNotifications>,
    Params(params): Params<Requests>,
) -> Result<Json<entity::Empty>> {
    requests::dismiss(&cx, &actor, &params.ids()).await?;
    Ok(Json::empty())
}

/// The answer to a change of one request, of which so many were found.
fn one(found: usize) -> Result<Json<entity::Empty>> {
    if found == 0 { Err(Error::NotFound.into()) } else { Ok(Json::empty()) }
}
