//! Limits of every request: timeout, declared body size, and no NUL in the path.
//!
//! Bodies without a `Content-Length` are counted by the extractors while they are read.

use std::time::Duration;

use axum::extract::Request;
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::Cx;
use crate::error::{Error, ErrorResponse};

/// Timeout of an upload; longer than for other requests because of slow connections.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// Allowance for a multipart body beyond its files.
const MULTIPART_OVERHEAD_BYTES: u64 = 1024 * 1024;

/// Applies the limits to a request.
pub async fn layer(cx: Cx, request: Request, next: Next) -> Response {
    let upload = is_multipart(&request);
    if let Err(error) = check_length(&cx, &request, upload) {
        return ErrorResponse(error).into_response();
    }
    // No name or id contains NUL, and PostgreSQL rejects it in a parameter.
    if request.uri().path().contains("%00") {
        return ErrorResponse(Error::NotFound).into_response();
    }
    let limit = if upload { UPLOAD_TIMEOUT } else { Duration::from_secs(cx.config.server.request_timeout_seconds) };
    let too_long = || ErrorResponse(Error::Unavailable("This took too long, try again".into())).into_response();
    tokio::time::timeout(limit, next.run(request)).await.unwrap_or_else(|_| too_long())
}

fn is_multipart(request: &Request) -> bool {
    let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    content_type.is_some_and(|value| value.starts_with("multipart/"))
}

/// Rejects a body whose `Content-Length` is too large before any of it is read.
fn check_length(cx: &Cx, request: &Request, upload: bool) -> Result<(), Error> {
    let media = &cx.config.media;
    let limit = if upload {
        media.image_size_limit_bytes.max(media.video_size_limit_bytes) + MULTIPART_OVERHEAD_BYTES
    } else {
        cx.config.server.body_limit_bytes as u64
    };
    let length: Option<u64> =
        request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    match length {
        Some(length) if length > limit => Err(Error::TooLarge(format!("the body is larger than {limit} bytes").into())),
        _ => Ok(()),
    }
}
