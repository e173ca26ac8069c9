//! Announcements of the staff, and reactions to them.
//!
//! Spec: <https://docs.joinmastodon.org/methods/announcements/>

use axum::response::Response;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{AnyScope, WriteAccounts, WriteFavourites};
use crate::extract::{Auth, Path};
use crate::json::Json;
use model::RowId;

/// `GET /api/v1/announcements`
pub async fn index(cx: Cx, Auth(actor, ..): Auth<AnyScope>) -> Result<Response> {
    let page = service::announcement::list(&cx, &actor).await?;
    Ok(Json::list(entity::announcement::render(&cx, &actor, &page).await?))
}

/// `POST /api/v1/announcements/{id}/dismiss`
pub async fn dismiss(cx: Cx, Auth(actor, ..): Auth<WriteAccounts>, Path(id): Path<RowId>) -> Result<Json> {
    service::announcement::dismiss(&cx, &actor, id).await?;
    Json::empty()
}

/// `PUT /api/v1/announcements/{id}/reactions/{name}`
pub async fn react(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFavourites>,
    Path((id, name)): Path<(RowId, String)>,
) -> Result<Json> {
    service::announcement::react(&cx, &actor, id, &name).await?;
    Json::empty()
}

/// `DELETE /api/v1/announcements/{id}/reactions/{name}`
pub async fn unreact(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFavourites>,
    Path((id, name)): Path<(RowId, String)>,
) -> Result<Json> {
    service::announcement::unreact(&cx, &actor, id, &name).await?;
    Json::empty()
}
