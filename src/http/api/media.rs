//! Uploading and describing media attachments.
//!
//! Spec: <https://docs.joinmastodon.org/methods/media/>

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::WriteMedia;
use crate::extract::{Auth, Path, Upload, Uploads, params};
use crate::json::Json;
use crate::operation::required;
use model::MediaId;
use model::media::MediaState;
use rookery_core::entity::media::MediaAttachment;
use rookery_core::service;

/// Metadata sent with an upload or an update.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct MediaParams {
    /// Alternative text of at most 1,500 characters.
    #[serde(default, deserialize_with = "params::text")]
    description: Option<String>,
    /// The point to keep in view when cropping: `x,y`, each from -1 to 1.
    #[serde(default, deserialize_with = "params::text")]
    focus: Option<String>,
}

/// The files of [`create`].
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct NewMediaFiles {
    #[schemars(transform = required)]
    file: Option<Upload>,
    /// For video and sound; an image makes its own.
    thumbnail: Option<Upload>,
}

/// The files of [`update`].
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MediaFiles {
    /// For video and sound; an image makes its own.
    thumbnail: Option<Upload>,
}

/// `POST /api/v2/media` and `POST /api/v1/media`. Both process images synchronously.
pub async fn create(
    cx: Cx,
    Auth(actor, _): Auth<WriteMedia>,
    Uploads { params, files }: Uploads<MediaParams, NewMediaFiles>,
) -> Result<Json> {
    let upload = service::media::Upload {
        file: files.file.map(|file| file.bytes),
        has_thumbnail: files.thumbnail.is_some(),
        description: params.description,
        focus: params.focus,
    };
    let media = service::media::upload(&cx, &actor, upload).await?;
    Json::of(&MediaAttachment::new(&media, &cx.urls))
}

/// `GET /api/v1/media/{id}`
pub async fn show(cx: Cx, Auth(actor, _): Auth<WriteMedia>, Path(id): Path<MediaId>) -> Result<Response> {
    answer(&cx, &service::media::show(&cx, &actor, id).await?)
}

/// `PUT /api/v1/media/{id}`
pub async fn update(
    cx: Cx,
    Auth(actor, _): Auth<WriteMedia>,
    Path(id): Path<MediaId>,
    Uploads { params, files }: Uploads<MediaParams, MediaFiles>,
) -> Result<Response> {
    let change = service::media::Change {
        has_thumbnail: files.thumbnail.is_some(),
        description: params.description,
        focus: params.focus,
    };
    answer(&cx, &service::media::update(&cx, &actor, id, change).await?)
}

/// 206 while the file is being processed, which tells the client to poll again.
fn answer(cx: &Cx, media: &model::MediaAttachment) -> Result<Response> {
    let status = match media.state {
        MediaState::Processing => StatusCode::PARTIAL_CONTENT,
        MediaState::Ready | MediaState::Failed => StatusCode::OK,
    };
    Ok((status, Json::of(&MediaAttachment::new(media, &cx.urls))?).into_response())
}
