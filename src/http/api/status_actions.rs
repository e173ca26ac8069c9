//! Actions on a status (favourite, reblog, bookmark, pin, mute) and the lists of accounts that took them.
//!
//! Spec: <https://docs.joinmastodon.org/methods/statuses/>

use schemars::JsonSchema;
use serde::Deserialize;

use super::accounts::AccountPaging;
use super::statuses::shown;
use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{ReadAccounts, WriteAccounts, WriteBookmarks, WriteFavourites, WriteMutes, WriteStatuses};
use crate::extract::{Auth, MaybeAuth, Params, Path};
use crate::json::Json;
use crate::page::{Links, Page};
use entity::Either;
use model::{AccountId, StatusId, Visibility};

use service::status::{self, Interaction};
use service::{interaction, reblog as reblogs};

/// `POST /api/v1/statuses/{id}/favourite`
pub async fn favourite(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFavourites>,
    Path(id): Path<StatusId>,
) -> Result<Json<entity::Status>> {
    interaction::favourite(&cx, &actor, id).await?;
    shown(&cx, Some(&actor), id).await
}

/// `POST /api/v1/statuses/{id}/unfavourite`
pub async fn unfavourite(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFavourites>,
    Path(id): Path<StatusId>,
) -> Result<Json<entity::Status>> {
    let seen = interaction::unfavourite(&cx, &actor, id).await?;
    Ok(Json::new(entity::status::render_one(&cx, Some(&actor), &seen).await?))
}

/// Body parameters of [`reblog`].
#[model::parameters]
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ReblogParams {
    /// The visibility of the reblog; the user's default when it is absent.
    #[schemars(with = "Option<Visibility>")]
    visibility: Option<String>,
}

/// `POST /api/v1/statuses/{id}/reblog`
pub async fn reblog(
    cx: Cx,
    Auth(actor, ..): Auth<WriteStatuses>,
    Path(id): Path<StatusId>,
    Params(params): Params<ReblogParams>,
) -> Result<Json<entity::Status>> {
    let reblog = reblogs::reblog(&cx, &actor, id, params.visibility.as_deref()).await?;
    shown(&cx, Some(&actor), reblog).await
}

/// `POST /api/v1/statuses/{id}/unreblog`
pub async fn unreblog(
    cx: Cx,
    Auth(actor, ..): Auth<WriteStatuses>,
    Path(id): Path<StatusId>,
) -> Result<Json<entity::Status>> {
    let original = reblogs::unreblog(&cx, &actor, id).await?;
    shown(&cx, Some(&actor), original).await
}

/// `POST /api/v1/statuses/{id}/bookmark`
pub async fn bookmark(
    cx: Cx,
    Auth(actor, ..): Auth<WriteBookmarks>,
    Path(id): Path<StatusId>,
) -> Result<Json<entity::Status>> {
    interaction::bookmark(&cx, &actor, id).await?;
    shown(&cx, Some(&actor), id).await
}

/// `POST /api/v1/statuses/{id}/unbookmark`
pub async fn unbookmark(
    cx: Cx,
    Auth(actor, ..): Auth<WriteBookmarks>,
    Path(id): Path<StatusId>,
) -> Result<Json<Either<entity::Status, entity::Empty>>> {
    match interaction::unbookmark(&cx, &actor, id).await? {
        Some(seen) => Ok(Json::new(entity::status::render_one(&cx, Some(&actor), &seen).await?).either()),
        None => Ok(Json::empty().or()),
    }
}

/// `POST /api/v1/statuses/{id}/pin`
pub async fn pin(
    cx: Cx,
    Auth(actor, ..): Auth<WriteAccounts>,
    Path(id): Path<StatusId>,
) -> Result<Json<entity::Status>> {
    interaction::pin(&cx, &actor, id).await?;
    shown(&cx, Some(&actor), id).await
}

/// `POST /api/v1/statuses/{id}/unpin`
pub async fn unpin(
    cx: Cx,
    Auth(actor, ..): Auth<WriteAccounts>,
    Path(id): Path<StatusId>,
) -> Result<Json<entity::Status>> {
    interaction::unpin(&cx, &actor, id).await?;
    shown(&cx, Some(&actor), id).await
}

/// `POST /api/v1/statuses/{id}/mute`
pub async fn mute(cx: Cx, Auth(actor, ..): Auth<WriteMutes>, Path(id): Path<StatusId>) -> Result<Json<entity::Status>> {
    interaction::mute_conversation(&cx, &actor, id, true).await?;
    shown(&cx, Some(&actor), id).await
}

/// `POST /api/v1/statuses/{id}/unmute`
pub async fn unmute(
    cx: Cx,
    Auth(actor, ..): Auth<WriteMutes>,
    Path(id): Path<StatusId>,
) -> Result<Json<entity::Status>> {
    interaction::mute_conversation(&cx, &actor, id, false).await?;
    shown(&cx, Some(&actor), id).await
}

/// `GET /api/v1/statuses/{id}/reblogged_by`
pub async fn reblogged_by(
    cx: Cx,
    viewer: MaybeAuth<ReadAccounts>,
    id: Path<StatusId>,
    paging: AccountPaging,
) -> Result<Page<entity::Account>> {
    accounts_page(cx, viewer, id, paging, Interaction::Rebloggers).await
}

/// `GET /api/v1/statuses/{id}/favourited_by`
pub async fn favourited_by(
    cx: Cx,
    viewer: MaybeAuth<ReadAccounts>,
    id: Path<StatusId>,
    paging: AccountPaging,
) -> Result<Page<entity::Account>> {
    accounts_page(cx, viewer, id, paging, Interaction::Favouriters).await
}

/// `GET /api/v1/statuses/{id}/mentioned_by`
pub async fn mentioned_by(
    cx: Cx,
    viewer: MaybeAuth<ReadAccounts>,
    id: Path<StatusId>,
    paging: AccountPaging,
) -> Result<Page<entity::Account>> {
    accounts_page(cx, viewer, id, paging, Interaction::Mentioned).await
}

async fn accounts_page(
    cx: Cx,
    MaybeAuth(viewer, ..): MaybeAuth<ReadAccounts>,
    Path(id): Path<StatusId>,
    paging: AccountPaging,
    interaction: Interaction,
) -> Result<Page<entity::Account>> {
    let rows = status::list_interactions(&cx, viewer.as_deref(), interaction, id, &paging.cursor).await?;
    let ids: Vec<i64> = rows.iter().map(|(row, _)| i64::from(*row)).collect();
    let accounts: Vec<AccountId> = rows.into_iter().map(|(_, account)| account).collect();
    Ok(Page::new(&paging, Links::SinceId, &ids, entity::account::render(&cx, &accounts).await?))
}
