//! Requests of others to interact with one's statuses, and the decisions about them.
//!
//! Spec: docs/contract/rules.md#10-statuses, Interaction policies;
//! <https://docs.gotosocial.org/en/latest/api/swagger/>

use context::error::Error;
use model::RowId;
use model::interaction::RequestState;
use schemars::JsonSchema;
use serde::Deserialize;
use service::status::decision;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{ReadNotifications, WriteNotifications};
use crate::extract::{Auth, Paging, Params, Path};
use crate::json::Json;
use crate::page::{Links, Page};

/// Query parameters of [`index`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct IndexParams {
    /// `pending`, `accepted`, `rejected` or `revoked`; `pending` when it is left out.
    state: Option<String>,
}

/// `GET /api/v1/interaction_requests`: newest first.
pub async fn index(
    cx: Cx,
    Auth(actor, ..): Auth<ReadNotifications>,
    paging: Paging,
    Params(params): Params<IndexParams>,
) -> Result<Page<entity::InteractionRequest>> {
    let state = match params.state.as_deref() {
        None | Some("") => RequestState::Pending,
        Some(word) => word.parse().map_err(|expected| Error::invalid(format!("state: {expected}")))?,
    };
    let page = decision::list(&cx, &actor, state, &paging.cursor).await?;
    let items = entity::interaction_request::render(&cx, &actor, &page).await?;
    let ids: Vec<i64> = page.iter().map(|one| one.request.id.into()).collect();
    Ok(Page::new(&paging, Links::MinId, &ids, items))
}

/// `GET /api/v1/interaction_requests/{id}`
pub async fn show(
    cx: Cx,
    Auth(actor, ..): Auth<ReadNotifications>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::InteractionRequest>> {
    let request = decision::show(&cx, &actor, id).await?;
    Ok(Json::new(entity::interaction_request::render_one(&cx, &actor, &request).await?))
}

/// `POST /api/v1/interaction_requests/{id}/authorize`
pub async fn authorize(
    cx: Cx,
    Auth(actor, ..): Auth<WriteNotifications>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::InteractionRequest>> {
    let request = decision::decide(&cx, &actor, id, true).await?;
    Ok(Json::new(entity::interaction_request::render_one(&cx, &actor, &request).await?))
}

/// `POST /api/v1/interaction_requests/{id}/reject`
pub async fn reject(
    cx: Cx,
    Auth(actor, ..): Auth<WriteNotifications>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::InteractionRequest>> {
    let request = decision::decide(&cx, &actor, id, false).await?;
    Ok(Json::new(entity::interaction_request::render_one(&cx, &actor, &request).await?))
}
