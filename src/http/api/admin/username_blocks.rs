//! User names that cannot be used to sign up, with names that look like them.
//!
//! Spec: docs/contract/admin.csv; Mastodon has these blocks since 4.5, without an API.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{AdminRead, AdminWrite, ManageBlocks, StaffAuth};
use crate::extract::{Paging, Params, Path};
use crate::json::Json;
use crate::page::Page;
use entity::admin::UsernameBlock;
use model::RowId;
use model::params::required;
use model::username_block::UsernameComparison;
use service::username_block;

/// Body parameters of [`create`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct UsernameBlockParams {
    /// At most 30 letters, digits and underscores; names that look like it are blocked as well.
    #[schemars(transform = required)]
    username: Option<String>,
    /// Whether names are blocked that contain it; `equals` by default.
    comparison: Option<UsernameComparison>,
    /// A moderator decides about each sign-up, instead of none being possible.
    allow_with_approval: Option<bool>,
}

/// `GET /api/v1/admin/username_blocks`
pub async fn index(
    cx: Cx,
    _: StaffAuth<AdminRead, ManageBlocks>,
    paging: Paging<100, 200>,
) -> Result<Page<UsernameBlock>> {
    let rows = username_block::list(&cx, &paging.cursor).await?;
    Page::of_entities(&paging, rows.into_iter().map(|row| (row.id.into(), row.into())).collect())
}

/// `GET /api/v1/admin/username_blocks/{id}`
pub async fn show(cx: Cx, _: StaffAuth<AdminRead, ManageBlocks>, Path(id): Path<RowId>) -> Result<Json<UsernameBlock>> {
    Json::of(&username_block::find(&cx, id).await?.into())
}

/// `POST /api/v1/admin/username_blocks`
pub async fn create(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWrite, ManageBlocks>,
    Params(params): Params<UsernameBlockParams>,
) -> Result<Json<UsernameBlock>> {
    let (username, comparison) = (params.username.unwrap_or_default(), params.comparison);
    let comparison = comparison.unwrap_or(UsernameComparison::Equals);
    let approval = params.allow_with_approval.unwrap_or_default();
    Json::of(&username_block::create(&cx, &staff, &username, comparison, approval).await?.into())
}

/// `DELETE /api/v1/admin/username_blocks/{id}`
pub async fn delete(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWrite, ManageBlocks>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::Empty>> {
    username_block::delete(&cx, &staff, id).await?;
    Ok(Json::empty())
}
