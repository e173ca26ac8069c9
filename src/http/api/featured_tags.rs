//! The hashtags that the signed-in user features on their profile.
//!
//! Spec: <https://docs.joinmastodon.org/methods/featured_tags/>

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::auth::{ReadAccounts, WriteAccounts};
use crate::extract::{Auth, Params, Path};
use crate::json::Json;
use model::RowId;
use model::params::required;

/// `GET /api/v1/featured_tags`
pub async fn index(cx: Cx, Auth(viewer, ..): Auth<ReadAccounts>) -> Result<Json<Vec<entity::FeaturedTag>>> {
    let (account, tags) = service::account::featured_tags(&cx, viewer.id).await?;
    Ok(Json::list(entity::featured_tag::render(&cx, &account, &tags)?))
}

/// Body parameters of [`create`].
#[model::parameters]
#[derive(Debug, Deserialize, JsonSchema)]
pub struct FeatureParams {
    /// With or without the `#`.
    #[schemars(transform = required)]
    name: Option<String>,
}

/// `POST /api/v1/featured_tags`
pub async fn create(
    cx: Cx,
    Auth(actor, ..): Auth<WriteAccounts>,
    Params(params): Params<FeatureParams>,
) -> Result<Json<entity::FeaturedTag>> {
    let name = params.name.filter(|name| !name.trim().is_empty()).ok_or_else(|| Error::missing("name"))?;
    let (account, tag) = service::featured_tag::create(&cx, &actor, name.trim()).await?;
    Ok(Json::new(entity::featured_tag::render_one(&cx, &account, &tag)?))
}

/// `DELETE /api/v1/featured_tags/{id}`
pub async fn delete(
    cx: Cx,
    Auth(actor, ..): Auth<WriteAccounts>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::Empty>> {
    service::featured_tag::delete(&cx, &actor, id).await?;
    Ok(Json::empty())
}

/// `GET /api/v1/featured_tags/suggestions`
pub async fn suggestions(cx: Cx, Auth(viewer, ..): Auth<ReadAccounts>) -> Result<Json<Vec<entity::Tag>>> {
    let tags = service::featured_tag::suggestions(&cx, &viewer).await?;
    Ok(Json::list(entity::tag::render(&cx, &tags, true).await?))
}
