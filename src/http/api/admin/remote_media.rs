//! Copies of files of other servers, and how files are served. Additions of this server.
//!
//! Spec: docs/contract/federation.md#14-media-of-other-servers

use entity::admin::RemoteMedia;
use model::params::required;
use model::remote_file::RemoteMediaMode;
use schemars::JsonSchema;
use serde::Deserialize;
use service::remote::files::{modes, stock};

use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::Params;
use crate::extract::auth::{AdminReadDomainBlocks, AdminWriteDomainBlocks, ManageFederation, StaffAuth};
use crate::json::Json;

/// Body parameters of [`update`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ModeParams {
    /// With its subdomains.
    #[schemars(transform = required)]
    domain: Option<String>,
    /// How its files are served; without one, as those of others.
    mode: Option<RemoteMediaMode>,
}

/// `GET /api/v1/admin/remote_media`
pub async fn show(cx: Cx, _: StaffAuth<AdminReadDomainBlocks, ManageFederation>) -> Result<Json<RemoteMedia>> {
    overview(&cx).await
}

/// `POST /api/v1/admin/remote_media/domains`
pub async fn update(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteDomainBlocks, ManageFederation>,
    Params(params): Params<ModeParams>,
) -> Result<Json<RemoteMedia>> {
    let domain = params.domain.ok_or_else(|| Error::invalid("domain is missing"))?;
    modes::set(&cx, &staff, &domain, params.mode).await?;
    overview(&cx).await
}

async fn overview(cx: &Cx) -> Result<Json<RemoteMedia>> {
    Json::of(&RemoteMedia::new(cx, stock::overview(cx).await?))
}
