//! <https://docs.joinmastodon.org/methods/markers/>

use axum::extract::State;
use serde::Deserialize;

use crate::app::App;
use crate::entity;
use crate::error::Result;
use crate::http::extract::auth::{ReadStatuses, WriteStatuses};
use crate::http::extract::params::{int, list};
use crate::http::extract::{Auth, Params};
use crate::http::json::Json;
use crate::service;
use model::marker::MarkedTimeline;

/// Which markers; unknown names are ignored.
#[derive(Debug, Deserialize)]
pub struct Timelines {
    #[serde(default, deserialize_with = "list")]
    timeline: Option<Vec<String>>,
}

/// `GET /api/v1/markers`
pub async fn index(
    State(app): State<App>,
    Auth(viewer, ..): Auth<ReadStatuses>,
    Params(params): Params<Timelines>,
) -> Result<Json> {
    let timelines: Vec<MarkedTimeline> =
        params.timeline.unwrap_or_default().iter().filter_map(|name| name.parse().ok()).collect();
    Ok(Json(entity::marker::render(&service::marker::list(&app, &viewer, &timelines).await?)?))
}

/// How far which timeline was read; unknown timelines are ignored.
#[derive(Debug, Deserialize)]
pub struct Positions {
    home: Option<Position>,
    notifications: Option<Position>,
}

#[derive(Debug, Deserialize)]
struct Position {
    #[serde(default, deserialize_with = "int")]
    last_read_id: Option<i64>,
}

/// `POST /api/v1/markers`
pub async fn create(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteStatuses>,
    Params(params): Params<Positions>,
) -> Result<Json> {
    let sent = [(MarkedTimeline::Home, params.home), (MarkedTimeline::Notifications, params.notifications)];
    let positions: Vec<(MarkedTimeline, i64)> =
        sent.into_iter().filter_map(|(timeline, position)| Some((timeline, position?.last_read_id?))).collect();
    Ok(Json(entity::marker::render(&service::marker::save(&app, &actor, &positions).await?)?))
}
