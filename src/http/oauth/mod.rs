//! OAuth 2.0 endpoints: `/oauth/*` and the authorization server metadata.
//!
//! [`authorize`] and [`applications`] are pages for browsers; the others answer applications in JSON, with the error
//! format of RFC 6749. The rules are in `service::oauth`.

pub mod applications;
pub mod authorize;
mod error;
mod params;
mod redirect;
mod scopes;
pub mod token;

use axum::response::Response;

use crate::Cx;
use crate::error::{Error, ErrorResponse, Result};
use crate::json::rendered;
use entity::document::PublicDocument;

/// `GET /.well-known/oauth-authorization-server` (RFC 8414)
pub async fn metadata(cx: Cx) -> Result<Response> {
    Ok(rendered(PublicDocument::ServerMetadata.render(&cx).await?))
}

/// `/oauth/applications` and everything below it: applications can be registered through the API only.
pub async fn forbidden() -> ErrorResponse {
    Error::forbidden("Applications are registered through the API").into()
}
