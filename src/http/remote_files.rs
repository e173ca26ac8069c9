//! Serves files of other servers: `GET /media/remote/{kind}/{id}/{tag}`, and `…/small` for a still or smaller version.
//!
//! A stored copy is served as a file of this server is, with ranges. Another file is passed on from its server, with the
//! range that the client requests, and never as a document that a browser runs. Where a picture cannot be had, a
//! placeholder follows with 503, for the next attempt finds it perhaps. In limited federation a token or a session is
//! needed, as for files of this server.
//!
//! Spec: docs/contract/federation.md#14-media-of-other-servers

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::remote_file::{RemoteFileKind, RemotePart};
use model::{RowId, Time};
use service::remote::files::{self, Found, Streaming};

use super::auth::Authentication;
use super::extract::Path;
use super::files as stored;
use super::web::assets;
use crate::Cx;
use crate::error::{Error, Result};

/// How long clients may use a copy without asking: its address changes with the file.
const CACHED: &str = "public, max-age=604800, s-maxage=86400";
/// As [`CACHED`], of a file that is passed on.
const PASSED: &str = "public, max-age=86400";

/// The kind, the id and the tag of a file.
type Name = (RemoteFileKind, RowId, String);

/// `GET /media/remote/{kind}/{id}/{tag}`
pub async fn show(
    cx: Cx,
    authentication: Authentication,
    Path(name): Path<Name>,
    headers: HeaderMap,
) -> Result<Response> {
    respond(&cx, &authentication, name, RemotePart::Whole, &headers).await
}

/// `GET /media/remote/{kind}/{id}/{tag}/small`
pub async fn show_small(
    cx: Cx,
    authentication: Authentication,
    Path(name): Path<Name>,
    headers: HeaderMap,
) -> Result<Response> {
    respond(&cx, &authentication, name, RemotePart::Small, &headers).await
}

async fn respond(
    cx: &Cx,
    authentication: &Authentication,
    (kind, id, tag): Name,
    part: RemotePart,
    sent: &HeaderMap,
) -> Result<Response> {
    let id = id.into();
    stored::check_access(cx, authentication, sent).await?;
    let range = sent.get(header::RANGE).and_then(|value| value.to_str().ok());
    let mut response = match files::open(cx, kind, id, &tag, part, range).await? {
        Found::Passed(streaming) => passed(*streaming),
        Found::Missing(again) => missing(cx, kind, again),
        Found::Stored(key) => match stored::serve(cx, &key, sent).await {
            Ok(response) => with_caching(response, CACHED),
            Err(Error::NotFound) => {
                // Lost with its disk, or removed by hand.
                files::forget(cx, kind, id, &key).await?;
                missing(cx, kind, cx.clock.now())
            }
            Err(error) => return Err(error.into()),
        },
    };
    if cx.config.access.limited_federation {
        response = with_caching(response, stored::PRIVATE);
    }
    Ok(response)
}

fn with_caching(mut response: Response, caching: &'static str) -> Response {
    if response.status() != StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    }
    response
}

/// The response of the server of the file, as far as it is passed on.
fn passed(streaming: Streaming) -> Response {
    let mut response = streaming.status.into_response();
    let headers = response.headers_mut();
    stored::forbid_running(headers);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(PASSED));
    if let Ok(kind) = HeaderValue::from_str(&streaming.content_type) {
        headers.insert(header::CONTENT_TYPE, kind);
    }
    if let Some(length) = streaming.length {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    if let Some(range) = streaming.content_range.clone() {
        headers.insert(header::CONTENT_RANGE, range);
    }
    if streaming.has_ranges {
        headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    }
    *response.body_mut() = Body::new(streaming);
    response
}

/// The picture in place of one that cannot be had before `again`.
fn missing(cx: &Cx, kind: RemoteFileKind, again: Time) -> Response {
    let asset = match kind {
        RemoteFileKind::Avatar => "avatar.png",
        RemoteFileKind::Header => "header.png",
        RemoteFileKind::Attachment | RemoteFileKind::Thumbnail | RemoteFileKind::Emoji => "missing.png",
    };
    let seconds = (again - cx.clock.now()).num_seconds().max(1);
    let mut response = (StatusCode::SERVICE_UNAVAILABLE, assets::bytes(asset)).into_response();
    let headers = response.headers_mut();
    stored::forbid_running(headers);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("image/png"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}
