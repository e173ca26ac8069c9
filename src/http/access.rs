//! Access control for closed servers: `access.disallow_unauthenticated_api` and `access.limited_federation`.
//!
//! A layer that runs after `auth` and before the routes. It decides only whether anonymous requests are let through;
//! scopes and permissions are checked by the extractors and services. Spec: contract rules, section 7.

use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::auth::Authentication;
use super::web::cookies::{Cookies, Name};
use super::web::redirect;
use super::web::session::sign_in_url;
use super::{error, headers};
use crate::Cx;
use crate::error::{Error, ErrorResponse, Result};
use rookery_core::service::session;

/// Hidden even from signed-in users in limited federation, because it would list the allowed servers.
const NEVER_IN_LIMITED_FEDERATION: [&str; 3] =
    ["/api/v1/instance/peers", "/api/v1/instance/activity", "/api/v1/peers/search"];

/// Rejects anonymous requests for what a closed server shows to signed-in users only.
pub async fn layer(cx: Cx, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if is_closed_page(&cx, path) && !is_person(&request) {
        match has_session(&cx, request.headers()).await {
            Ok(true) => {}
            Ok(false) => return redirect(&sign_in_url(path)),
            Err(error) => return error.into_response(),
        }
    }
    if !headers::is_api(path) {
        return next.run(request).await;
    }
    if is_closed(&cx, request.method(), path) && !is_person(&request) {
        return ErrorResponse(Error::Unauthorized("This method requires an authenticated user".into())).into_response();
    }
    if cx.config.access.limited_federation && NEVER_IN_LIMITED_FEDERATION.contains(&path) {
        return error::failure(StatusCode::NOT_FOUND, "Record not found");
    }
    next.run(request).await
}

/// True when an API path needs a signed-in user, whatever its handler requires.
#[must_use]
pub fn is_closed(cx: &Cx, method: &Method, path: &str) -> bool {
    let access = &cx.config.access;
    (access.disallow_unauthenticated_api || access.limited_federation)
        && !is_open(method, path, access.limited_federation)
}

/// True for a profile, status or hashtag page that limited federation shows to signed-in users only.
///
/// Media files have their own check in `files`.
#[must_use]
pub fn is_closed_page(cx: &Cx, path: &str) -> bool {
    let of_people = ["/@", "/users/", "/tags/"].iter().any(|start| path.starts_with(start));
    cx.config.access.limited_federation && of_people
}

async fn has_session(cx: &Cx, headers: &HeaderMap) -> Result<bool> {
    match Cookies::read(cx, headers).get(Name::Session) {
        Some(token) if !token.is_empty() => Ok(session::find(cx, token).await?.is_some()),
        Some(_) | None => Ok(false),
    }
}

fn is_person(request: &Request) -> bool {
    match request.extensions().get::<Authentication>() {
        Some(Authentication::Grant(grant)) => grant.actor.is_some(),
        Some(Authentication::Missing | Authentication::Invalid | Authentication::Unknown) | None => false,
    }
}

fn is_open(method: &Method, path: &str, limited: bool) -> bool {
    let always = path == "/api/oembed" || matches!(path, "/api/v1/apps" | "/api/v1/accounts") && method == Method::POST;
    let about = path == "/api/v1/peers/search"
        || path == "/api/v1/instance"
        || path.starts_with("/api/v1/instance/")
        || path == "/api/v2/instance";
    always || (about && !limited)
}
