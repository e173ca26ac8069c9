//! Domains that limited federation admits.
//!
//! Spec: <https://docs.joinmastodon.org/methods/admin/domain_allows/>

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{AdminReadDomainAllows, AdminWriteDomainAllows, ManageFederation, StaffAuth};
use crate::extract::{Paging, Params, Path};
use crate::json::Json;
use crate::page::Page;
use entity::admin::DomainAllow;
use model::RowId;
use model::params::required;
use service::domain_decision;

/// Body parameters of [`create`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct DomainAllowParams {
    /// Without its subdomains.
    #[schemars(transform = required)]
    domain: Option<String>,
}

/// `GET /api/v1/admin/domain_allows`
pub async fn index(
    cx: Cx,
    _: StaffAuth<AdminReadDomainAllows, ManageFederation>,
    paging: Paging<100, 500>,
) -> Result<Page<DomainAllow>> {
    let rows = domain_decision::list_allows(&cx, &paging.cursor).await?;
    Page::of_entities(&paging, rows.into_iter().map(|row| (row.id.into(), row.into())).collect())
}

/// `GET /api/v1/admin/domain_allows/{id}`
pub async fn show(
    cx: Cx,
    _: StaffAuth<AdminReadDomainAllows, ManageFederation>,
    Path(id): Path<RowId>,
) -> Result<Json<DomainAllow>> {
    Json::of(&domain_decision::find_allow(&cx, id).await?.into())
}

/// `POST /api/v1/admin/domain_allows`: for an allowed domain, the existing allow.
pub async fn create(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteDomainAllows, ManageFederation>,
    Params(params): Params<DomainAllowParams>,
) -> Result<Json<DomainAllow>> {
    let (allow, _) = domain_decision::allow(&cx, &staff, &params.domain.unwrap_or_default()).await?;
    Json::of(&allow.into())
}

/// `DELETE /api/v1/admin/domain_allows/{id}`
pub async fn delete(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteDomainAllows, ManageFederation>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::Empty>> {
    domain_decision::delete_allow(&cx, &staff, id).await?;
    Ok(Json::empty())
}
