//! Relationships with other accounts: follow, block, mute, endorse, note.
//!
//! Every change answers with the new `Relationship`.
//!
//! Spec: <https://docs.joinmastodon.org/methods/accounts/>

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::auth::{ReadFollows, WriteAccountMutes, WriteAccounts, WriteBlocks, WriteFollows};
use crate::extract::{Auth, Params, Path};
use crate::json::Json;
use model::params::required;
use model::{AccountId, Actor};

use service::follow::FollowParams;

/// Query parameters of [`index`].
#[model::parameters]
#[derive(Debug, Deserialize, JsonSchema)]
pub struct RelationshipParams {
    #[schemars(transform = required)]
    id: Option<Vec<AccountId>>,
    /// Suspended accounts as well.
    with_suspended: Option<bool>,
}

/// `GET /api/v1/accounts/relationships`
pub async fn index(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadFollows>,
    Params(params): Params<RelationshipParams>,
) -> Result<Json<Vec<entity::Relationship>>> {
    let ids = params.id.ok_or_else(|| Error::missing("id[]"))?;
    let with_suspended = params.with_suspended.unwrap_or(false);
    Ok(Json::list(entity::relationship::render(&cx, &viewer, &ids, with_suspended).await?))
}

/// Most accounts of a request for [`familiar_followers`].
const TARGETS_MAX: usize = 80;

/// Query parameters of [`familiar_followers`].
#[model::parameters]
#[derive(Debug, Deserialize, JsonSchema)]
pub struct FamiliarParams {
    /// Empty when it is left out.
    id: Option<Vec<AccountId>>,
}

/// `GET /api/v1/accounts/familiar_followers`: of the first 80 accounts that are asked for.
pub async fn familiar_followers(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadFollows>,
    Params(params): Params<FamiliarParams>,
) -> Result<Json<Vec<entity::FamiliarFollowers>>> {
    let mut ids = params.id.unwrap_or_default();
    ids.truncate(TARGETS_MAX);
    Ok(Json::list(entity::familiar_followers::render(&cx, &viewer, &ids).await?))
}

/// `POST /api/v1/accounts/{id}/follow`
pub async fn follow(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFollows>,
    Path(id): Path<AccountId>,
    Params(params): Params<FollowParams>,
) -> Result<Json<entity::Relationship>> {
    service::follow::follow(&cx, &actor, id, params).await?;
    render_relationship(&cx, &actor, id).await
}

/// `POST /api/v1/accounts/{id}/unfollow`
pub async fn unfollow(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFollows>,
    Path(id): Path<AccountId>,
) -> Result<Json<entity::Relationship>> {
    service::follow::unfollow(&cx, &actor, id).await?;
    render_relationship(&cx, &actor, id).await
}

/// `POST /api/v1/accounts/{id}/remove_from_followers`
pub async fn remove_from_followers(
    cx: Cx,
    Auth(actor, ..): Auth<WriteFollows>,
    Path(id): Path<AccountId>,
) -> Result<Json<entity::Relationship>> {
    service::follow::remove_follower(&cx, &actor, id).await?;
    render_relationship(&cx, &actor, id).await
}

/// `POST /api/v1/accounts/{id}/block`
pub async fn block(
    cx: Cx,
    Auth(actor, ..): Auth<WriteBlocks>,
    Path(id): Path<AccountId>,
) -> Result<Json<entity::Relationship>> {
    service::relationship::block(&cx, &actor, id).await?;
    render_relationship(&cx, &actor, id).await
}

/// `POST /api/v1/accounts/{id}/unblock`
pub async fn unblock(
    cx: Cx,
    Auth(actor, ..): Auth<WriteBlocks>,
    Path(id): Path<AccountId>,
) -> Result<Json<entity::Relationship>> {
    service::relationship::unblock(&cx, &actor, id).await?;
    render_relationship(&cx, &actor, id).await
}

/// Body parameters of [`mute`].
#[model::parameters]
#[derive(Debug, Deserialize, JsonSchema)]
pub struct MuteParams {
    /// Whether notifications from the account are hidden too, which is the default.
    notifications: Option<bool>,
    /// In seconds; 0, the default, for ever.
    duration: Option<i64>,
}

/// `POST /api/v1/accounts/{id}/mute`
pub async fn mute(
    cx: Cx,
    Auth(actor, ..): Auth<WriteAccountMutes>,
    Path(id): Path<AccountId>,
    Params(params): Params<MuteParams>,
) -> Result<Json<entity::Relationship>> {
    let hide_notifications = params.notifications.unwrap_or(true);
    service::relationship::mute(&cx, &actor, id, hide_notifications, params.duration.unwrap_or(0)).await?;
    render_relationship(&cx, &actor, id).await
}

/// `POST /api/v1/accounts/{id}/unmute`
pub async fn unmute(
    cx: Cx,
    Auth(actor, ..): Auth<WriteAccountMutes>,
    Path(id): Path<AccountId>,
) -> Result<Json<entity::Relationship>> {
    service::relationship::unmute(&cx, &actor, id).await?;
    render_relationship(&cx, &actor, id).await
}

/// `POST /api/v1/accounts/{id}/pin`
pub async fn pin(
    cx: Cx,
    Auth(actor, ..): Auth<WriteAccounts>,
    Path(id): Path<AccountId>,
) -> Result<Json<entity::Relationship>> {
    service::relationship::endorse(&cx, &actor, id).await?;
    render_relationship(&cx, &actor, id).await
}

/// `POST /api/v1/accounts/{id}/unpin`
pub async fn unpin(
    cx: Cx,
    Auth(actor, ..): Auth<WriteAccounts>,
    Path(id): Path<AccountId>,
) -> Result<Json<entity::Relationship>> {
    service::relationship::unendorse(&cx, &actor, id).await?;
    render_relationship(&cx, &actor, id).await
}

/// Body parameters of [`note`].
#[model::parameters]
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NoteParams {
    /// At most 2,000 characters; blank deletes the note.
    comment: Option<String>,
}

/// `POST /api/v1/accounts/{id}/note`
pub async fn note(
    cx: Cx,
    Auth(actor, ..): Auth<WriteAccounts>,
    Path(id): Path<AccountId>,
    Params(params): Params<NoteParams>,
) -> Result<Json<entity::Relationship>> {
    service::relationship::note(&cx, &actor, id, params.comment.as_deref().unwrap_or_default()).await?;
    render_relationship(&cx, &actor, id).await
}

async fn render_relationship(cx: &Cx, actor: &Actor, target: AccountId) -> Result<Json<entity::Relationship>> {
    Ok(Json::new(entity::relationship::render_one(cx, actor, target).await?))
}
