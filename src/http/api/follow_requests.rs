//! Incoming follow requests. The ids in the paths are account ids, not request ids.
//!
//! Spec: <https://docs.joinmastodon.org/methods/follow_requests/>

use super::accounts::{AccountPaging, listed};
use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{ReadFollowRequests, WriteFollows};
use crate::extract::{Auth, Path};
use crate::json::Json;
use crate::page::Page;
use model::AccountId;

/// `GET /api/v1/follow_requests`
pub async fn index(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadFollowRequests>,
    paging: AccountPaging,
) -> Result<Page<entity::Account>> {
    let rows = service::follow::requests(&cx, &viewer, &paging.cursor).await?;
    listed(&cx, &paging, &rows).await
}

/// `POST /api/v1/follow_requests/{account_id}/authorize`
pub async fn authorize(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFollows>,
    Path(id): Path<AccountId>,
) -> Result<Json<entity::Relationship>> {
    service::follow::authorize(&cx, &actor, id).await?;
    Ok(Json::new(entity::relationship::render_one(&cx, &actor, id).await?))
}

/// `POST /api/v1/follow_requests/{account_id}/reject`
pub async fn reject(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFollows>,
    Path(id): Path<AccountId>,
) -> Result<Json<entity::Relationship>> {
    service::follow::reject(&cx, &actor, id).await?;
    Ok(Json::new(entity::relationship::render_one(&cx, &actor, id).await?))
}
