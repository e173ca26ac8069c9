//! Observability: gives every request an id, a tracing span and metrics; turns a panic into a 500.
//!
//! The outermost layer, which also creates the request's [`Cx`]. The id is in `X-Request-Id`, in every log line of the
//! request and in the body of a 5xx, so that a bug report identifies the log lines. Only the method and the route
//! template are logged: a query may contain a token.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use futures_util::FutureExt as _;
use tokio::time::{Duration, Instant};
use tracing::Instrument as _;

use super::Cx;
use super::error::{failure, with_request_id};
use super::policy::{Policies, Policy};

/// Random bytes in a request id: enough to avoid collisions within the lifetime of a log.
const ID_BYTES: usize = 12;

/// Histogram of the seconds from the request to the response head, by method, matched route and status.
pub const REQUEST_SECONDS: &str = "rookery_http_requests_seconds";

/// The path template of a route outside the router, such as a plugin's, for metrics; in the response's extensions.
#[derive(Clone, Debug)]
pub struct RouteTemplate(pub Arc<str>);

/// The outermost layer: derives the [`Cx`] of the request from that of the server.
pub async fn layer(
    State((server, policies)): State<(rookery_core::Cx, Arc<Policies>)>,
    mut request: Request,
    next: Next,
) -> Response {
    let begun = Instant::now();
    let id: Arc<str> = crypto::random_text(ID_BYTES).into();
    let cx = server.begin(Some(Arc::clone(&id)));
    request.extensions_mut().insert(Cx(cx.clone()));
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let matched = matched.as_ref().map(MatchedPath::as_str);
    let declared = matched.and_then(|path| policies.get(path)).copied();
    let policy = declared.unwrap_or_else(|| Policy::fallback(request.uri().path()));
    request.extensions_mut().insert(policy);
    let method = request.method().clone();
    let span = tracing::info_span!("request", request.id = %id, http.method = %method, http.route = matched);
    let mut response = with_request_id(answer(request, next).instrument(span.clone()).await, Some(&id));
    let plugin_template = response.extensions().get::<RouteTemplate>().cloned();
    let plugin_template = plugin_template.as_ref().map(|RouteTemplate(path)| &**path);
    if let Some(path) = plugin_template {
        span.record("http.route", path);
    }
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert("x-request-id", id);
    }
    let taken = begun.elapsed();
    if cx.config.metrics.listen.is_some() {
        record(&method, matched.or(plugin_template), response.status(), taken);
    }
    span.in_scope(|| {
        tracing::debug!(
            http.status = response.status().as_u16(),
            duration_ms = taken.as_secs_f64() * 1000.0,
            "answered"
        );
    });
    response
}

async fn answer(request: Request, next: Next) -> Response {
    match AssertUnwindSafe(next.run(request)).catch_unwind().await {
        Ok(response) => response,
        Err(_) => {
            // The panic itself was logged by the panic hook, on standard error.
            tracing::error!("a request panicked");
            failure(StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong on our side")
        }
    }
}

fn record(method: &Method, route: Option<&str>, status: StatusCode, taken: Duration) {
    let route = route.unwrap_or("unmatched").to_owned();
    let labels = [("method", method.as_str().to_owned()), ("route", route), ("status", status.as_str().to_owned())];
    metrics::histogram!(REQUEST_SECONDS, &labels).record(taken.as_secs_f64());
}
