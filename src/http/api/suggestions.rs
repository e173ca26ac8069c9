//! Suggestions of accounts to follow.
//!
//! Spec: <https://docs.joinmastodon.org/methods/suggestions/>

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{ReadAccounts, WriteAccounts};
use crate::extract::{Auth, OffsetPaging, Path};
use crate::json::Json;

use service::suggestion;

/// `GET /api/v1/suggestions`: deprecated.
pub async fn index_v1(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadAccounts>,
    paging: OffsetPaging<40, 80>,
) -> Result<Json<Vec<entity::Account>>> {
    let suggestions = suggestion::list(&cx, &viewer, paging.limit, paging.offset).await?;
    Ok(Json::list(entity::suggestion::render_accounts(&cx, &suggestions).await?))
}

/// `GET /api/v2/suggestions`
pub async fn index(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadAccounts>,
    paging: OffsetPaging<40, 80>,
) -> Result<Json<Vec<entity::Suggestion>>> {
    let suggestions = suggestion::list(&cx, &viewer, paging.limit, paging.offset).await?;
    Ok(Json::list(entity::suggestion::render(&cx, &suggestions).await?))
}

/// `DELETE /api/v1/suggestions/{account_id}`: succeeds for every id, since an unknown account is not suggested either.
pub async fn dismiss(
    cx: Cx,
    Auth(actor, ..): Auth<WriteAccounts>,
    Path(id): Path<String>,
) -> Result<Json<entity::Empty>> {
    if let Ok(target) = id.parse() {
        suggestion::dismiss(&cx, &actor, target).await?;
    }
    Ok(Json::empty())
}
