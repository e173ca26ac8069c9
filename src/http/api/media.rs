//! <https://docs.joinmastodon.org/methods/media/>

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use crate::app::App;
use crate::entity::media::MediaAttachment;
use crate::error::Result;
use crate::http::extract::auth::WriteMedia;
use crate::http::extract::{Auth, Path, Uploads, params};
use crate::http::json::Json;
use crate::service;
use model::MediaId;
use model::media::MediaState;

/// What is said about a file, beside the file.
#[derive(Debug, Deserialize)]
pub struct About {
    #[serde(default, deserialize_with = "params::text")]
    description: Option<String>,
    #[serde(default, deserialize_with = "params::text")]
    focus: Option<String>,
}

/// `POST /api/v2/media` and `POST /api/v1/media`: images are processed at once in both.
pub async fn create(State(app): State<App>, Auth(actor, _): Auth<WriteMedia>, sent: Uploads<About>) -> Result<Json> {
    let upload = service::media::Upload {
        file: sent.file("file").map(|file| file.bytes.clone()),
        has_thumbnail: sent.file("thumbnail").is_some(),
        description: sent.params.description,
        focus: sent.params.focus,
    };
    let media = service::media::upload(&app, &actor, upload).await?;
    Json::of(&MediaAttachment::new(&media, &app.urls))
}

/// `GET /api/v1/media/{id}`
pub async fn show(
    State(app): State<App>,
    Auth(actor, _): Auth<WriteMedia>,
    Path(id): Path<MediaId>,
) -> Result<Response> {
    answer(&app, &service::media::show(&app, &actor, id).await?)
}

/// `PUT /api/v1/media/{id}`
pub async fn update(
    State(app): State<App>,
    Auth(actor, _): Auth<WriteMedia>,
    Path(id): Path<MediaId>,
    sent: Uploads<About>,
) -> Result<Response> {
    let change = service::media::Change {
        has_thumbnail: sent.file("thumbnail").is_some(),
        description: sent.params.description,
        focus: sent.params.focus,
    };
    answer(&app, &service::media::update(&app, &actor, id, change).await?)
}

/// 206 while it is processed: the client is to ask again.
fn answer(app: &App, media: &model::MediaAttachment) -> Result<Response> {
    let status = match media.state {
        MediaState::Processing => StatusCode::PARTIAL_CONTENT,
        MediaState::Ready | MediaState::Failed => StatusCode::OK,
    };
    Ok((status, Json::of(&MediaAttachment::new(media, &app.urls))?).into_response())
}
