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
use crate::extract::Auth;
use crate::extract::auth::OpenProfile;
use crate::json::{Json, rendered};
use entity::UserInfo;
use entity::document::PublicDocument;

/// `GET /.well-known/oauth-authorization-server` (RFC 8414)
pub async fn metadata(cx: Cx) -> Result<Response> {
    Ok(rendered(PublicDocument::ServerMetadata.render(&cx).await?))
}

/// `GET /oauth/userinfo`, and by POST (OpenID Connect Core 1.0, section 5.3.1)
pub async fn userinfo(cx: Cx, Auth(viewer, ..): Auth<OpenProfile>) -> Result<Json<UserInfo>> {
    Json::of(&UserInfo::of(&cx, viewer.id).await?)
}

/// `/oauth/applications` and everything below it: applications can be registered through the API only.
pub async fn forbidden() -> ErrorResponse {
    Error::forbidden("Applications are registered through the API").into()
}
