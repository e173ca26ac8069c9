//! Closed servers: `access.disallow_unauthenticated_api` and `access.limited_federation` (contract rules, section 7).

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::auth::Authentication;
use super::web::cookies::{Cookies, Name};
use super::web::redirect;
use super::web::session::sign_in_url;
use super::{error, headers};
use crate::app::App;
use crate::error::{Error, Result};
use crate::service::session;

/// What a limited federation keeps from its own people too: it would name the servers allowed.
const NEVER_IN_LIMITED_FEDERATION: [&str; 3] =
    ["/api/v1/instance/peers", "/api/v1/instance/activity", "/api/v1/peers/search"];

/// Refuses what a closed server does not show to strangers.
pub async fn layer(State(app): State<App>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if is_closed_page(&app, path) && !is_person(&request) {
        match has_session(&app, request.headers()).await {
            Ok(true) => {}
            Ok(false) => return redirect(&sign_in_url(path)),
            Err(error) => return error.into_response(),
        }
    }
    if !headers::is_api(path) {
        return next.run(request).await;
    }
    if is_closed(&app, request.method(), path) && !is_person(&request) {
        return Error::Unauthorized("This method requires an authenticated user".into()).into_response();
    }
    if app.config.access.limited_federation && NEVER_IN_LIMITED_FEDERATION.contains(&path) {
        return error::failure(StatusCode::NOT_FOUND, "Record not found");
    }
    next.run(request).await
}

/// True when a path of the API answers only those who are signed in, whatever its handler says.
#[must_use]
pub fn is_closed(app: &App, method: &Method, path: &str) -> bool {
    let access = &app.config.access;
    (access.disallow_unauthenticated_api || access.limited_federation)
        && !is_open(method, path, access.limited_federation)
}

/// True when a limited federation shows a page of people only to those who are signed in. Files: see `files`.
#[must_use]
pub fn is_closed_page(app: &App, path: &str) -> bool {
    let of_people = ["/@", "/users/", "/tags/"].iter().any(|start| path.starts_with(start));
    app.config.access.limited_federation && of_people
}

async fn has_session(app: &App, headers: &HeaderMap) -> Result<bool> {
    match Cookies::read(app, headers).get(Name::Session) {
        Some(token) if !token.is_empty() => Ok(session::find(app, token).await?.is_some()),
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
