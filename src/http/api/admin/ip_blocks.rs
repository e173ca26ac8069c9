//! Blocked networks.
//!
//! Spec: <https://docs.joinmastodon.org/methods/admin/ip_blocks/>

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{AdminReadIpBlocks, AdminWriteIpBlocks, ManageBlocks, StaffAuth};
use crate::extract::params::ParamsOfOwn;
use crate::extract::{Paging, Params, Path};
use crate::json::Json;
use crate::page::Page;
use model::RowId;
use service::ip_block::{self, IpBlockParams};

/// `GET /api/v1/admin/ip_blocks`
pub async fn index(
    cx: Cx,
    _: StaffAuth<AdminReadIpBlocks, ManageBlocks>,
    paging: Paging<100, 200>,
) -> Result<Page<entity::admin::IpBlock>> {
    let rows = ip_block::list(&cx, &paging.cursor).await?;
    Page::of_entities(&paging, rows.into_iter().map(|row| (row.id.into(), row.into())).collect())
}

/// `GET /api/v1/admin/ip_blocks/{id}`
pub async fn show(
    cx: Cx,
    _: StaffAuth<AdminReadIpBlocks, ManageBlocks>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::admin::IpBlock>> {
    Json::of(&ip_block::find(&cx, id).await?.into())
}

/// `POST /api/v1/admin/ip_blocks`
pub async fn create(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteIpBlocks, ManageBlocks>,
    Params(params): Params<IpBlockParams>,
) -> Result<Json<entity::admin::IpBlock>> {
    Json::of(&ip_block::create(&cx, &staff, params).await?.into())
}

/// `PUT /api/v1/admin/ip_blocks/{id}`
pub async fn update(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteIpBlocks, ManageBlocks>,
    Path(id): Path<RowId>,
    params: ParamsOfOwn<Params<IpBlockParams>>,
) -> Result<Json<entity::admin::IpBlock>> {
    let Params(params) = params.or_missing(ip_block::find(&cx, id)).await?;
    Json::of(&ip_block::update(&cx, &staff, id, params).await?.into())
}

/// `DELETE /api/v1/admin/ip_blocks/{id}`
pub async fn delete(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteIpBlocks, ManageBlocks>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::Empty>> {
    ip_block::delete(&cx, &staff, id).await?;
    Ok(Json::empty())
}
