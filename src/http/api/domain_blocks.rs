//! The domains that the signed-in user blocks.
//!
//! Spec: <https://docs.joinmastodon.org/methods/domain_blocks/>

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::auth::{ReadBlocks, WriteBlocks};
use crate::extract::{Auth, Paging, Params};
use crate::json::Json;
use crate::page::{Links, Page};
use entity::domain_block::{self, DomainBlockPreview};
use model::params::required;

/// The parameter of [`create`], [`delete`] and [`preview`].
#[model::parameters]
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DomainParams {
    /// The name of another server; in any case, and not only of ASCII.
    #[schemars(transform = required)]
    domain: Option<String>,
}

impl DomainParams {
    fn required(self) -> Result<String> {
        Ok(self.domain.ok_or_else(|| Error::missing("domain"))?)
    }
}

/// `GET /api/v1/domain_blocks`
pub async fn index(cx: Cx, Auth(viewer, ..): Auth<ReadBlocks>, paging: Paging<100, 200>) -> Result<Page<String>> {
    let blocks = service::domain_block::list(&cx, &viewer, &paging.cursor).await?;
    let ids: Vec<i64> = blocks.iter().map(|(id, _)| (*id).into()).collect();
    let domains: Vec<String> = blocks.into_iter().map(|(_, domain)| domain).collect();
    Ok(Page::new(&paging, Links::SinceId, &ids, domain_block::render(&domains)?))
}

/// `POST /api/v1/domain_blocks`: without a domain as with one that is none, 422.
pub async fn create(
    cx: Cx,
    Auth(actor, ..): Auth<WriteBlocks>,
    Params(params): Params<DomainParams>,
) -> Result<Json<entity::Empty>> {
    service::domain_block::block(&cx, &actor, params.domain.as_deref().unwrap_or_default()).await?;
    Ok(Json::empty())
}

/// `DELETE /api/v1/domain_blocks`
pub async fn delete(
    cx: Cx,
    Auth(actor, ..): Auth<WriteBlocks>,
    Params(params): Params<DomainParams>,
) -> Result<Json<entity::Empty>> {
    service::domain_block::unblock(&cx, &actor, &params.required()?).await?;
    Ok(Json::empty())
}

/// `GET /api/v1/domain_blocks/preview`
pub async fn preview(
    cx: Cx,
    Auth(actor, ..): Auth<WriteBlocks>,
    Params(params): Params<DomainParams>,
) -> Result<Json<entity::DomainBlockPreview>> {
    let counts = service::domain_block::preview(&cx, &actor, &params.required()?).await?;
    Json::of(&DomainBlockPreview::from(counts))
}
