//! Authentication: looks up the access token of a request once, before rate limits and extractors need it.
//!
//! The token is read from the `Authorization` header, or from `access_token` or `bearer_token` in the query, form or
//! JSON body (docs/contract/rules.md#2-authentication). An invalid token is not rejected here but by the extractors of
//! [`extract::auth`](crate::extract::auth): a public route ignores it.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use futures_util::{StreamExt as _, stream};
use http_body_util::BodyExt as _;

use super::in_flight::body_error;
use super::policy::SMALL_BODY_BYTES;
use super::state::RequestState;
use crate::Cx;
use crate::error::{Error, Result};
use crate::operation::Describe;
use crate::state::is_token_name;
use model::Grant;
use service::auth;

/// The outcome of the token lookup. In the extensions of a request, unless no token was sent.
#[derive(Clone, Debug)]
pub enum Authentication {
    /// No token was sent.
    Missing,
    /// The token is unknown, expired or revoked.
    Invalid,
    /// The token is valid.
    Grant(Arc<Grant>),
    /// The lookup failed, so the token may or may not be valid.
    Unknown,
}

/// Looks the token of `request` up. A small body is searched for one too; the request that comes back has it again.
///
/// # Errors
/// When that body breaks off.
pub(crate) async fn authenticate(state: &RequestState<'_>, request: Request) -> Result<(Authentication, Request)> {
    if let Some(token) = bearer(request.headers()) {
        return Ok((look_up(&state.cx, token).await, request));
    }
    if state.carries.token_in_query
        && let Some(token) = from_form(request.uri().query().unwrap_or_default().as_bytes())
    {
        return Ok((look_up(&state.cx, &token).await, request));
    }
    let Some(parse) = body_parser(&request) else { return Ok((Authentication::Missing, request)) };
    let (parts, body) = request.into_parts();
    let (bytes, body) = begin(body, SMALL_BODY_BYTES).await?;
    let authentication = match bytes.as_deref().and_then(parse) {
        Some(token) => look_up(&state.cx, &token).await,
        None => Authentication::Missing,
    };
    Ok((authentication, Request::from_parts(parts, body)))
}

/// The whole of a body of at most `limit` bytes, or `None` for a larger one; and the body again.
async fn begin(mut body: Body, limit: usize) -> Result<(Option<Bytes>, Body)> {
    if body.size_hint().lower() > limit as u64 {
        return Ok((None, body));
    }
    let mut read = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| body_error(&error))?;
        let Some(bytes) = frame.data_ref() else { continue };
        read.extend_from_slice(bytes);
        if read.len() > limit {
            let begun = stream::once(std::future::ready(Ok(Bytes::from(read))));
            return Ok((None, Body::from_stream(begun.chain(body.into_data_stream()))));
        }
    }
    let read = Bytes::from(read);
    Ok((Some(read.clone()), Body::from(read)))
}

async fn look_up(cx: &Cx, token: &str) -> Authentication {
    match auth::grant(cx, token).await {
        Ok(Some(grant)) => Authentication::Grant(grant),
        Ok(None) => Authentication::Invalid,
        Err(error) => {
            context::log_failure!(error, "could not look a token up");
            Authentication::Unknown
        }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Finds the token in a body.
type BodyParser = fn(&[u8]) -> Option<Cow<'_, str>>;

/// How to find the token in the body of `request`, if it may be there.
fn body_parser(request: &Request) -> Option<BodyParser> {
    if matches!(*request.method(), Method::GET | Method::HEAD) || request.headers().contains_key(header::AUTHORIZATION)
    {
        return None;
    }
    let content_type = request.headers().get(header::CONTENT_TYPE)?.as_bytes();
    if content_type.starts_with(b"application/x-www-form-urlencoded") {
        Some(from_form)
    } else if content_type.starts_with(b"application/json") {
        Some(from_json)
    } else {
        None
    }
}

fn from_form(text: &[u8]) -> Option<Cow<'_, str>> {
    let mut pairs = url::form_urlencoded::parse(text);
    pairs.find(|(name, _)| is_token_name(name)).map(|(_, value)| value)
}

fn from_json(text: &[u8]) -> Option<Cow<'_, str>> {
    #[derive(serde::Deserialize)]
    struct Tokens<'a> {
        #[serde(borrow)]
        access_token: Option<Cow<'a, str>>,
        #[serde(borrow)]
        bearer_token: Option<Cow<'a, str>>,
    }
    let tokens: Tokens<'_> = serde_json::from_slice(text).ok()?;
    tokens.access_token.or(tokens.bearer_token)
}

impl<S: Send + Sync> FromRequestParts<S> for Authentication {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().cloned().unwrap_or(Self::Missing))
    }
}

impl Describe for Authentication {}

impl Authentication {
    /// The grant of the token; `None` without a token.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] for an invalid token, [`Error::Unavailable`] when the lookup failed.
    pub fn grant(&self) -> Result<Option<&Arc<Grant>>> {
        match self {
            Self::Missing => Ok(None),
            Self::Invalid => Err(Error::InvalidToken.into()),
            Self::Grant(grant) => Ok(Some(grant)),
            Self::Unknown => Err(Error::Unavailable("The database does not respond, try again".into()).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn token_is_found_wherever_the_contract_has_it() {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, HeaderValue::from_static("bearer  abc "));
        assert_eq!(bearer(&headers), Some("abc"));
        headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Basic abc"));
        assert_eq!(bearer(&headers), None);
        assert_eq!(from_form(b"status=x&access_token=a%20b").as_deref(), Some("a b"));
        assert_eq!(from_json(br#"{"status":"x","bearer_token":"a\u0062"}"#).as_deref(), Some("ab"));
        assert_eq!(from_json(br#"{"access_token":1}"#), None);
    }

    #[test]
    fn body_is_read_only_where_a_token_may_be() {
        let request = |method: Method, kind: &str, authorized: bool| {
            let request = Request::builder().method(method).header(header::CONTENT_TYPE, kind);
            let request = if authorized { request.header(header::AUTHORIZATION, "Basic x") } else { request };
            body_parser(&request.body(Body::empty()).expect("a request")).is_some()
        };
        assert!(request(Method::POST, "application/json; charset=utf-8", false));
        assert!(request(Method::DELETE, "application/x-www-form-urlencoded", false));
        assert!(!request(Method::GET, "application/json", false));
        assert!(!request(Method::POST, "application/json", true));
        assert!(!request(Method::POST, "multipart/form-data", false));
    }
}
