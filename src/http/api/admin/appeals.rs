//! Appeals against strikes, an addition of this server: the list and the decisions.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::auth::{AdminReadAccounts, AdminWriteAccounts, ManageAppeals, StaffAuth};
use crate::extract::{Paging, Params, Path};
use crate::json::Json;
use crate::page::{Links, Page};
use entity::admin::Appeal;
use model::RowId;
use model::moderation::AppealState;
use service::moderation::appeal;

/// Query parameters of [`index`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct AppealsParams {
    /// `pending` by default.
    status: Option<AppealState>,
}

/// `GET /api/v1/admin/appeals`
pub async fn index(
    cx: Cx,
    _: StaffAuth<AdminReadAccounts, ManageAppeals>,
    paging: Paging<100, 200>,
    Params(params): Params<AppealsParams>,
) -> Result<Page<Appeal>> {
    let rows = appeal::list(&cx, params.status.unwrap_or(AppealState::Pending), &paging.cursor).await?;
    let ids: Vec<i64> = rows.iter().map(|row| row.id.into()).collect();
    Ok(Page::new(&paging, Links::MinId, &ids, entity::admin::appeal::render(&cx, &rows).await?))
}

/// `POST /api/v1/admin/appeals/{id}/approve`
pub async fn approve(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteAccounts, ManageAppeals>,
    Path(id): Path<RowId>,
) -> Result<Json<Appeal>> {
    appeal::decide(&cx, &staff, id, true).await?;
    one(&cx, id).await
}

/// `POST /api/v1/admin/appeals/{id}/reject`
pub async fn reject(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteAccounts, ManageAppeals>,
    Path(id): Path<RowId>,
) -> Result<Json<Appeal>> {
    appeal::decide(&cx, &staff, id, false).await?;
    one(&cx, id).await
}

async fn one(cx: &Cx, id: RowId) -> Result<Json<Appeal>> {
    let row = appeal::find(cx, id).await?;
    let rendered = entity::admin::appeal::render(cx, &[row]).await?.pop();
    Ok(Json::new(rendered.ok_or(Error::NotFound)?))
}
