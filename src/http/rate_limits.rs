//! Rate limiting of requests, and the `X-RateLimit-*` response headers (docs/contract/rules.md#5-rate-limits).
//!
//! [`spend`] decides which limits a request counts against; `service::rate_limits` keeps the counters. Limits on an action
//! rather than a request, or on the e-mail address in a form, are applied elsewhere, by services and handlers.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use super::auth::Authentication;
use super::policy::{Per, RouteKind};
use super::request_limits::is_multipart;
use super::state::RequestState;
use super::web::error_page;
use crate::error::{Error, ErrorResponse};
use context::limits::{Key, Standing};
use service::rate_limits;

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// Query parameters that mark a request as paging through a collection.
const PAGING: [&str; 4] = ["page", "min_id", "max_id", "since_id"];

/// Counts a request against its limits; returns the standing for the headers, exceeded when one limit is.
pub(crate) fn spend(state: &RequestState<'_>, request: &Request, authentication: &Authentication) -> Option<Standing> {
    let address = || Key::address(state.client);
    let (person, token) = match authentication {
        Authentication::Grant(grant) => (grant.actor.as_ref().map(|actor| actor.id), Some(grant.token)),
        Authentication::Missing | Authentication::Invalid | Authentication::Unknown => (None, None),
    };
    let caller = || person.map_or_else(address, Key::Person);
    let general = if person.is_some() { &rate_limits::API_PERSON } else { &rate_limits::API_ADDRESS };
    let api = state.policy.kind == RouteKind::Api;
    let own = state.policy.limit_of(&state.method).and_then(|(limit, per)| match per {
        Per::Person => Some((limit, Key::Person(person?))),
        Per::Address => Some((limit, address())),
    });
    let is_upload = state.policy.files.is_some() && is_multipart(request);
    let uploads = is_upload.then_some(&rate_limits::MEDIA).filter(|_| own.is_none()).zip(person);
    let limits = [
        uploads.map(|(limit, person)| (limit, Key::Person(person))),
        api.then(|| (general, caller())),
        token.filter(|_| api).map(|token| (&rate_limits::API_TOKEN, Key::Token(token))),
        state.pages.then(|| (&rate_limits::PAGING, caller())),
        own,
    ];
    let spent = limits.into_iter().flatten().filter_map(|(limit, key)| rate_limits::spend(&state.cx, limit, &key));
    spent.min_by_key(|standing| (!standing.exceeded, standing.remaining))
}

/// The answer when a limit is exceeded.
pub(crate) fn refuse(state: &RequestState<'_>) -> Response {
    match state.policy.kind {
        RouteKind::Api | RouteKind::Program => ErrorResponse(Error::RateLimited).into_response(),
        RouteKind::Page => {
            error_page(&state.cx, StatusCode::TOO_MANY_REQUESTS, "Wait a few minutes before you try again")
        }
    }
}

/// Writes the lowest standing into the headers of an API response: the limit of the request, or a limit that a service
/// used.
pub(crate) fn show(state: &RequestState<'_>, spent: Option<Standing>, headers: &mut HeaderMap) {
    if state.policy.kind != RouteKind::Api {
        return;
    }
    let lowest = [state.cx.spent(), spent].into_iter().flatten().min_by_key(|standing| standing.remaining);
    let Some(standing) = lowest else { return };
    headers.insert(LIMIT, HeaderValue::from(standing.max));
    headers.insert(REMAINING, HeaderValue::from(standing.remaining));
    // With six digits of the second, which are always zero: windows begin and end at whole ones.
    if let Ok(reset) = HeaderValue::from_str(&standing.reset.format("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()) {
        headers.insert(RESET, reset);
    }
}

/// True when a query pages through a collection.
pub(crate) fn is_paging(query: &str) -> bool {
    let mut names = url::form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name);
    names.any(|name| PAGING.contains(&&*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_with_a_cursor_is_paging() {
        assert!(is_paging("limit=20&max_id=3") && is_paging("max%5Fid=3"));
        assert!(!is_paging("limit=20") && !is_paging(""));
    }
}
