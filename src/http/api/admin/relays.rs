//! Relays, an addition of this server.

use entity::admin::Relay;
use model::RowId;
use model::params::required;
use model::relay::RelayKind;
use schemars::JsonSchema;
use serde::Deserialize;
use service::moderation::relay;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{AdminReadDomainBlocks, AdminWriteDomainBlocks, ManageFederation, StaffAuth};
use crate::extract::{Params, Path};
use crate::json::Json;
use context::json::Fragment;

/// Body parameters of [`create`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct RelayParams {
    /// The inbox of a relay of Mastodon's kind, the actor of one of LitePub's.
    #[schemars(transform = required)]
    url: Option<String>,
    /// By default mastodon for a URL that ends with /inbox, else litepub.
    kind: Option<RelayKind>,
}

/// `GET /api/v1/admin/relays`: at most 20, oldest first.
pub async fn index(cx: Cx, _: StaffAuth<AdminReadDomainBlocks, ManageFederation>) -> Result<Json<Vec<Relay>>> {
    let rows = relay::list(&cx).await?.into_iter().map(|row| Fragment::of(&Relay::from(row)));
    Ok(Json::list(rows.collect::<Result<Vec<_>, _>>()?))
}

/// `POST /api/v1/admin/relays`: the relay is followed.
pub async fn create(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteDomainBlocks, ManageFederation>,
    Params(params): Params<RelayParams>,
) -> Result<Json<Relay>> {
    Json::of(&relay::add(&cx, &staff, &params.url.unwrap_or_default(), params.kind).await?.into())
}

/// `DELETE /api/v1/admin/relays/{id}`
pub async fn delete(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteDomainBlocks, ManageFederation>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::Empty>> {
    relay::remove(&cx, &staff, id).await?;
    Ok(Json::empty())
}

/// `POST /api/v1/admin/relays/{id}/enable`
pub async fn enable(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteDomainBlocks, ManageFederation>,
    Path(id): Path<RowId>,
) -> Result<Json<Relay>> {
    Json::of(&relay::enable(&cx, &staff, id).await?.into())
}

/// `POST /api/v1/admin/relays/{id}/disable`
pub async fn disable(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteDomainBlocks, ManageFederation>,
    Path(id): Path<RowId>,
) -> Result<Json<Relay>> {
    Json::of(&relay::disable(&cx, &staff, id).await?.into())
}
