//! Rate limiting of requests, and the `X-RateLimit-*` response headers (contract rules, section 5).
//!
//! [`applicable`] decides which limits a request counts against; `service::limits` keeps the counters. Limits on an
//! action rather than a request, or on the e-mail address in a form, are applied elsewhere, by services and handlers.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::auth::Authentication;
use super::client_address::client_address;
use super::headers;
use super::web::error_page;
use crate::Cx;
use crate::error::{Error, ErrorResponse};
use rookery_core::service::limits::{self, Key, Limit, Standing};

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// Query parameters that mark a request as paging through a collection.
const PAGING: [&str; 4] = ["page", "min_id", "max_id", "since_id"];

/// Counts a request against its limits, and rejects it with 429 when one is exceeded.
pub async fn layer(cx: Cx, request: Request, next: Next) -> Response {
    if !cx.config.rate_limits.enabled {
        return next.run(request).await;
    }
    let api = headers::is_api(request.uri().path());
    let spent = applicable(&cx, &request).into_iter().filter_map(|(limit, key)| limits::spend(&cx, limit, &key));
    let lowest = spent.min_by_key(|standing| (!standing.exceeded, standing.remaining));
    let (mut response, noted) = match lowest {
        Some(standing) if standing.exceeded => (refuse(&cx, api), None),
        _ => {
            let response = next.run(request).await;
            (response, cx.spent())
        }
    };
    let shown = [noted, lowest].into_iter().flatten().min_by_key(|standing| standing.remaining);
    if let (true, Some(standing)) = (api, shown) {
        show(standing, response.headers_mut());
    }
    response
}

fn refuse(cx: &Cx, api: bool) -> Response {
    match api {
        true => ErrorResponse(Error::RateLimited).into_response(),
        false => error_page(cx, StatusCode::TOO_MANY_REQUESTS, "Wait a few minutes before you try again"),
    }
}

/// The limits that a request counts against, each with the key of its counter.
fn applicable(cx: &Cx, request: &Request) -> Vec<(&'static Limit, Key)> {
    let (method, path) = (request.method(), request.uri().path());
    let address = || Key::address(client_address(request, &cx.config.server.trusted_proxies));
    let (person, token) = match request.extensions().get::<Authentication>() {
        Some(Authentication::Grant(grant)) => (grant.actor.as_ref().map(|actor| actor.id), Some(grant.token)),
        Some(Authentication::Missing | Authentication::Invalid | Authentication::Unknown) | None => (None, None),
    };
    let mut found = Vec::new();
    if headers::is_api(path) {
        found.push(
            person.map_or_else(|| (&limits::API_ADDRESS, address()), |id| (&limits::API_PERSON, Key::Person(id))),
        );
        found.extend(token.map(|token| (&limits::API_TOKEN, Key::Token(token))));
    }
    if is_paging(request.uri().query()) {
        found.push((&limits::PAGING, person.map_or_else(address, Key::Person)));
    }
    match of_person(method, path) {
        Some(limit) => found.extend(person.map(|id| (limit, Key::Person(id)))),
        None => found.extend(of_address(method, path).map(|limit| (limit, address()))),
    }
    found
}

fn of_person(method: &Method, path: &str) -> Option<&'static Limit> {
    let status = path.strip_prefix("/api/v1/statuses/");
    match *method {
        Method::POST if matches!(path, "/api/v1/media" | "/api/v2/media") => Some(&limits::MEDIA),
        Method::POST if status.is_some_and(|rest| rest.ends_with("/unreblog")) => Some(&limits::DELETE_STATUS),
        Method::DELETE if status.is_some_and(|rest| !rest.contains('/')) => Some(&limits::DELETE_STATUS),
        _ => None,
    }
}

fn of_address(method: &Method, path: &str) -> Option<&'static Limit> {
    match path {
        "/api/v1/accounts" if method == Method::POST => Some(&limits::SIGN_UP),
        "/api/v1/apps" if method == Method::POST => Some(&limits::APPS),
        _ if path.starts_with("/auth/") && method != Method::GET => Some(&limits::FORMS),
        _ => None,
    }
}

fn is_paging(query: Option<&str>) -> bool {
    let names = query.unwrap_or_default().split('&').map(|pair| pair.split('=').next().unwrap_or_default());
    names.into_iter().any(|name| PAGING.contains(&name))
}

fn show(standing: Standing, headers: &mut HeaderMap) {
    let reset = standing.reset.format("%Y-%m-%dT%H:%M:%S%.6fZ").to_string();
    let values = [(LIMIT, standing.max.to_string()), (REMAINING, standing.remaining.to_string()), (RESET, reset)];
    for (name, value) in values {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
}
