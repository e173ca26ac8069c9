//! Response headers: CORS, caching and security policies.
//!
//! A stage of every request, after its handler. Routes declare caching with [`cache`]; a policy header that a handler sets
//! itself is left alone. Spec: docs/contract/rules.md#6-caching-cors-headers.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::cache;
use super::deprecation::DEPRECATION;
use super::policy::{Keep, RouteKind};
use super::state::RequestState;
use crate::error::USUAL_HEADERS;

/// The header with the request id.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Content security policy of API responses: nothing may be loaded, framed or submitted.
const API_POLICY: HeaderValue =
    HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; form-action 'none'");
/// Content security policy of other responses than those of the API and pages: no scripts, and nothing of other hosts.
const PAGE_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; img-src 'self' data:; media-src 'self'; font-src 'self'; \
     base-uri 'none'; frame-ancestors 'none'",
);
/// Response headers that scripts of other origins may read.
const EXPOSED: HeaderValue = HeaderValue::from_static(
    "Link, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id, Deprecation, Mastodon-Async-Refresh",
);
/// How long a browser may cache a preflight response, in seconds.
const PREFLIGHT_MAX_AGE: HeaderValue = HeaderValue::from_static("7200");

/// Policies of every answer that says nothing else.
const SECURITY: [(HeaderName, HeaderValue); 3] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
];

/// Completes the headers of an answer.
pub(crate) fn complete(state: &RequestState<'_>, response: &mut Response) {
    let (status, headers) = (response.status(), response.headers_mut());
    headers.reserve(USUAL_HEADERS.saturating_sub(headers.len()));
    if state.policy.cors.is_some() {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }
    set_cache_headers(state, status, headers);
    if let Some(date) = state.route.and_then(|route| route.deprecated.clone()) {
        headers.insert(DEPRECATION, date);
    }
    if state.negotiated {
        // After the cache headers: what depends on this header alone may be kept by everyone.
        headers.append(header::VARY, HeaderValue::from_static("Accept"));
    }
    let policy = if state.policy.kind == RouteKind::Api { API_POLICY } else { PAGE_POLICY };
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
    for (name, value) in SECURITY {
        headers.entry(name).or_insert(value);
    }
    // An empty value says that the policy alone decides who may frame the answer; it is not sent.
    if headers.get(header::X_FRAME_OPTIONS).is_some_and(HeaderValue::is_empty) {
        headers.remove(header::X_FRAME_OPTIONS);
    }
}

/// True when a request accepts JSON rather than a page: of the two, what `Accept` names first.
pub(crate) fn accepts_document(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut kinds =
        accepted.flat_map(|value| value.split(',')).map(|kind| kind.split(';').next().unwrap_or_default().trim());
    let first = kinds.find_map(|kind| match kind.to_ascii_lowercase().as_str() {
        "text/html" | "application/xhtml+xml" => Some(false),
        "application/activity+json" | "application/ld+json" | "application/json" | "application/jrd+json" => Some(true),
        _ => None,
    });
    first.unwrap_or(false)
}

pub(crate) fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// The answer to a CORS preflight request, where other origins may use `methods`.
pub(crate) fn preflight(methods: &'static str, request: &HeaderMap) -> Response {
    let mut response = StatusCode::OK.into_response();
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(methods));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, PREFLIGHT_MAX_AGE);
    if let Some(wanted) = request.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    response
}

/// Sets `Vary`, and makes the answer private when it varies by a header that the request carries.
fn set_cache_headers(state: &RequestState<'_>, status: StatusCode, headers: &mut HeaderMap) {
    let api = state.policy.kind == RouteKind::Api;
    let keep = if matches!(state.method, Method::GET | Method::HEAD) { state.policy.keep } else { Keep::Nobody };
    // An empty value says that the answer depends on nothing; it is not sent.
    let depends = match headers.get(header::VARY) {
        Some(vary) if vary.is_empty() => {
            headers.remove(header::VARY);
            false
        }
        // A page for everyone is kept once for each language.
        Some(vary) => vary.to_str().is_ok_and(|vary| {
            let mut names = vary.split(',').map(str::trim);
            names.any(|name| (api || !name.eq_ignore_ascii_case("Accept-Language")) && state.carries.any_of(name))
        }),
        None if api && keep != Keep::ForEveryone => {
            headers.insert(header::VARY, HeaderValue::from_static("Authorization"));
            state.carries.authorization
        }
        None => false,
    };
    let is_secret = headers.get(header::CACHE_CONTROL).is_some_and(|control| control == "no-store");
    if is_secret {
        return;
    }
    if depends || state.closed || (api && !status.is_success()) {
        headers.insert(header::CACHE_CONTROL, cache::PRIVATE);
    } else {
        headers.entry(header::CACHE_CONTROL).or_insert(cache::control(keep));
    }
}
