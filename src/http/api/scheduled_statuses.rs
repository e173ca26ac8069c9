//! Statuses that wait for their time; they are made by [`statuses::create`](super::statuses::create).
//!
//! Spec: <https://docs.joinmastodon.org/methods/scheduled_statuses/>

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{ReadStatuses, WriteStatuses};
use crate::extract::params::ParamsOfOwn;
use crate::extract::{Auth, Paging, Params, Path};
use crate::json::Json;
use crate::page::{Links, Page};
use model::{ScheduledStatusId, Time};

use context::json::Fragment;
use service::scheduled_status;

/// `GET /api/v1/scheduled_statuses`
pub async fn index(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadStatuses>,
    paging: Paging,
) -> Result<Page<entity::ScheduledStatus>> {
    let rows = scheduled_status::list(&cx, viewer.id, &paging.cursor).await?;
    let ids: Vec<i64> = rows.iter().map(|row| row.scheduled.id.into()).collect();
    let items: Vec<Fragment> =
        rows.iter().map(|row| entity::scheduled_status::render(&cx, row)).collect::<Result<_, _>>()?;
    Ok(Page::new(&paging, Links::MinId, &ids, items))
}

/// `GET /api/v1/scheduled_statuses/{id}`
pub async fn show(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadStatuses>,
    Path(id): Path<ScheduledStatusId>,
) -> Result<Json<entity::ScheduledStatus>> {
    Ok(Json::new(entity::scheduled_status::render(&cx, &scheduled_status::show(&cx, &viewer, id).await?)?))
}

/// Body parameters of [`update`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Schedule {
    /// A time more than five minutes ahead, in ISO 8601; it stays when it is left out.
    scheduled_at: Option<Time>,
}

/// `PUT /api/v1/scheduled_statuses/{id}`
pub async fn update(
    cx: Cx,
    Auth(actor, ..): Auth<WriteStatuses>,
    Path(id): Path<ScheduledStatusId>,
    params: ParamsOfOwn<Params<Schedule>>,
) -> Result<Json<entity::ScheduledStatus>> {
    let Params(params) = params.or_missing(scheduled_status::show(&cx, &actor, id)).await?;
    let changed = scheduled_status::update(&cx, &actor, id, params.scheduled_at).await?;
    Ok(Json::new(entity::scheduled_status::render(&cx, &changed)?))
}

/// `DELETE /api/v1/scheduled_statuses/{id}`
pub async fn delete(
    cx: Cx,
    Auth(actor, ..): Auth<WriteStatuses>,
    Path(id): Path<ScheduledStatusId>,
) -> Result<Json<entity::Empty>> {
    scheduled_status::delete(&cx, &actor, id).await?;
    Ok(Json::empty())
}
