//! The OAuth endpoints: `/oauth/*` and the server's metadata.
//!
//! [`authorize`] and [`applications`] are pages for people, the others speak JSON to programs, with errors in the words
//! of the protocol. What is decided is decided in `service::oauth`.

pub mod applications;
pub mod authorize;
mod error;
mod params;
mod redirect;
mod scopes;
pub mod token;

use axum::extract::State;

use crate::app::App;
use crate::entity::server_metadata::ServerMetadata;
use crate::error::{Error, Result};
use crate::http::json::Json;

/// `GET /.well-known/oauth-authorization-server` (RFC 8414)
///
/// # Errors
/// Never, but for a bug.
pub async fn metadata(State(app): State<App>) -> Result<Json> {
    Json::of(&ServerMetadata::new(&app.urls))
}

/// `/oauth/applications` and all below: applications are registered by the API alone.
pub async fn forbidden() -> Error {
    Error::forbidden("Applications are registered through the API")
}
