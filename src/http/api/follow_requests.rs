//! <https://docs.joinmastodon.org/methods/follow_requests/>: the ids in paths are those of accounts.

use axum::extract::State;

use super::accounts::{AccountPaging, listed};
use crate::app::App;
use crate::entity;
use crate::error::Result;
use crate::http::extract::auth::{ReadFollowRequests, WriteFollows};
use crate::http::extract::{Auth, Path};
use crate::http::json::Json;
use crate::http::page::Page;
use crate::service;
use model::AccountId;

/// `GET /api/v1/follow_requests`
pub async fn index(
    State(app): State<App>,
    Auth(actor, ..): Auth<ReadFollowRequests>,
    paging: AccountPaging,
) -> Result<Page> {
    let rows = service::follow::requests(&app, &actor, &paging.cursor).await?;
    listed(&app, &paging, &rows).await
}

/// `POST /api/v1/follow_requests/{account_id}/authorize`
pub async fn authorize(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteFollows>,
    Path(id): Path<AccountId>,
) -> Result<Json> {
    service::follow::authorize(&app, &actor, id).await?;
    Ok(Json(entity::relationship::render_one(&app, &actor, id).await?))
}

/// `POST /api/v1/follow_requests/{account_id}/reject`
pub async fn reject(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteFollows>,
    Path(id): Path<AccountId>,
) -> Result<Json> {
    service::follow::reject(&app, &actor, id).await?;
    Ok(Json(entity::relationship::render_one(&app, &actor, id).await?))
}
