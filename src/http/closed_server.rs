//! Access control for closed servers: `access.disallow_unauthenticated_api` and `access.limited_federation`.
//!
//! Runs after `auth` and before the handler, at routes where the server is closed. It decides only whether a request is
//! let through as a person's; scopes and permissions are checked by the extractors and services.
//! Spec: docs/contract/rules.md#7-access-modes.

use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};

use super::auth::Authentication;
use super::error;
use super::extract::auth::unusable;
use super::policy::{Closed, Policy, RouteKind};
use super::state::RequestState;
use super::web::cookies::{Cookies, Name};
use super::web::redirect;
use super::web::session::sign_in_url;
use crate::Cx;
use crate::error::{Error, ErrorResponse, Result};
use model::actor::Unusable;
use service::session;

/// The answer to a request that a server closed to strangers does not serve; `None` for everyone else.
pub(crate) async fn refuse(
    state: &RequestState<'_>,
    authentication: &Authentication,
    uri: &Uri,
    headers: &HeaderMap,
) -> Option<Response> {
    let person = person(state, authentication);
    let hidden = state.policy.closed == Closed::HiddenWhenLimited && state.cx.config.access.limited_federation;
    match person {
        Ok(true) if hidden => Some(error::failure(StatusCode::NOT_FOUND, "Record not found")),
        Ok(true) => None,
        Err(why) if state.policy.kind == RouteKind::Api => Some(ErrorResponse(unusable(why)).into_response()),
        Ok(false) if hidden || state.policy.kind == RouteKind::Api => Some(sign_in_needed()),
        Ok(false) | Err(_) => match has_session(&state.cx, headers).await {
            Ok(true) => None,
            Ok(false) => Some(redirect(&sign_in_url(uri.path()))),
            Err(error) => Some(error.into_response()),
        },
    }
}

/// True when the token belongs to a user who may use this route, false without a user.
///
/// # Errors
/// The reason why the account cannot be used. Unconfirmed and pending accounts can, where the route admits them.
fn person(state: &RequestState<'_>, authentication: &Authentication) -> Result<bool, Unusable> {
    let Authentication::Grant(grant) = authentication else { return Ok(false) };
    match grant.person() {
        Ok(actor) => Ok(actor.is_some()),
        Err(Unusable::Unconfirmed | Unusable::Pending)
            if state.route.is_some_and(|route| route.serves_any_state(&state.method)) =>
        {
            Ok(true)
        }
        Err(why) => Err(why),
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

/// True for a request of someone who may use this server, by token or browser session. For files and routes of plugins
/// that are neither of the API nor pages.
///
/// # Errors
/// When the session cannot be looked up.
pub async fn is_person(cx: &Cx, authentication: &Authentication, headers: &HeaderMap) -> Result<bool> {
    match authentication {
        Authentication::Grant(grant) if grant.person().is_ok_and(|actor| actor.is_some()) => Ok(true),
        Authentication::Grant(_) | Authentication::Missing | Authentication::Invalid | Authentication::Unknown => {
            has_session(cx, headers).await
        }
    }
}

async fn has_session(cx: &Cx, headers: &HeaderMap) -> Result<bool> {
    match Cookies::read(cx, headers).get(Name::Session) {
        Some(token) if !token.is_empty() => Ok(session::find(cx, token).await?.is_some()),
        Some(_) | None => Ok(false),
    }
}
