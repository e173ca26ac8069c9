//! Filters in their older form, one for each keyword.
//!
//! Spec: <https://docs.joinmastodon.org/methods/filters/#v1>

use super::filters::all;
use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{ReadFilters, WriteFilters};
use crate::extract::params::ParamsOfOwn;
use crate::extract::{Auth, Params, Path};
use crate::json::Json;
use model::RowId;

use service::filter::keyword;
use service::filter::v1::{self, PhraseParams};

/// `GET /api/v1/filters`
pub async fn index(cx: Cx, Auth(viewer, ..): Auth<ReadFilters>) -> Result<Json<Vec<entity::V1Filter>>> {
    Ok(Json::list(all(&v1::list(&cx, &viewer).await?, entity::filter::render_v1)?))
}

/// `GET /api/v1/filters/{id}`
pub async fn show(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadFilters>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::V1Filter>> {
    Ok(Json::new(entity::filter::render_v1(&v1::find(&cx, &viewer, id).await?)?))
}

/// `POST /api/v1/filters`
pub async fn create(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFilters>,
    Params(params): Params<PhraseParams>,
) -> Result<Json<entity::V1Filter>> {
    Ok(Json::new(entity::filter::render_v1(&v1::create(&cx, &actor, params).await?)?))
}

/// `PUT /api/v1/filters/{id}`
pub async fn update(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFilters>,
    Path(id): Path<RowId>,
    params: ParamsOfOwn<Params<PhraseParams>>,
) -> Result<Json<entity::V1Filter>> {
    let Params(params) = params.or_missing(v1::find(&cx, &actor, id)).await?;
    Ok(Json::new(entity::filter::render_v1(&v1::update(&cx, &actor, id, params).await?)?))
}

/// `DELETE /api/v1/filters/{id}`: the keyword; its filter stays.
pub async fn delete(cx: Cx, Auth(actor, ..): Auth<WriteFilters>, Path(id): Path<RowId>) -> Result<Json<entity::Empty>> {
    keyword::delete(&cx, &actor, id).await?;
    Ok(Json::empty())
}
