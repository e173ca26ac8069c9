//! Filters, with their keywords and statuses; the older form is in [`filters_v1`](super::filters_v1).
//!
//! Spec: <https://docs.joinmastodon.org/methods/filters/>

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{ReadFilters, WriteFilters};
use crate::extract::params::ParamsOfOwn;
use crate::extract::{Auth, Params, Path};
use crate::json::Json;
use model::params::required;
use model::{FilterId, RowId, StatusId};

use context::json::Fragment;
use service::filter::keyword::KeywordParams;
use service::filter::{self, FilterParams};

/// `GET /api/v2/filters`
pub async fn index(cx: Cx, Auth(viewer, ..): Auth<ReadFilters>) -> Result<Json<Vec<entity::Filter>>> {
    let filters = filter::list(&cx, &viewer).await?;
    Ok(Json::list(all(&filters, entity::filter::render)?))
}

/// `GET /api/v2/filters/{id}`
pub async fn show(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadFilters>,
    Path(id): Path<FilterId>,
) -> Result<Json<entity::Filter>> {
    Ok(Json::new(entity::filter::render(&filter::find(&cx, &viewer, id).await?)?))
}

/// `POST /api/v2/filters`
pub async fn create(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFilters>,
    Params(params): Params<FilterParams>,
) -> Result<Json<entity::Filter>> {
    Ok(Json::new(entity::filter::render(&filter::create(&cx, &actor, params).await?)?))
}

/// `PUT /api/v2/filters/{id}`
pub async fn update(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFilters>,
    Path(id): Path<FilterId>,
    params: ParamsOfOwn<Params<FilterParams>>,
) -> Result<Json<entity::Filter>> {
    let Params(params) = params.or_missing(filter::find(&cx, &actor, id)).await?;
    Ok(Json::new(entity::filter::render(&filter::update(&cx, &actor, id, params).await?)?))
}

/// `DELETE /api/v2/filters/{id}`
pub async fn delete(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFilters>,
    Path(id): Path<FilterId>,
) -> Result<Json<entity::Empty>> {
    filter::delete(&cx, &actor, id).await?;
    Ok(Json::empty())
}

/// `GET /api/v2/filters/{id}/keywords`
pub async fn keywords(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadFilters>,
    Path(id): Path<FilterId>,
) -> Result<Json<Vec<entity::FilterKeyword>>> {
    let keywords = filter::keyword::list(&cx, &viewer, id).await?;
    Ok(Json::list(all(&keywords, entity::filter::render_keyword)?))
}

/// `POST /api/v2/filters/{id}/keywords`
pub async fn create_keyword(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFilters>,
    Path(id): Path<FilterId>,
    params: ParamsOfOwn<Params<KeywordParams>>,
) -> Result<Json<entity::FilterKeyword>> {
    let Params(params) = params.or_missing(filter::find(&cx, &actor, id)).await?;
    Ok(Json::new(entity::filter::render_keyword(&filter::keyword::create(&cx, &actor, id, params).await?)?))
}

/// `POST /api/v2/filters/{id}/keywords/{ignored}`: as [`create_keyword`], whatever the last segment is.
pub async fn create_keyword_at(
    cx: Cx,
    auth: Auth<WriteFilters>,
    Path((id, _)): Path<(FilterId, String)>,
    params: ParamsOfOwn<Params<KeywordParams>>,
) -> Result<Json<entity::FilterKeyword>> {
    create_keyword(cx, auth, Path(id), params).await
}

/// `GET /api/v2/filters/keywords/{id}`
pub async fn show_keyword(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadFilters>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::FilterKeyword>> {
    Ok(Json::new(entity::filter::render_keyword(&filter::keyword::find(&cx, &viewer, id).await?)?))
}

/// `PUT /api/v2/filters/keywords/{id}`
pub async fn update_keyword(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFilters>,
    Path(id): Path<RowId>,
    params: ParamsOfOwn<Params<KeywordParams>>,
) -> Result<Json<entity::FilterKeyword>> {
    let Params(params) = params.or_missing(filter::keyword::find(&cx, &actor, id)).await?;
    Ok(Json::new(entity::filter::render_keyword(&filter::keyword::update(&cx, &actor, id, params).await?)?))
}

/// `DELETE /api/v2/filters/keywords/{id}`
pub async fn delete_keyword(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFilters>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::Empty>> {
    filter::keyword::delete(&cx, &actor, id).await?;
    Ok(Json::empty())
}

/// Body parameters of [`create_status`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct StatusParams {
    /// The status to add.
    #[schemars(transform = required)]
    status_id: Option<StatusId>,
}

/// `GET /api/v2/filters/{id}/statuses`
pub async fn statuses(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadFilters>,
    Path(id): Path<FilterId>,
) -> Result<Json<Vec<entity::FilterStatus>>> {
    let statuses = filter::status::list(&cx, &viewer, id).await?;
    Ok(Json::list(all(&statuses, entity::filter::render_status)?))
}

/// `POST /api/v2/filters/{id}/statuses`
pub async fn create_status(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFilters>,
    Path(id): Path<FilterId>,
    params: ParamsOfOwn<Params<StatusParams>>,
) -> Result<Json<entity::FilterStatus>> {
    let Params(params) = params.or_missing(filter::find(&cx, &actor, id)).await?;
    Ok(Json::new(entity::filter::render_status(&filter::status::create(&cx, &actor, id, params.status_id).await?)?))
}

/// `GET /api/v2/filters/statuses/{id}`
pub async fn show_status(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadFilters>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::FilterStatus>> {
    Ok(Json::new(entity::filter::render_status(&filter::status::find(&cx, &viewer, id).await?)?))
}

/// `DELETE /api/v2/filters/statuses/{id}`
pub async fn delete_status(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFilters>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::Empty>> {
    filter::status::delete(&cx, &actor, id).await?;
    Ok(Json::empty())
}

/// Each of `rows`, rendered.
pub(super) fn all<T>(rows: &[T], render: fn(&T) -> context::error::Result<Fragment>) -> Result<Vec<Fragment>> {
    Ok(rows.iter().map(render).collect::<context::error::Result<_>>()?)
}
