//! Uploading and describing media attachments.
//!
//! Spec: <https://docs.joinmastodon.org/methods/media/>

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::WriteMedia;
use crate::extract::{Auth, Path, Uploads, params};
use crate::json::Json;
use model::MediaId;
use model::media::MediaState;
use rookery_core::entity::media::MediaAttachment;
use rookery_core::service;

/// Metadata sent with an upload or an update, except the files.
#[derive(Debug, Deserialize)]
pub struct MediaParams {
    #[serde(default, deserialize_with = "params::text")]
    description: Option<String>,
    #[serde(default, deserialize_with = "params::text")]
    focus: Option<String>,
}

/// `POST /api/v2/media` and `POST /api/v1/media`. Both process images synchronously.
pub async fn create(cx: Cx, Auth(actor, _): Auth<WriteMedia>, sent: Uploads<MediaParams>) -> Result<Json> {
    let upload = service::media::Upload {
        file: sent.file("file").map(|file| file.bytes.clone()),
        has_thumbnail: sent.file("thumbnail").is_some(),
        description: sent.params.description,
        focus: sent.params.focus,
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
    sent: Uploads<MediaParams>,
) -> Result<Response> {
    let change = service::media::Change {
        has_thumbnail: sent.file("thumbnail").is_some(),
        description: sent.params.description,
        focus: sent.params.focus,
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
