//! Announcements of the staff, and reactions to them.
//!
//! Spec: <https://docs.joinmastodon.org/methods/announcements/>

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{AnyScope, WriteAccounts, WriteFavourites};
use crate::extract::{Auth, Path};
use crate::json::Json;
use model::RowId;

/// `GET /api/v1/announcements`
pub async fn index(cx: Cx, Auth(actor, ..): Auth<AnyScope>) -> Result<Json<Vec<entity::Announcement>>> {
    let page = service::announcement::list(&cx, &actor).await?;
    Ok(Json::list(entity::announcement::render(&cx, &actor, &page).await?))
}

/// `POST /api/v1/announcements/{id}/dismiss`
pub async fn dismiss(
    cx: Cx,
    Auth(actor, ..): Auth<WriteAccounts>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::Empty>> {
    service::announcement::dismiss(&cx, &actor, id).await?;
    Ok(Json::empty())
}

/// `PUT /api/v1/announcements/{id}/reactions/{name}`
pub async fn react(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFavourites>,
    Path((id, name)): Path<(RowId, String)>,
) -> Result<Json<entity::Empty>> {
    service::announcement::react(&cx, &actor, id, &name).await?;
    Ok(Json::empty())
}

/// `DELETE /api/v1/announcements/{id}/reactions/{name}`
pub async fn unreact(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFavourites>,
    Path((id, name)): Path<(RowId, String)>,
) -> Result<Json<entity::Empty>> {
    service::announcement::unreact(&cx, &actor, id, &name).await?;
    Ok(Json::empty())
}
