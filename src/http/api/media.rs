//! Uploading and describing media attachments.
//!
//! Spec: <https://docs.joinmastodon.org/methods/media/>

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::WriteMedia;
use crate::extract::params::ParamsOfOwn;
use crate::extract::{Auth, Path, Upload, Uploads};
use crate::json::Json;
use context::json::media::MediaAttachment;
use model::MediaId;
use model::media::MediaState;
use model::params::required;

use service::media::moving::Processing;

/// Metadata sent with an upload or an update.
#[model::parameters]
#[derive(Debug, Deserialize, JsonSchema)]
pub struct MediaParams {
    /// Alternative text of at most 1,500 characters.
    description: Option<String>,
    /// The point to keep in view when cropping: `x,y`, each from -1 to 1.
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

/// `POST /api/v2/media`: 202 for video and sound, which are processed later.
pub async fn create(
    cx: Cx,
    auth: Auth<WriteMedia>,
    sent: Uploads<MediaParams, NewMediaFiles>,
) -> Result<Json<entity::MediaAttachment>> {
    let media = upload(&cx, auth, sent, Processing::Later { attempt: 0 }).await?;
    answer(&cx, &media, StatusCode::ACCEPTED)
}

/// `POST /api/v1/media`: everything is processed before the answer.
pub async fn create_at_once(
    cx: Cx,
    auth: Auth<WriteMedia>,
    sent: Uploads<MediaParams, NewMediaFiles>,
) -> Result<Json<entity::MediaAttachment>> {
    let media = upload(&cx, auth, sent, Processing::Now).await?;
    answer(&cx, &media, StatusCode::ACCEPTED)
}

async fn upload(
    cx: &Cx,
    Auth(actor, _): Auth<WriteMedia>,
    Uploads { params, files }: Uploads<MediaParams, NewMediaFiles>,
    processing: Processing,
) -> Result<model::MediaAttachment> {
    let upload = service::media::Upload {
        file: files.file.map(|file| file.path),
        thumbnail: files.thumbnail.map(|file| file.path),
        description: params.description,
        focus: params.focus,
    };
    Ok(service::media::upload(cx, &actor, upload, processing).await?)
}

/// `GET /api/v1/media/{id}`
pub async fn show(
    cx: Cx,
    Auth(actor, _): Auth<WriteMedia>,
    Path(id): Path<MediaId>,
) -> Result<Json<entity::MediaAttachment>> {
    answer(&cx, &service::media::show(&cx, &actor, id).await?, StatusCode::PARTIAL_CONTENT)
}

/// `PUT /api/v1/media/{id}`
pub async fn update(
    cx: Cx,
    Auth(actor, _): Auth<WriteMedia>,
    Path(id): Path<MediaId>,
    sent: ParamsOfOwn<Uploads<MediaParams, MediaFiles>>,
) -> Result<Json<entity::MediaAttachment>> {
    let Uploads { params, files } = sent.or_missing(service::media::show(&cx, &actor, id)).await?;
    let change = service::media::MediaUpdate {
        thumbnail: files.thumbnail.map(|file| file.path),
        description: params.description,
        focus: params.focus,
    };
    answer(&cx, &service::media::update(&cx, &actor, id, change).await?, StatusCode::PARTIAL_CONTENT)
}

/// `DELETE /api/v1/media/{id}`, of later versions of the API.
pub async fn delete(cx: Cx, Auth(actor, _): Auth<WriteMedia>, Path(id): Path<MediaId>) -> Result<Json<entity::Empty>> {
    service::media::delete(&cx, &actor, id).await?;
    Ok(Json::empty())
}

/// `processing` is the status while the file is being processed, which tells the client to poll again: 202 or 206.
fn answer(cx: &Cx, media: &model::MediaAttachment, processing: StatusCode) -> Result<Json<MediaAttachment>> {
    let status = match media.state {
        MediaState::Processing => processing,
        MediaState::Ready | MediaState::Failed => StatusCode::OK,
    };
    Ok(Json::of(&MediaAttachment::new(media, &cx.urls))?.with_status(status))
}
