//! Read positions in timelines.
//!
//! Spec: <https://docs.joinmastodon.org/methods/markers/>

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{ReadStatuses, WriteStatuses};
use crate::extract::{Auth, Params};
use crate::json::Json;
use model::marker::MarkedTimeline;

/// Query parameters of [`index`]; unknown timeline names are ignored.
#[model::parameters]
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Timelines {
    #[schemars(with = "Option<Vec<MarkedTimeline>>")]
    timeline: Option<Vec<String>>,
}

/// `GET /api/v1/markers`
pub async fn index(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadStatuses>,
    Params(params): Params<Timelines>,
) -> Result<Json<entity::Markers>> {
    let timelines: Vec<MarkedTimeline> =
        params.timeline.unwrap_or_default().iter().filter_map(|name| name.parse().ok()).collect();
    Ok(Json::new(entity::marker::render(&service::marker::list(&cx, &viewer, &timelines).await?)?))
}

/// Body parameters of [`create`]: the new position in each timeline; unknown timelines are ignored.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Positions {
    home: Option<Position>,
    notifications: Option<Position>,
}

/// A position; it may go backwards.
#[model::parameters]
#[derive(Debug, Deserialize, JsonSchema)]
struct Position {
    /// Id of a status or a notification.
    #[schemars(with = "Option<String>")]
    last_read_id: Option<i64>,
}

/// `POST /api/v1/markers`
pub async fn create(
    cx: Cx,
    Auth(actor, ..): Auth<WriteStatuses>,
    Params(params): Params<Positions>,
) -> Result<Json<entity::Markers>> {
    let sent = [(MarkedTimeline::Home, params.home), (MarkedTimeline::Notifications, params.notifications)];
    let positions: Vec<(MarkedTimeline, i64)> =
        sent.into_iter().filter_map(|(timeline, position)| Some((timeline, position?.last_read_id?))).collect();
    Ok(Json::new(entity::marker::render(&service::marker::save(&cx, &actor, &positions).await?)?))
}
