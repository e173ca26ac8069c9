//! Serves stored media files: `GET /media/{key}`.
//!
//! A file never changes under its key, so responses are cacheable for ever. A file is sent with the media type we
//! stored for it and a content security policy that lets nothing run, whatever a browser makes of its bytes. Keys are
//! unguessable: a client that has one may fetch the file regardless of the visibility of its status, as elsewhere in
//! the fediverse; not that of a suspended account, which is withheld. A shared cache asks again after a day, so that it
//! hears of that. Range requests (RFC 9110, section 14) let players seek. With `s3.presigned` the response is a redirect
//! to the bucket.

use std::ops::Range;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::auth::Authentication;
use super::closed_server;
use super::extract::Path;
use crate::Cx;
use crate::error::{Error, Result};
use media::storage::{self, Key, Presigned};

/// Maximum size of one partial response; a player requests the next range itself.
const MAX_PART_BYTES: u64 = 4 * 1024 * 1024;
/// The header `Cache-Control` in limited federation.
pub(super) const PRIVATE: &str = "private, max-age=31536000";

/// `GET /media/{key}`
pub async fn show(
    cx: Cx,
    authentication: Authentication,
    method: Method,
    Path(key): Path<String>,
    asked: HeaderMap,
) -> Result<Response> {
    let key: Key = key.parse().map_err(|_| Error::NotFound)?;
    if !key.is_public() {
        return Err(Error::NotFound.into());
    }
    if !key.is_of_server() {
        check_access(&cx, &authentication, &asked).await?;
    }
    if let Some(redirect) = redirect(&cx, &key, &method).await? {
        return Ok(redirect);
    }
    let mut response = serve(&cx, &key, &asked).await?;
    if cx.config.access.limited_federation {
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(PRIVATE));
    }
    Ok(response)
}

/// A redirect to the bucket, where files are served so. It is kept for half the life of the URL, so that it is never used
/// too late. The URL is signed for `GET` alone.
async fn redirect(cx: &Cx, key: &Key, method: &Method) -> Result<Option<Response>> {
    if method != Method::GET {
        return Ok(None);
    }
    let Some(Presigned { url, life }) = cx.storage.presigned(key).await.map_err(missing)? else { return Ok(None) };
    let location = HeaderValue::from_str(&url).map_err(Error::internal)?;
    let cache = format!("private, max-age={}", life.as_secs() / 2);
    let headers = [(header::LOCATION, location)];
    Ok(Some((StatusCode::FOUND, [(header::CACHE_CONTROL, cache)], headers).into_response()))
}

/// # Errors
/// [`Error::Unauthorized`] in limited federation without a token or a browser session: files need one then
/// (docs/contract/rules.md#7-access-modes).
pub(super) async fn check_access(cx: &Cx, authentication: &Authentication, sent: &HeaderMap) -> Result<()> {
    if cx.config.access.limited_federation && !closed_server::is_person(cx, authentication, sent).await? {
        return Err(Error::Unauthorized("Sign in to see this file".into()).into());
    }
    Ok(())
}

/// Sends a stored file, or the requested part of it.
///
/// # Errors
/// [`Error::NotFound`] when it is not stored.
pub(super) async fn serve(cx: &Cx, key: &Key, asked: &HeaderMap) -> Result<Response, Error> {
    let tag = entity_tag(key);
    if asked.get_all(header::IF_NONE_MATCH).iter().any(|sent| matches_tag(sent, &tag)) {
        if !cx.storage.exists(key).await.map_err(missing)? {
            return Err(Error::NotFound);
        }
        return Ok(with_headers(StatusCode::NOT_MODIFIED.into_response(), key, &tag));
    }
    if asked.contains_key(header::RANGE) {
        let length = cx.storage.length(key).await.map_err(missing)?;
        match Requested::of(asked, &tag, length) {
            Requested::Whole => {}
            Requested::Unsatisfiable => return Ok(unsatisfiable(length)),
            Requested::Part(range) => {
                let bytes = cx.storage.get_range(key, range.clone()).await.map_err(missing)?;
                return Ok(with_headers(partial(&range, length, bytes), key, &tag));
            }
        }
    }
    let object = cx.storage.get(key).await.map_err(missing)?;
    Ok(with_headers(whole(object.length(), Body::from_stream(object.into_stream())), key, &tag))
}

fn missing(error: storage::Error) -> Error {
    match error {
        storage::Error::NotFound => Error::NotFound,
        other => {
            tracing::error!(error = ?other, "could not read a file: {other}");
            Error::Unavailable("The file cannot be read now, try again".into())
        }
    }
}

/// The random part of the key: as good as a digest, since the content never changes.
fn entity_tag(key: &Key) -> String {
    let name = key.as_str().rsplit('/').next().unwrap_or_default();
    format!("\"{}\"", name.split('.').next().unwrap_or_default())
}

