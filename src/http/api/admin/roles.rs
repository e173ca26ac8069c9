//! Roles, and who has them: an addition of this server.
//!
//! Spec: docs/contract/admin.csv, docs/contract/extensions.md#13-admin-api

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::auth::{AdminRead, AdminWrite, ManageRoles, StaffAuth};
use crate::extract::params::ParamsOfOwn;
use crate::extract::{Params, Path};
use crate::json::Json;
use model::params::{required, sent_int};
use model::{AccountId, RowId};
use service::role::{self, RoleParams};

#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct AssignedRoleParams {
    /// The role; null or blank for none.
    #[serde(deserialize_with = "sent_int")]
    #[schemars(with = "Option<RowId>", transform = required)]
    role_id: Option<Option<i64>>,
}

/// `GET /api/v1/admin/roles`
pub async fn index(cx: Cx, _: StaffAuth<AdminRead, ManageRoles>) -> Result<Json<Vec<entity::admin::Role>>> {
    let roles: Vec<entity::admin::Role> = role::list(&cx).await?.into_iter().map(Into::into).collect();
    Json::of(&roles)
}

/// `GET /api/v1/admin/roles/{id}`
pub async fn show(
    cx: Cx,
    _: StaffAuth<AdminRead, ManageRoles>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::admin::Role>> {
    Json::of(&role::find(&cx, id).await?.into())
}

/// `POST /api/v1/admin/roles`
pub async fn create(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWrite, ManageRoles>,
    Params(params): Params<RoleParams>,
) -> Result<Json<entity::admin::Role>> {
    Json::of(&role::create(&cx, &staff, params).await?.into())
}

/// `PUT /api/v1/admin/roles/{id}`
pub async fn update(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWrite, ManageRoles>,
    Path(id): Path<RowId>,
    params: ParamsOfOwn<Params<RoleParams>>,
) -> Result<Json<entity::admin::Role>> {
    let Params(params) = params.or_missing(role::find(&cx, id)).await?;
    Json::of(&role::update(&cx, &staff, id, params).await?.into())
}

/// `DELETE /api/v1/admin/roles/{id}`
pub async fn delete(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWrite, ManageRoles>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::Empty>> {
    role::delete(&cx, &staff, id).await?;
    Ok(Json::empty())
}

/// `PUT /api/v1/admin/accounts/{id}/role`
pub async fn assign(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWrite, ManageRoles>,
    Path(id): Path<AccountId>,
    params: ParamsOfOwn<Params<AssignedRoleParams>>,
) -> Result<Json<entity::admin::Account>> {
    let Params(params) = params.or_missing(service::moderation::account::find(&cx, id)).await?;
    let role = params.role_id.ok_or_else(|| Error::invalid("role_id: is missing; blank removes the role"))?;
    role::assign(&cx, &staff, id, role.map(RowId::from), false).await?;
    super::accounts::one(&cx, id).await
}
