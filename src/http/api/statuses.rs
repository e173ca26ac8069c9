//! <https://docs.joinmastodon.org/methods/statuses/>

use axum::extract::State;

use crate::app::App;
use crate::entity;
use crate::error::Result;
use crate::http::extract::auth::ReadStatuses;
use crate::http::extract::{MaybeAuth, Path};
use crate::http::json::Json;
use crate::model::StatusId;
use crate::service::visibility;

/// `GET /api/v1/statuses/{id}`
pub async fn show(
    State(app): State<App>,
    MaybeAuth(viewer, ..): MaybeAuth<ReadStatuses>,
    Path(id): Path<StatusId>,
) -> Result<Json> {
    let seen = visibility::status(&app, viewer.as_deref(), id).await?;
    Ok(Json(entity::status::render_one(&app, viewer.as_deref(), &seen).await?))
}