/// True when a value of `If-None-Match` contains `tag`.
pub(super) fn matches_tag(sent: &HeaderValue, tag: &str) -> bool {
    let mut tags = sent.to_str().unwrap_or_default().split(',').map(str::trim);
    tags.any(|sent| sent == "*" || sent.strip_prefix("W/").unwrap_or(sent) == tag)
}

/// The part of a file that a request asks for.
#[derive(Debug)]
pub(super) enum Requested {
    Whole,
    /// At most [`MAX_PART_BYTES`].
    Part(Range<u64>),
    Unsatisfiable,
}

impl Requested {
    /// By `Range` and `If-Range`, of a file of `length` bytes with the entity tag `tag`.
    pub(super) fn of(sent: &HeaderMap, tag: &str, length: u64) -> Self {
        let range = sent.get(header::RANGE).filter(|_| range_applies(sent, tag)).and_then(|value| value.to_str().ok());
        match range.and_then(|range| parse_range(range, length)) {
            None => Self::Whole,
            Some(None) => Self::Unsatisfiable,
            Some(Some(range)) => Self::Part(range),
        }
    }
}

/// Evaluates `If-Range`: the range applies only when the client's part is of the same version of the file.
fn range_applies(asked: &HeaderMap, tag: &str) -> bool {
    asked.get(header::IF_RANGE).is_none_or(|sent| sent.as_bytes() == tag.as_bytes())
}

/// The single range of a `Range` header: `None` when the header is to be ignored, `Some(None)` when the range is
/// not satisfiable.
fn parse_range(text: &str, length: u64) -> Option<Option<Range<u64>>> {
    let (first, last) = text.strip_prefix("bytes=")?.trim().split_once('-')?;
    let number = |text: &str| if text.is_empty() { Some(None) } else { text.parse::<u64>().ok().map(Some) };
    let range = match (number(first)?, number(last)?) {
        (Some(first), Some(last)) if last < first => return None,
        (Some(first), last) => first..last.map_or(length, |last| last.saturating_add(1)).min(length),
        (None, Some(count)) => length.saturating_sub(count)..length,
        (None, None) => return None,
    };
    if range.is_empty() {
        return Some(None);
    }
    Some(Some(range.start..range.end.min(range.start + MAX_PART_BYTES)))
}

pub(super) fn whole(length: u64, body: Body) -> Response {
    ([(header::CONTENT_LENGTH, HeaderValue::from(length))], body).into_response()
}

pub(super) fn partial(range: &Range<u64>, length: u64, bytes: Bytes) -> Response {
    let place = format!("bytes {}-{}/{length}", range.start, range.end - 1);
    (StatusCode::PARTIAL_CONTENT, [(header::CONTENT_RANGE, place)], bytes).into_response()
}

pub(super) fn unsatisfiable(length: u64) -> Response {
    (StatusCode::RANGE_NOT_SATISFIABLE, [(header::CONTENT_RANGE, format!("bytes */{length}"))]).into_response()
}

fn with_headers(mut response: Response, key: &Key, tag: &str) -> Response {
    let fixed = [
        (header::CONTENT_TYPE, key.mime()),
        (header::CACHE_CONTROL, storage::CACHE_CONTROL),
        (header::ACCEPT_RANGES, "bytes"),
    ];
    let headers = response.headers_mut();
    forbid_running(headers);
    headers.extend(fixed.map(|(name, value)| (name, HeaderValue::from_static(value))));
    if let Ok(tag) = HeaderValue::from_str(tag) {
        headers.insert(header::ETAG, tag);
    }
    response
}

/// Lets nothing in the body run, whatever a browser takes it for.
pub(super) fn forbid_running(headers: &mut HeaderMap) {
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_rfc_9110_has_them() {
        assert_eq!(parse_range("bytes=0-1", 10), Some(Some(0..2)));
        assert_eq!(parse_range("bytes=4-", 10), Some(Some(4..10)));
        assert_eq!(parse_range("bytes=-3", 10), Some(Some(7..10)));
        assert_eq!(parse_range("bytes=-30", 10), Some(Some(0..10)));
        assert_eq!(parse_range("bytes=5-99", 10), Some(Some(5..10)));
        assert_eq!(parse_range("bytes=0-", u64::MAX), Some(Some(0..MAX_PART_BYTES)));
    }

    #[test]
    fn range_outside_file_is_refused_and_malformed_ignored() {
        assert_eq!(parse_range("bytes=10-", 10), Some(None));
        assert_eq!(parse_range("bytes=-0", 10), Some(None));
        for nonsense in ["bytes=3-2", "bytes=a-b", "bytes=-", "bytes=0-1,3-4", "lines=1-2", ""] {
            assert_eq!(parse_range(nonsense, 10), None, "{nonsense}");
        }
    }
}
