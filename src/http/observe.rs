//! Observability: the tracing span of every request, and its metrics.
//!
//! The request id is in `X-Request-Id`, in every log line of the request and in the body of a 5xx, so that a bug report
//! identifies the log lines. Only the method and the route template are logged: a query may contain a token.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use metrics::Histogram;
use tracing::Span;

use super::state::RequestState;
use context::cx::RequestId;

/// Histogram of the seconds from the request to the response head, by method, matched route and status.
pub const REQUEST_SECONDS: &str = "rookery_http_requests_seconds";

/// The path template of a route outside the router, such as a plugin's, for metrics; in the response's extensions.
#[derive(Clone, Debug)]
pub struct RouteTemplate(pub Arc<str>);

/// The span that contains every log line of the request.
pub(crate) fn span(state: &RequestState<'_>, id: RequestId) -> Span {
    let route = state.route.map(|route| route.path);
    tracing::info_span!("request", request.id = id.as_str(), http.method = %state.method, http.route = route)
}

/// Logs and counts an answer, in the span of its request.
pub(crate) fn answered(seconds: &RequestSeconds, state: &RequestState<'_>, response: &Response, taken: Duration) {
    let mounted = response.extensions().get::<RouteTemplate>().map(|RouteTemplate(path)| &**path);
    if let Some(path) = mounted {
        Span::current().record("http.route", path);
    }
    let route = state.route.map(|route| route.path).or(mounted);
    seconds.record(&state.method, route.unwrap_or("unmatched"), response.status(), taken);
    tracing::debug!(http.status = response.status().as_u16(), duration_ms = taken.as_secs_f64() * 1000.0, "answered");
}

/// The histograms of [`REQUEST_SECONDS`], each registered at its first use: recording then takes no lock.
#[derive(Debug)]
pub(crate) struct RequestSeconds {
    enabled: bool,
    by_route: ArcSwap<ByRoute>,
}

type ByRoute = HashMap<Box<str>, Vec<(&'static str, StatusCode, Histogram)>>;

impl RequestSeconds {
    /// Records nothing unless `enabled`.
    pub(crate) fn new(enabled: bool) -> Self {
        Self { enabled, by_route: ArcSwap::default() }
    }

    fn record(&self, method: &Method, route: &str, status: StatusCode, taken: Duration) {
        if !self.enabled {
            return;
        }
        let method = label(method);
        let by_route = self.by_route.load();
        let of_route = by_route.get(route).map(Vec::as_slice).unwrap_or_default();
        match of_route.iter().find(|(its_method, its_status, _)| *its_method == method && *its_status == status) {
            Some((.., histogram)) => histogram.record(taken),
            None => self.register(method, route, status).record(taken),
        }
    }

    fn register(&self, method: &'static str, route: &str, status: StatusCode) -> Histogram {
        let labels =
            [("method", method.to_owned()), ("route", route.to_owned()), ("status", status.as_str().to_owned())];
        let histogram = metrics::histogram!(REQUEST_SECONDS, &labels);
        self.by_route.rcu(|by_route| {
            let mut more = ByRoute::clone(by_route);
            more.entry(route.into()).or_default().push((method, status, histogram.clone()));
            more
        });
        histogram
    }
}

/// The method as a label: clients may make up others, and each label is kept.
fn label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_one_kind_share_a_histogram() {
        let seconds = RequestSeconds::new(true);
        let record = |method, status| seconds.record(&method, "/livez", status, Duration::from_millis(1));
        record(Method::GET, StatusCode::OK);
        record(Method::GET, StatusCode::OK);
        record(Method::GET, StatusCode::NOT_FOUND);
        for made_up in [&b"PURGE"[..], b"BREW"] {
            record(Method::from_bytes(made_up).expect("a method"), StatusCode::NOT_FOUND);
        }
        let by_route = seconds.by_route.load();
        let kinds: Vec<_> = by_route["/livez"].iter().map(|(method, status, _)| (*method, status.as_u16())).collect();
        assert_eq!(kinds, [("GET", 200), ("GET", 404), ("other", 404)]);
    }

    #[test]
    fn recording_needs_a_listener() {
        let seconds = RequestSeconds::new(false);
        seconds.record(&Method::GET, "/livez", StatusCode::OK, Duration::ZERO);
        assert!(seconds.by_route.load().is_empty());
    }
}
