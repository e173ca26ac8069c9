//! Bounds of every request: how long it takes, how large it says it is, and that its path names something.

use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::error::Error;

/// How long an upload may take: it waits for the line of whoever sends it.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// Beyond its files, what a multipart body may weigh.
const MULTIPART_OVERHEAD_BYTES: u64 = 1024 * 1024;

/// Runs a request within its bounds.
pub async fn layer(State(app): State<App>, request: Request, next: Next) -> Response {
    let upload = is_multipart(&request);
    if let Err(error) = check_length(&app, &request, upload) {
        return error.into_response();
    }
    // NUL is in no name and no id, and PostgreSQL does not even take it as a question.
    if request.uri().path().contains("%00") {
        return Error::NotFound.into_response();
    }
    let limit = if upload { UPLOAD_TIMEOUT } else { Duration::from_secs(app.config.server.request_timeout_seconds) };
    let too_long = || Error::Unavailable("This took too long, try again".into()).into_response();
    tokio::time::timeout(limit, next.run(request)).await.unwrap_or_else(|_| too_long())
}

fn is_multipart(request: &Request) -> bool {
    let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    content_type.is_some_and(|value| value.starts_with("multipart/"))
}

/// Refuses what says that it is too large before any of it is read; what does not say is counted while it is read.
fn check_length(app: &App, request: &Request, upload: bool) -> Result<(), Error> {
    let media = &app.config.media;
    let limit = if upload {
        media.image_size_limit_bytes.max(media.video_size_limit_bytes) + MULTIPART_OVERHEAD_BYTES
    } else {
        app.config.server.body_limit_bytes as u64
    };
    let length: Option<u64> =
        request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    match length {
        Some(length) if length > limit => Err(Error::TooLarge(format!("the body is larger than {limit} bytes").into())),
        _ => Ok(()),
    }
}
