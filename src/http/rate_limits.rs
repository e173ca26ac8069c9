//! Rate limiting of requests, and the `X-RateLimit-*` response headers (contract rules, section 5).
//!
//! [`applicable_limits`] decides which limits a request counts against; `service::rate_limits` keeps the counters. Limits on
//! an action rather than a request, or on the e-mail address in a form, are applied elsewhere, by services and handlers.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::auth::Authentication;
use super::client_address::client_address;
use super::policy::{Per, Policy, RouteKind};
use super::web::error_page;
use crate::Cx;
use crate::error::{Error, ErrorResponse};
use rookery_core::service::rate_limits::{self, Key, Limit, Standing};

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
    let api = Policy::of(request.extensions()).kind == RouteKind::Api;
    let spent =
        applicable_limits(&cx, &request).into_iter().filter_map(|(limit, key)| rate_limits::spend(&cx, limit, &key));
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
fn applicable_limits(cx: &Cx, request: &Request) -> Vec<(&'static Limit, Key)> {
    let policy = Policy::of(request.extensions());
    let address = || Key::address(client_address(request, &cx.config.server.trusted_proxies));
    let (person, token) = match request.extensions().get::<Authentication>() {
        Some(Authentication::Grant(grant)) => (grant.actor.as_ref().map(|actor| actor.id), Some(grant.token)),
        Some(Authentication::Missing | Authentication::Invalid | Authentication::Unknown) | None => (None, None),
    };
    let mut found = Vec::new();
    if policy.kind == RouteKind::Api {
        found.push(
            person.map_or_else(
                || (&rate_limits::API_ADDRESS, address()),
                |id| (&rate_limits::API_PERSON, Key::Person(id)),
            ),
        );
        found.extend(token.map(|token| (&rate_limits::API_TOKEN, Key::Token(token))));
    }
    if is_paging(request.uri().query()) {
        found.push((&rate_limits::PAGING, person.map_or_else(address, Key::Person)));
    }
    match policy.limit_of(request.method()) {
        Some((limit, Per::Person)) => found.extend(person.map(|id| (limit, Key::Person(id)))),
        Some((limit, Per::Address)) => found.push((limit, address())),
        None => {}
    }
    found
}

fn is_paging(query: Option<&str>) -> bool {
    let mut names = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()).map(|(name, _)| name);
    names.any(|name| PAGING.contains(&&*name))
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
