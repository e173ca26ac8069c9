//! Response headers: CORS, caching and security policies.
//!
//! A layer around all routes. Routes declare caching with [`cache`]; a policy header that a handler sets itself is left
//! alone. Spec: contract rules, section 6.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::policy::{Policy, RouteKind};
use super::{access, cache};
use crate::Cx;

/// Content security policy of API responses: nothing may be loaded, framed or submitted.
const API_POLICY: HeaderValue =
    HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; form-action 'none'");
/// Content security policy of pages: no scripts; images and media may come from other hosts.
const PAGE_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; img-src 'self' https: data:; media-src 'self' https:; font-src 'self'; \
     base-uri 'none'; frame-ancestors 'none'",
);
/// Response headers that scripts of other origins may read.
const EXPOSED: HeaderValue =
    HeaderValue::from_static("Link, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id");
/// How long a browser may cache a preflight response, in seconds.
const PREFLIGHT_MAX_AGE: HeaderValue = HeaderValue::from_static("7200");

/// The properties of the request that its response headers depend on, read before the handler consumes it.
struct RequestTraits {
    policy: Policy,
    closed: bool,
    /// GET or HEAD.
    reads: bool,
    headers: HeaderMap,
    token_in_query: bool,
}

/// Answers CORS preflight requests, and completes the headers of every other response.
pub async fn layer(cx: Cx, request: Request, next: Next) -> Response {
    let asked = RequestTraits::of(&cx, &request);
    let mut response = match asked.policy.cors {
        Some(methods) if is_preflight(&request) => preflight(methods, request.headers()),
        _ => next.run(request).await,
    };
    let (status, headers) = (response.status(), response.headers_mut());
    if asked.policy.cors.is_some() {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }
    asked.set_cache_headers(status, headers);
    let policy = if asked.policy.kind == RouteKind::Api { API_POLICY } else { PAGE_POLICY };
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
    headers.entry(header::X_CONTENT_TYPE_OPTIONS).or_insert(HeaderValue::from_static("nosniff"));
    headers.entry(header::X_FRAME_OPTIONS).or_insert(HeaderValue::from_static("DENY"));
    headers.entry(header::REFERRER_POLICY).or_insert(HeaderValue::from_static("same-origin"));
    response
}

/// True when a query carries a token, by whichever spelling: names are decoded, as where the token is read.
fn has_token(query: Option<&str>) -> bool {
    let mut names = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()).map(|(name, _)| name);
    names.any(|name| matches!(&*name, "access_token" | "bearer_token"))
}

fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

fn preflight(methods: &'static str, request: &HeaderMap) -> Response {
    let mut response = StatusCode::OK.into_response();
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(methods));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, PREFLIGHT_MAX_AGE);
    if let Some(wanted) = request.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    response
}

impl RequestTraits {
    fn of(cx: &Cx, request: &Request) -> Self {
        let policy = Policy::of(request.extensions());
        let keep = |name: &HeaderName| request.headers().get(name).map(|value| (name.clone(), value.clone()));
        let sent = [header::AUTHORIZATION, header::COOKIE, header::ACCEPT_LANGUAGE, header::ACCEPT];
        Self {
            policy,
            closed: access::is_closed(cx, &policy, request.method()),
            reads: matches!(*request.method(), Method::GET | Method::HEAD),
            headers: sent.iter().filter_map(keep).collect(),
            token_in_query: has_token(request.uri().query()),
        }
    }

    /// Sets `Vary`, and makes the response private when it varies by a header that the request carries.
    fn set_cache_headers(&self, status: StatusCode, headers: &mut HeaderMap) {
        if self.reads {
            cache::declare(self.policy.keep, headers);
        }
        let vary = match headers.get(header::VARY) {
            Some(vary) => vary.clone(),
            None if self.policy.kind == RouteKind::Api => HeaderValue::from_static("Authorization"),
            None => HeaderValue::from_static(""),
        };
        let depends = vary.to_str().is_ok_and(|vary| vary.split(',').any(|name| self.carries(name.trim())));
        let failed = self.policy.kind == RouteKind::Api && !status.is_success();
        if depends || failed || self.closed {
            headers.insert(header::CACHE_CONTROL, cache::PRIVATE);
        } else {
            headers.entry(header::CACHE_CONTROL).or_insert(cache::PRIVATE);
        }
        if vary.is_empty() {
            headers.remove(header::VARY);
        } else {
            headers.insert(header::VARY, vary);
        }
    }

    fn carries(&self, name: &str) -> bool {
        self.headers.contains_key(name) || (self.token_in_query && name.eq_ignore_ascii_case("authorization"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_token_names_are_seen() {
        assert!(has_token(Some("a=1&access_token=x")) && has_token(Some("access%5Ftoken=x")));
        assert!(!has_token(Some("my_token=x")) && !has_token(None));
    }
}
