//! Authentication layer: looks up the access token of a request once, before rate limits and extractors need it.
//!
//! The token is read from the `Authorization` header, or from `access_token` or `bearer_token` in the query, form or
//! JSON body (contract rules, section 2). An invalid token is not rejected here but by the extractors of
//! [`extract::auth`](crate::extract::auth): a public route ignores it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::Response;

use super::extract::params::collect;
use crate::Cx;
use crate::error::{Error, Result};
use rookery_core::service::auth::{self, Grant};

/// The outcome of the token lookup, in the extensions of a request.
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

/// Adds an [`Authentication`] to the request's extensions.
pub async fn layer(cx: Cx, request: Request, next: Next) -> Response {
    let (token, mut request) = match token(&cx, request).await {
        Ok(found) => found,
        Err(error) => return axum::response::IntoResponse::into_response(error),
    };
    let authentication = match token {
        None => Authentication::Missing,
        Some(token) => match auth::grant(&cx, &token).await {
            Ok(Some(grant)) => Authentication::Grant(grant),
            Ok(None) => Authentication::Invalid,
            Err(error) => {
                tracing::error!(%error, "could not look a token up");
                Authentication::Unknown
            }
        },
    };
    request.extensions_mut().insert(authentication);
    next.run(request).await
}

async fn token(cx: &Cx, request: Request) -> Result<(Option<String>, Request)> {
    if let Some(token) =
        bearer(request.headers()).or_else(|| from_form(request.uri().query().unwrap_or_default().as_bytes()))
    {
        return Ok((Some(token), request));
    }
    let content_type =
        request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let form = content_type.starts_with("application/x-www-form-urlencoded");
    let json = content_type.starts_with("application/json");
    if matches!(*request.method(), Method::GET | Method::HEAD)
        || !(form || json)
        || request.headers().contains_key(header::AUTHORIZATION)
    {
        return Ok((None, request));
    }
    let (parts, body) = request.into_parts();
    let bytes = collect(body, cx.config.server.body_limit_bytes).await?;
    let token = if form { from_form(&bytes) } else { from_json(&bytes) };
    Ok((token, Request::from_parts(parts, Body::from(bytes))))
}

fn bearer(headers: &HeaderMap) -> Option<String> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
}

fn from_form(text: &[u8]) -> Option<String> {
    let mut pairs = url::form_urlencoded::parse(text);
    pairs.find(|(name, _)| name == "access_token" || name == "bearer_token").map(|(_, value)| value.into_owned())
}

fn from_json(text: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Tokens {
        access_token: Option<String>,
        bearer_token: Option<String>,
    }
    let tokens: Tokens = serde_json::from_slice(text).ok()?;
    tokens.access_token.or(tokens.bearer_token)
}

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
            Self::Unknown => Err(Error::Unavailable("The database does not answer, try again".into()).into()),
        }
    }
}
