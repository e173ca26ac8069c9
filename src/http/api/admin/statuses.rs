//! Single posts: shown whatever their visibility, deleted, and marked as sensitive. An addition of this server.
//!
//! Spec: docs/contract/extensions.md#13-admin-api

use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::Path;
use crate::extract::auth::{AdminReadReports, AdminWriteReports, ManageReports, StaffAuth};
use crate::json::Json;
use entity::Empty;
use model::StatusId;
use service::moderation::status::{self, Single};

/// `GET /api/v1/admin/statuses/{id}`
pub async fn show(
    cx: Cx,
    _: StaffAuth<AdminReadReports, ManageReports>,
    Path(id): Path<StatusId>,
) -> Result<Json<entity::Status>> {
    one(&cx, id).await
}

/// `DELETE /api/v1/admin/statuses/{id}`
pub async fn delete(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteReports, ManageReports>,
    Path(id): Path<StatusId>,
) -> Result<Json<Empty>> {
    status::remove(&cx, &staff, id).await?;
    Ok(Json::empty())
}

/// `POST /api/v1/admin/statuses/{id}/sensitive`
pub async fn mark(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteReports, ManageReports>,
    Path(id): Path<StatusId>,
) -> Result<Json<entity::Status>> {
    status::set_sensitive(&cx, &staff, id, true).await?;
    one(&cx, id).await
}

/// `POST /api/v1/admin/statuses/{id}/unsensitive`
pub async fn unmark(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteReports, ManageReports>,
    Path(id): Path<StatusId>,
) -> Result<Json<entity::Status>> {
    status::set_sensitive(&cx, &staff, id, false).await?;
    one(&cx, id).await
}

async fn one(cx: &Cx, id: StatusId) -> Result<Json<entity::Status>> {
    let rendered = match status::show(cx, id).await? {
        Single::Existing(seen) => entity::status::render_one(cx, None, &seen).await?,
        Single::Deleted(held) => {
            let shown = entity::held_status::render(cx, std::slice::from_ref(&*held)).await?.pop();
            shown.ok_or(Error::NotFound)?.1
        }
    };
    Ok(Json::new(rendered))
}
