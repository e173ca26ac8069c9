//! Translations of statuses.
//!
//! Spec: <https://docs.joinmastodon.org/methods/statuses/#translate>

use axum::http::HeaderMap;
use schemars::JsonSchema;
use serde::Deserialize;

use super::timelines::accept_language;
use crate::Cx;
use crate::error::Result;
use crate::extract::auth::ReadStatuses;
use crate::extract::{Auth, Params, Path};
use crate::json::Json;
use model::StatusId;
use model::params::language;

use service::translation;

/// Body parameters of [`translate`].
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TranslateParams {
    /// ISO 639 code; by default the user's language, or else the language of the header `Accept-Language`.
    #[serde(default, deserialize_with = "language")]
    lang: Option<String>,
}

/// `POST /api/v1/statuses/{id}/translate`
pub async fn translate(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadStatuses>,
    Path(id): Path<StatusId>,
    headers: HeaderMap,
    Params(params): Params<TranslateParams>,
) -> Result<Json<entity::Translation>> {
    let accepted = accept_language(&headers);
    let made = translation::translate(&cx, &viewer, id, params.lang.as_deref(), accepted.as_deref()).await?;
    Ok(Json::new(entity::translation::render(&made.1)?))
}
