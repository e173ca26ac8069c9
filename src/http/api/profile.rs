//! <https://docs.joinmastodon.org/methods/profile/>

use axum::extract::State;

use crate::app::App;
use crate::entity;
use crate::error::Result;
use crate::http::extract::Auth;
use crate::http::extract::auth::WriteAccounts;
use crate::http::json::Json;
use crate::service;
use crate::service::profile_image::Picture;

/// `DELETE /api/v1/profile/avatar`
pub async fn delete_avatar(State(app): State<App>, Auth(actor, ..): Auth<WriteAccounts>) -> Result<Json> {
    service::profile::remove_picture(&app, &actor, Picture::Avatar).await?;
    Ok(Json(entity::credential::render(&app, actor.id).await?))
}

/// `DELETE /api/v1/profile/header`
pub async fn delete_header(State(app): State<App>, Auth(actor, ..): Auth<WriteAccounts>) -> Result<Json> {
    service::profile::remove_picture(&app, &actor, Picture::Header).await?;
    Ok(Json(entity::credential::render(&app, actor.id).await?))
}
