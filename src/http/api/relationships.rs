//! <https://docs.joinmastodon.org/methods/accounts/>: what stands between the viewer and others, and what changes it.

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use crate::app::App;
use crate::entity;
use crate::error::{Error, Result};
use crate::http::extract::auth::{ReadFollows, WriteAccountMutes, WriteAccounts, WriteBlocks, WriteFollows};
use crate::http::extract::params::{flag, int, list, text};
use crate::http::extract::{Auth, Params, Path};
use crate::http::json::Json;
use crate::service;
use crate::service::follow::Wish;
use model::{AccountId, Actor};

/// Which accounts.
#[derive(Debug, Deserialize)]
pub struct Targets {
    #[serde(default, deserialize_with = "list")]
    id: Option<Vec<AccountId>>,
    #[serde(default, deserialize_with = "flag")]
    with_suspended: Option<bool>,
}

/// `GET /api/v1/accounts/relationships`
pub async fn index(
    State(app): State<App>,
    Auth(viewer, ..): Auth<ReadFollows>,
    Params(params): Params<Targets>,
) -> Result<Response> {
    let ids = params.id.ok_or_else(|| Error::missing("id[]"))?;
    let with_suspended = params.with_suspended.unwrap_or(false);
    Ok(Json::list(&entity::relationship::render(&app, &viewer, &ids, with_suspended).await?))
}

/// How to follow.
#[derive(Debug, Deserialize)]
pub struct FollowParams {
    #[serde(default, deserialize_with = "flag")]
    reblogs: Option<bool>,
    #[serde(default, deserialize_with = "flag")]
    notify: Option<bool>,
    #[serde(default, deserialize_with = "list")]
    languages: Option<Vec<String>>,
}

/// `POST /api/v1/accounts/{id}/follow`
pub async fn follow(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteFollows>,
    Path(id): Path<AccountId>,
    Params(params): Params<FollowParams>,
) -> Result<Json> {
    let wish = Wish { reblogs: params.reblogs, notify: params.notify, languages: params.languages };
    service::follow::follow(&app, &actor, id, wish).await?;
    tie(&app, &actor, id).await
}

/// `POST /api/v1/accounts/{id}/unfollow`
pub async fn unfollow(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteFollows>,
    Path(id): Path<AccountId>,
) -> Result<Json> {
    service::follow::unfollow(&app, &actor, id).await?;
    tie(&app, &actor, id).await
}

/// `POST /api/v1/accounts/{id}/remove_from_followers`
pub async fn remove_from_followers(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteFollows>,
    Path(id): Path<AccountId>,
) -> Result<Json> {
    service::follow::remove_follower(&app, &actor, id).await?;
    tie(&app, &actor, id).await
}

/// `POST /api/v1/accounts/{id}/block`
pub async fn block(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteBlocks>,
    Path(id): Path<AccountId>,
) -> Result<Json> {
    service::relationship::block(&app, &actor, id).await?;
    tie(&app, &actor, id).await
}

/// `POST /api/v1/accounts/{id}/unblock`
pub async fn unblock(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteBlocks>,
    Path(id): Path<AccountId>,
) -> Result<Json> {
    service::relationship::unblock(&app, &actor, id).await?;
    tie(&app, &actor, id).await
}

/// How to mute; `duration` in seconds.
#[derive(Debug, Deserialize)]
pub struct MuteParams {
    #[serde(default, deserialize_with = "flag")]
    notifications: Option<bool>,
    #[serde(default, deserialize_with = "int")]
    duration: Option<i64>,
}

/// `POST /api/v1/accounts/{id}/mute`
pub async fn mute(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteAccountMutes>,
    Path(id): Path<AccountId>,
    Params(params): Params<MuteParams>,
) -> Result<Json> {
    let hide_notifications = params.notifications.unwrap_or(true);
    service::relationship::mute(&app, &actor, id, hide_notifications, params.duration.unwrap_or(0)).await?;
    tie(&app, &actor, id).await
}

/// `POST /api/v1/accounts/{id}/unmute`
pub async fn unmute(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteAccountMutes>,
    Path(id): Path<AccountId>,
) -> Result<Json> {
    service::relationship::unmute(&app, &actor, id).await?;
    tie(&app, &actor, id).await
}

/// `POST /api/v1/accounts/{id}/pin`
pub async fn pin(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteAccounts>,
    Path(id): Path<AccountId>,
) -> Result<Json> {
    service::relationship::endorse(&app, &actor, id).await?;
    tie(&app, &actor, id).await
}

/// `POST /api/v1/accounts/{id}/unpin`
pub async fn unpin(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteAccounts>,
    Path(id): Path<AccountId>,
) -> Result<Json> {
    service::relationship::unendorse(&app, &actor, id).await?;
    tie(&app, &actor, id).await
}

/// A private note.
#[derive(Debug, Deserialize)]
pub struct NoteParams {
    #[serde(default, deserialize_with = "text")]
    comment: Option<String>,
}

/// `POST /api/v1/accounts/{id}/note`
pub async fn note(
    State(app): State<App>,
    Auth(actor, ..): Auth<WriteAccounts>,
    Path(id): Path<AccountId>,
    Params(params): Params<NoteParams>,
) -> Result<Json> {
    service::relationship::note(&app, &actor, id, params.comment.as_deref().unwrap_or_default()).await?;
    tie(&app, &actor, id).await
}

async fn tie(app: &App, actor: &Actor, target: AccountId) -> Result<Json> {
    Ok(Json(entity::relationship::render_one(app, actor, target).await?))
}
