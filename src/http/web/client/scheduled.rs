//! Statuses that wait for their time.

use axum::response::Response;
use minijinja::{Value, context};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::Result;
use crate::extract::{Paging, Path};
use crate::web::settings::Frame;
use crate::web::{Form, NoFields, Page};
use model::ScheduledStatusId;
use service::scheduled_status;

/// `GET /scheduled`: newest first.
pub async fn index(frame: Frame, paging: Paging) -> Result<Page> {
    let (cx, viewer) = (&frame.cx, frame.actor().await?);
    let page = scheduled_status::list(cx, viewer.id, &paging.cursor).await?;
    let ids: Vec<i64> = page.iter().map(|one| one.scheduled.id.into()).collect();
    let mut shown: Vec<Value> = Vec::with_capacity(page.len());
    for one in &page {
        let json = entity::scheduled_status::render(cx, one)?;
        let entity: Entity = serde_json::from_str(json.as_str()).map_err(crate::error::Error::internal)?;
        let at = model::Time::parse_rfc3339(&entity.scheduled_at).map(|at| cx.language().minute(&at));
        let (id, text) = (entity.id, entity.params.text);
        shown.push(context! { id, text, at, at_iso => entity.scheduled_at, media => one.media.len() });
    }
    let own = context! { scheduled => shown, older_url => paging.older(&ids), newer_url => paging.newer(&ids) };
    frame.page("scheduled", "scheduled.title", "client/scheduled.html", own)
}

/// A scheduled status in JSON, as far as the page shows it.
#[derive(Debug, Deserialize, JsonSchema)]
struct Entity {
    id: String,
    scheduled_at: String,
    params: EntityParams,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct EntityParams {
    text: String,
}

/// `POST /scheduled/{id}`: deletes it.
///
/// # Errors
/// [`NotFound`](context::Error::NotFound) when it is missing or someone else's.
pub async fn delete(
    frame: Frame,
    Path(id): Path<ScheduledStatusId>,
    Form(NoFields {}): Form<NoFields>,
) -> Result<Response> {
    scheduled_status::delete(&frame.cx, &frame.actor().await?, id).await?;
    Ok(frame.done("scheduled.deleted", "/scheduled"))
}
