//! Parameters and client authentication of the OAuth endpoints for applications.

use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::error::FaultResponse;
use crate::auth::Authentication;
use crate::extract;
use crate::operation::{Caller, Describe, Operation, Security};
use crypto::Secret;
use model::Grant;
use service::oauth::Credentials;
use service::oauth::introspect::invalid_token;
use text::contains_nul;

/// Like [`extract::Params`], with errors in the OAuth format.
#[derive(Debug)]
pub struct Params<T>(pub T);

impl<T: DeserializeOwned> FromRequest<()> for Params<T> {
    type Rejection = FaultResponse;

    async fn from_request(request: Request, state: &()) -> Result<Self, FaultResponse> {
        let extract::Params(params) = extract::Params::from_request(request, state).await?;
        Ok(Self(params))
    }
}

impl<T: JsonSchema> Describe for Params<T> {
    fn describe(operation: &mut Operation) {
        extract::Params::<T>::describe(operation);
    }
}

/// Any valid token, of a user or an application and with any scopes; errors are in the OAuth format.
#[derive(Debug)]
pub struct AnyToken(pub Arc<Grant>);

impl FromRequestParts<()> for AnyToken {
    type Rejection = FaultResponse;

    async fn from_request_parts(parts: &mut Parts, _: &()) -> Result<Self, FaultResponse> {
        let authentication = parts.extensions.get::<Authentication>().unwrap_or(&Authentication::Missing);
        let grant = authentication.grant()?.ok_or_else(invalid_token)?;
        Ok(Self(Arc::clone(grant)))
    }
}

impl Describe for AnyToken {
    fn describe(operation: &mut Operation) {
        operation.security = Security { caller: Caller::Application, scopes: &[], any_state: true };
    }
}

/// Client credentials from HTTP Basic (RFC 6749, section 2.3.1), otherwise from the parameters.
pub(super) fn credentials(headers: &HeaderMap, id: Option<String>, secret: Option<String>) -> Credentials {
    basic(headers).unwrap_or_else(|| Credentials { client_id: id, client_secret: secret.map(Secret::from) })
}

fn basic(headers: &HeaderMap) -> Option<Credentials> {
    let (scheme, encoded) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (id, secret) = decoded.split_once(':')?;
    let decode = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    let known = |id: &String| !contains_nul(id);
    Some(Credentials { client_id: Some(decode(id)).filter(known), client_secret: Some(decode(secret).into()) })
}
