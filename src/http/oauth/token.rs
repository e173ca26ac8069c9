//! Tokens for programs: given, revoked, looked at.

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::{Deserialize, Serialize};

use super::params::{Params, credentials};
use crate::app::App;
use crate::entity::token::{Token, TokenInfo, TokenIntrospection};
use crate::http::auth::Authentication;
use crate::http::error::json;
use crate::http::extract::params::text;
use crate::service::oauth::introspect::{self, Caller, invalid_token};
use crate::service::oauth::{Fault, exchange, revoke};
use crypto::Secret;

/// The parameters of `POST /oauth/token`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Exchange {
    #[serde(deserialize_with = "text")]
    grant_type: Option<String>,
    #[serde(deserialize_with = "text")]
    client_id: Option<String>,
    #[serde(deserialize_with = "text")]
    client_secret: Option<String>,
    #[serde(deserialize_with = "text")]
    code: Option<String>,
    #[serde(deserialize_with = "text")]
    redirect_uri: Option<String>,
    #[serde(deserialize_with = "text")]
    code_verifier: Option<String>,
    #[serde(deserialize_with = "text")]
    scope: Option<String>,
}

/// The parameters of revocation and introspection. A `token_type_hint` is of no help: there is one type.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct About {
    #[serde(deserialize_with = "text")]
    token: Option<String>,
    #[serde(deserialize_with = "text")]
    client_id: Option<String>,
    #[serde(deserialize_with = "text")]
    client_secret: Option<String>,
}

/// `POST /oauth/token`
///
/// # Errors
/// In the words of RFC 6749, section 5.2.
pub async fn create(
    State(app): State<App>,
    headers: HeaderMap,
    Params(sent): Params<Exchange>,
) -> Result<Response, Fault> {
    let request = exchange::Request {
        grant_type: sent.grant_type,
        credentials: credentials(&headers, sent.client_id, sent.client_secret),
        code: sent.code.map(Secret::from),
        redirect_uri: sent.redirect_uri,
        code_verifier: sent.code_verifier.map(Secret::from),
        scope: sent.scope,
    };
    Ok(unstored(&Token::from(&exchange::exchange(&app, &request).await?)))
}

/// `POST /oauth/revoke`
///
/// # Errors
/// `unauthorized_client`, 403, unless the token is the client's own.
pub async fn revoke(
    State(app): State<App>,
    headers: HeaderMap,
    Params(sent): Params<About>,
) -> Result<Response, Fault> {
    let client = credentials(&headers, sent.client_id, sent.client_secret);
    let token = sent.token.filter(|token| !token.is_empty()).map(Secret::from);
    revoke::by_client(&app, &client, token.as_ref()).await?;
    Ok(unstored(&serde_json::Map::new()))
}

/// `POST /oauth/introspect`
///
/// # Errors
/// `invalid_client` and `invalid_token`, 401.
pub async fn introspect(
    State(app): State<App>,
    Extension(authentication): Extension<Authentication>,
    headers: HeaderMap,
    Params(sent): Params<About>,
) -> Result<Response, Fault> {
    let client = credentials(&headers, sent.client_id, sent.client_secret);
    let caller = match client.client_id {
        Some(_) => Caller::Client(client),
        None => authentication.grant()?.map_or(Caller::Client(client), |grant| Caller::Token(grant)),
    };
    let found = introspect::introspect(&app, caller, sent.token.map(Secret::from).as_ref()).await?;
    Ok(unstored(&TokenIntrospection::from(found)))
}

/// `GET /oauth/token/info`
///
/// # Errors
/// `invalid_token`, 401.
pub async fn info(
    State(app): State<App>,
    Extension(authentication): Extension<Authentication>,
) -> Result<Response, Fault> {
    let grant = authentication.grant()?.ok_or_else(invalid_token)?;
    Ok(unstored(&TokenInfo::from(introspect::own(&app, grant).await?)))
}

/// 200 that nothing on the way keeps (RFC 6749, section 5.1).
fn unstored<T: Serialize>(body: &T) -> Response {
    let mut response = json(StatusCode::OK, body);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert(header::PRAGMA, HeaderValue::from_static("no-cache"));
    response
}
