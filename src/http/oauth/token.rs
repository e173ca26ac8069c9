//! The token, revocation (RFC 7009) and introspection (RFC 7662) endpoints.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::FaultResponse;
use super::params::{AnyToken, Params, credentials};
use crate::Cx;
use crate::auth::Authentication;
use crate::error::json;
use crypto::Secret;
use entity::token::{Token, TokenInfo, TokenIntrospection};
use model::params::required;
use service::oauth::introspect::{self, Caller};
use service::oauth::{exchange, revoke};

/// Parameters of [`create`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct TokenParams {
    /// `authorization_code` or `client_credentials`.
    #[schemars(transform = required)]
    grant_type: Option<String>,
    /// Here or by HTTP Basic.
    #[schemars(transform = required)]
    client_id: Option<String>,
    /// Here or by HTTP Basic.
    #[schemars(transform = required)]
    client_secret: Option<String>,
    /// Of the grant `authorization_code`.
    code: Option<String>,
    /// The redirect URI of the authorization request.
    redirect_uri: Option<String>,
    /// The secret whose hash is the `code_challenge` (RFC 7636).
    code_verifier: Option<String>,
    /// Of the grant `client_credentials`, separated by spaces.
    scope: Option<String>,
}

/// Parameters of [`revoke()`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct RevokeParams {
    token: Option<String>,
    /// Here or by HTTP Basic.
    #[schemars(transform = required)]
    client_id: Option<String>,
    /// Here or by HTTP Basic.
    #[schemars(transform = required)]
    client_secret: Option<String>,
}

/// Parameters of [`introspect()`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct IntrospectParams {
    #[schemars(transform = required)]
    token: Option<String>,
    /// Here, by HTTP Basic, or a token of the application instead.
    client_id: Option<String>,
    client_secret: Option<String>,
}

/// `POST /oauth/token`
///
/// # Errors
/// Error codes of RFC 6749, section 5.2.
pub async fn create(cx: Cx, headers: HeaderMap, Params(sent): Params<TokenParams>) -> Result<Response, FaultResponse> {
    let request = exchange::Request {
        grant_type: sent.grant_type,
        credentials: credentials(&headers, sent.client_id, sent.client_secret),
        code: sent.code.map(Secret::from),
        redirect_uri: sent.redirect_uri,
        code_verifier: sent.code_verifier.map(Secret::from),
        scope: sent.scope,
    };
    Ok(no_store(&Token::from(&exchange::exchange(&cx, &request).await?)))
}

/// `POST /oauth/revoke`
///
/// # Errors
/// `unauthorized_client` (403) unless the token belongs to the client.
pub async fn revoke(cx: Cx, headers: HeaderMap, Params(sent): Params<RevokeParams>) -> Result<Response, FaultResponse> {
    let client = credentials(&headers, sent.client_id, sent.client_secret);
    let token = sent.token.filter(|token| !token.is_empty()).map(Secret::from);
    revoke::by_client(&cx, &client, token.as_ref()).await?;
    Ok(no_store(&serde_json::Map::new()))
}

/// `POST /oauth/introspect`
///
/// # Errors
/// `invalid_client` or `invalid_token` (401).
pub async fn introspect(
    cx: Cx,
    authentication: Authentication,
    headers: HeaderMap,
    Params(sent): Params<IntrospectParams>,
) -> Result<Response, FaultResponse> {
    let client = credentials(&headers, sent.client_id, sent.client_secret);
    let caller = match client.client_id {
        Some(_) => Caller::Client(client),
        None => authentication.grant()?.map_or(Caller::Client(client), |grant| Caller::Token(grant)),
    };
    let found = introspect::introspect(&cx, caller, sent.token.map(Secret::from).as_ref()).await?;
    Ok(no_store(&TokenIntrospection::from(found)))
}

/// `GET /oauth/token/info`
///
/// # Errors
/// `invalid_token` (401).
pub async fn info(cx: Cx, AnyToken(grant): AnyToken) -> Result<Response, FaultResponse> {
    Ok(no_store(&TokenInfo::from(introspect::own(&cx, &grant).await?)))
}

/// A 200 response that no cache may store (RFC 6749, section 5.1).
fn no_store<T: Serialize>(body: &T) -> Response {
    let mut response = json(StatusCode::OK, body);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert(header::PRAGMA, HeaderValue::from_static("no-cache"));
    response
}
