//! What one does with a status: favourite, reblog, bookmark, pin, mute; and who did.
//!
//! <https://docs.joinmastodon.org/methods/statuses/>

use axum::extract::State;
use serde::Deserialize;

use super::statuses::shown;
use crate::app::App;
use crate::entity;
use crate::error::Result;
use crate::http::extract::auth::{
    ReadAccounts, WriteAccounts, WriteBookmarks, WriteFavourites, WriteMutes, WriteStatuses,
};
use crate::http::extract::params::text;
use crate::http::extract::{Auth, MaybeAuth, Paging, Params, Path};
use crate::http::json::Json;
use crate::http::page::{Links, Page};
use crate::service::status::Who;
use crate::service::{mark, reblog as reblogs, status};
use model::{AccountId, StatusId};

/// `POST /api/v1/statuses/{id}/favourite`
pub async fn favourite(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteFavourites>,
    Path(id): Path<StatusId>,
) -> Result<Json> {
    mark::favourite(&app, &actor, id).await?;
    shown(&app, Some(&actor), id).await
}

/// `POST /api/v1/statuses/{id}/unfavourite`
pub async fn unfavourite(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteFavourites>,
    Path(id): Path<StatusId>,
) -> Result<Json> {
    mark::unfavourite(&app, &actor, id).await?;
    shown(&app, Some(&actor), id).await
}

/// The parameter of a reblog.
#[derive(Debug, Deserialize)]
pub struct ReblogParams {
    #[serde(default, deserialize_with = "text")]
    visibility: Option<String>,
}

/// `POST /api/v1/statuses/{id}/reblog`
pub async fn reblog(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteStatuses>,
    Path(id): Path<StatusId>,
    Params(params): Params<ReblogParams>,
) -> Result<Json> {
    let reblog = reblogs::reblog(&app, &actor, id, params.visibility.as_deref()).await?;
    shown(&app, Some(&actor), reblog).await
}

/// `POST /api/v1/statuses/{id}/unreblog`
pub async fn unreblog(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteStatuses>,
    Path(id): Path<StatusId>,
) -> Result<Json> {
    let original = reblogs::unreblog(&app, &actor, id).await?;
    shown(&app, Some(&actor), original).await
}

/// `POST /api/v1/statuses/{id}/bookmark`
pub async fn bookmark(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteBookmarks>,
    Path(id): Path<StatusId>,
) -> Result<Json> {
    mark::bookmark(&app, &actor, id).await?;
    shown(&app, Some(&actor), id).await
}

/// `POST /api/v1/statuses/{id}/unbookmark`
pub async fn unbookmark(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteBookmarks>,
    Path(id): Path<StatusId>,
) -> Result<Json> {
    match mark::unbookmark(&app, &actor, id).await? {
        Some(seen) => Ok(Json(entity::status::render_one(&app, Some(&actor), &seen).await?)),
        None => Json::empty(),
    }
}

/// `POST /api/v1/statuses/{id}/pin`
pub async fn pin(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteAccounts>,
    Path(id): Path<StatusId>,
) -> Result<Json> {
    mark::pin(&app, &actor, id).await?;
    shown(&app, Some(&actor), id).await
}

/// `POST /api/v1/statuses/{id}/unpin`
pub async fn unpin(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteAccounts>,
    Path(id): Path<StatusId>,
) -> Result<Json> {
    mark::unpin(&app, &actor, id).await?;
    shown(&app, Some(&actor), id).await
}

/// `POST /api/v1/statuses/{id}/mute`
pub async fn mute(State(app): State<App>, Auth(actor, ..): Auth<WriteMutes>, Path(id): Path<StatusId>) -> Result<Json> {
    mark::mute_conversation(&app, &actor, id, true).await?;
    shown(&app, Some(&actor), id).await
}

/// `POST /api/v1/statuses/{id}/unmute`
pub async fn unmute(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteMutes>,
    Path(id): Path<StatusId>,
) -> Result<Json> {
    mark::mute_conversation(&app, &actor, id, false).await?;
    shown(&app, Some(&actor), id).await
}

/// `GET /api/v1/statuses/{id}/reblogged_by`
pub async fn reblogged_by(
    state: State<App>,
    viewer: MaybeAuth<ReadAccounts>,
    id: Path<StatusId>,
    paging: Paging<40, 80>,
) -> Result<Page> {
    who(state, viewer, id, paging, Who::Rebloggers).await
}

/// `GET /api/v1/statuses/{id}/favourited_by`
pub async fn favourited_by(
    state: State<App>,
    viewer: MaybeAuth<ReadAccounts>,
    id: Path<StatusId>,
    paging: Paging<40, 80>,
) -> Result<Page> {
    who(state, viewer, id, paging, Who::Favouriters).await
}

/// `GET /api/v1/statuses/{id}/mentioned_by`
pub async fn mentioned_by(
    state: State<App>,
    viewer: MaybeAuth<ReadAccounts>,
    id: Path<StatusId>,
    paging: Paging<40, 80>,
) -> Result<Page> {
    who(state, viewer, id, paging, Who::Mentioned).await
}

async fn who(
    State(app): State<App>,
    MaybeAuth(viewer, ..): MaybeAuth<ReadAccounts>,
    Path(id): Path<StatusId>,
    paging: Paging<40, 80>,
    who: Who,
) -> Result<Page> {
    let rows = status::who(&app, viewer.as_deref(), who, id, &paging.cursor).await?;
    let ids: Vec<i64> = rows.iter().map(|(row, _)| i64::from(*row)).collect();
    let accounts: Vec<AccountId> = rows.into_iter().map(|(_, account)| account).collect();
    Ok(Page::new(&paging, Links::SinceId, &ids, entity::account::render(&app, &accounts).await?))
}
