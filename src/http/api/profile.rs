//! Removing the avatar and header of the signed-in user.
//!
//! Spec: <https://docs.joinmastodon.org/methods/profile/>

use crate::Cx;
use crate::error::Result;
use crate::extract::Auth;
use crate::extract::auth::WriteAccounts;
use crate::json::Json;
use rookery_core::entity;
use rookery_core::service;
use rookery_core::service::profile_image::Picture;

/// `DELETE /api/v1/profile/avatar`
pub async fn delete_avatar(cx: Cx, Auth(actor, ..): Auth<WriteAccounts>) -> Result<Json> {
    service::profile::remove_picture(&cx, &actor, Picture::Avatar).await?;
    Ok(Json(entity::credential::show(&cx, actor.id).await?))
}

/// `DELETE /api/v1/profile/header`
pub async fn delete_header(cx: Cx, Auth(actor, ..): Auth<WriteAccounts>) -> Result<Json> {
    service::profile::remove_picture(&cx, &actor, Picture::Header).await?;
    Ok(Json(entity::credential::show(&cx, actor.id).await?))
}
