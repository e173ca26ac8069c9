//! Access control for closed servers: `access.disallow_unauthenticated_api` and `access.limited_federation`.
//!
//! A layer that runs after `auth` and before the routes. It decides only whether anonymous requests are let through;
//! scopes and permissions are checked by the extractors and services. Spec: contract rules, section 7.

use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::auth::Authentication;
use super::error;
use super::policy::{Closed, Policy, RouteKind};
use super::web::cookies::{Cookies, Name};
use super::web::redirect;
use super::web::session::sign_in_url;
use crate::Cx;
use crate::error::{Error, ErrorResponse, Result};
use rookery_core::service::session;

/// Rejects anonymous requests for what a closed server shows to signed-in users only.
pub async fn layer(cx: Cx, request: Request, next: Next) -> Response {
    let policy = Policy::of(request.extensions());
    if !is_closed(&cx, &policy, request.method()) {
        return next.run(request).await;
    }
    if policy.closed == Closed::HiddenWhenLimited && cx.config.access.limited_federation {
        return match is_signed_in(&request) {
            true => error::failure(StatusCode::NOT_FOUND, "Record not found"),
            false => sign_in_needed(),
        };
    }
    if is_signed_in(&request) {
        return next.run(request).await;
    }
    if policy.kind == RouteKind::Api {
        return sign_in_needed();
    }
    match has_session(&cx, request.headers()).await {
        Ok(true) => next.run(request).await,
        Ok(false) => redirect(&sign_in_url(request.uri().path())),
        Err(error) => error.into_response(),
    }
}

fn sign_in_needed() -> Response {
    ErrorResponse(Error::Unauthorized("This method requires an authenticated user".into())).into_response()
}

/// True when a route with this policy serves signed-in people only, whatever its handler requires.
#[must_use]
pub fn is_closed(cx: &Cx, policy: &Policy, method: &Method) -> bool {
    let access = &cx.config.access;
    let limited = access.limited_federation;
    let closed = access.disallow_unauthenticated_api || limited;
    match policy.closed {
        Closed::ToStrangers => closed,
        Closed::Open(change) => closed && !change.is(method),
        Closed::UnlessLimited | Closed::HiddenWhenLimited | Closed::PeopleWhenLimited => limited,
        Closed::Never => false,
    }
}

async fn has_session(cx: &Cx, headers: &HeaderMap) -> Result<bool> {
    match Cookies::read(cx, headers).get(Name::Session) {
        Some(token) if !token.is_empty() => Ok(session::find(cx, token).await?.is_some()),
        Some(_) | None => Ok(false),
    }
}

fn is_signed_in(request: &Request) -> bool {
    match request.extensions().get::<Authentication>() {
        Some(Authentication::Grant(grant)) => grant.actor.is_some(),
        Some(Authentication::Missing | Authentication::Invalid | Authentication::Unknown) | None => false,
    }
}
