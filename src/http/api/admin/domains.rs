//! Domains of other servers as far as they are known here.

use entity::admin::DomainPurge;
use model::params::required;
use schemars::JsonSchema;
use serde::Deserialize;
use service::domain_purge;

use crate::Cx;
use crate::error::Result;
use crate::extract::Params;
use crate::extract::auth::{AdminWriteDomainBlocks, ManageFederation, StaffAuth};
use crate::json::Json;

/// Body parameters of [`purge`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct DomainPurgeParams {
    /// Without its subdomains.
    #[schemars(transform = required)]
    domain: Option<String>,
    /// Only counts.
    dry_run: Option<bool>,
}

/// `POST /api/v1/admin/domains/purge`
pub async fn purge(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteDomainBlocks, ManageFederation>,
    Params(params): Params<DomainPurgeParams>,
) -> Result<Json<DomainPurge>> {
    let domain = params.domain.unwrap_or_default();
    let preview = params.dry_run.unwrap_or_default();
    let extent = match preview {
        true => domain_purge::preview(&cx, &domain).await?,
        false => domain_purge::purge(&cx, &staff, &domain).await?,
    };
    Json::of(&DomainPurge::new(extent, !preview))
}
