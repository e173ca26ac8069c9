//! Limits of every request: timeout and declared body size.
//!
//! Bodies without a `Content-Length` are counted by the extractors while they are read.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use axum::extract::Request;
use axum::http::{Extensions, header};
use axum::response::{IntoResponse, Response};

use crate::Cx;
use crate::error::{Error, ErrorResponse};
use crate::policy::Files;
use config::Config;
use service::domain_list::LIST_MAX;

/// Timeout of an upload; longer than for other requests because of slow connections.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// Allowance for a multipart body beyond its files.
const MULTIPART_OVERHEAD_BYTES: usize = 64 * 1024;

/// The largest body of a request that may bring less than others: of a route that takes little, or of a stranger. In its
/// extensions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyLimit(pub(crate) usize);

impl BodyLimit {
    /// The largest body, in bytes, of a request with these `extensions`; uploads apart.
    pub(crate) fn of(cx: &Cx, extensions: &Extensions) -> usize {
        let general = cx.config.server.body_limit_bytes;
        extensions.get().map_or(general, |Self(limit)| general.min(*limit))
    }
}

/// In the extensions of requests whose route takes files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TakesFiles(pub(crate) Files);

/// Size of the largest permitted file, in bytes; 0 where none is.
fn file_limit_bytes(cx: &Cx, extensions: &Extensions) -> usize {
    let media = &cx.config.media;
    match extensions.get::<TakesFiles>() {
        None => 0,
        Some(TakesFiles(Files::Videos)) if cx.converter.is_available() => {
            bytes(media.video_size_limit_bytes.max(media.image_size_limit_bytes))
        }
        Some(TakesFiles(Files::Images | Files::Videos)) => bytes(media.image_size_limit_bytes),
        Some(TakesFiles(Files::Lists)) => LIST_MAX,
    }
}

/// Size of the largest body with files: where a video is taken, with its picture. `None` where no files are taken.
pub(crate) fn body_limit_bytes(cx: &Cx, extensions: &Extensions) -> Option<usize> {
    let TakesFiles(files) = extensions.get()?;
    let picture = match files {
        Files::Videos => bytes(cx.config.media.image_size_limit_bytes),
        Files::Images | Files::Lists => 0,
    };
    Some(file_limit_bytes(cx, extensions) + picture + MULTIPART_OVERHEAD_BYTES)
}

/// Size of the largest body with media of any route. Lists of domains, which staff upload, have no room of their own.
pub(crate) fn largest_body_bytes(config: &Config) -> usize {
    let (image, video) = (config.media.image_size_limit_bytes, config.media.video_size_limit_bytes);
    bytes(image.max(video)) + bytes(image) + MULTIPART_OVERHEAD_BYTES
}

/// How long the answer to `request` may take.
///
/// # Errors
/// When its body says that it is too large.
pub(crate) fn time_limit(cx: &Cx, request: &Request) -> Result<Duration, Error> {
    let upload_limit = body_limit_bytes(cx, request.extensions()).filter(|_| is_multipart(request));
    check_length(cx, request, upload_limit)?;
    Ok(if upload_limit.is_some() {
        UPLOAD_TIMEOUT
    } else {
        Duration::from_secs(cx.config.server.request_timeout_seconds)
    })
}

/// `answer`, or 503 when it takes longer than `limit`. A response that is ready on the first poll needs no timer.
/// Borrowed, because an async function stores a future that it receives twice.
pub(crate) async fn within(limit: Duration, mut answer: Pin<&mut impl Future<Output = Response>>) -> Response {
    if let Poll::Ready(response) = poll_fn(|context| Poll::Ready(answer.as_mut().poll(context))).await {
        return response;
    }
    let too_long = || ErrorResponse(Error::Unavailable("This took too long, try again".into())).into_response();
    tokio::time::timeout(limit, answer).await.unwrap_or_else(|_| too_long())
}

/// True for a request that may bring files.
pub(crate) fn is_multipart(request: &Request) -> bool {
    let content_type = request.headers().get(header::CONTENT_TYPE);
    content_type.is_some_and(|value| value.as_bytes().starts_with(b"multipart/"))
}

/// Rejects a body whose `Content-Length` is too large before any of it is read.
fn check_length(cx: &Cx, request: &Request, upload_limit: Option<usize>) -> Result<(), Error> {
    let Some(length) = request.headers().get(header::CONTENT_LENGTH) else { return Ok(()) };
    let Some(length) = length.to_str().ok().and_then(|length| length.parse::<usize>().ok()) else { return Ok(()) };
    let limit = BodyLimit::of(cx, request.extensions());
    match upload_limit {
        Some(limit) if length > limit => Err(file_too_large(cx, request.extensions())),
        None if length > limit => Err(Error::TooLarge(format!("the body is larger than {limit} bytes").into())),
        Some(_) | None => Ok(()),
    }
}

/// A file beyond the limit is 422 (docs/contract/rules.md#3-errors), wherever that is noticed.
pub(crate) fn file_too_large(cx: &Cx, extensions: &Extensions) -> Error {
    Error::invalid(format!("file is larger than {} bytes", file_limit_bytes(cx, extensions)))
}

fn bytes(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX / 8)
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use super::*;
    use axum::http::StatusCode;

    #[tokio::test]
    async fn late_answer_is_unavailable() {
        let soon = async {
            tokio::task::yield_now().await;
            Response::default()
        };
        assert_eq!(within(Duration::from_secs(60), pin!(soon)).await.status(), StatusCode::OK);
        let never = within(Duration::from_millis(5), pin!(std::future::pending())).await;
        assert_eq!(never.status(), StatusCode::SERVICE_UNAVAILABLE);
    }

    #[test]
    fn ready_answer_needs_no_timer() {
        let response =
            futures_util::FutureExt::now_or_never(within(Duration::ZERO, pin!(async { Response::default() })));
        assert_eq!(response.expect("no runtime is needed").status(), StatusCode::OK);
    }
}
