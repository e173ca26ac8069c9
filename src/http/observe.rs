//! Gives every request an id, a span for its log lines, and a place in the measurements; turns a panic into a 500.
//!
//! The outermost layer. The id is in `X-Request-Id`, in every log line of the request and in the body of a 5xx, so that
//! a person who reports one names the lines to look at. Only path and method are logged: a query may hold a token.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use futures_util::FutureExt as _;
use tokio::time::{Duration, Instant};
use tracing::Instrument as _;

use super::error::failure;
use crate::app::App;
use crate::metrics;

/// Random bytes of a request's id: enough that no two of a log's lifetime are the same.
const ID_BYTES: usize = 12;

/// In the extensions of an answer: the template of a route that is not the router's own, for the measurements.
#[derive(Clone, Debug)]
pub struct Template(pub Arc<str>);

tokio::task_local! {
    static REQUEST_ID: String;
}

/// The id of the request that is being answered; `None` outside of one.
pub fn request_id() -> Option<String> {
    REQUEST_ID.try_with(Clone::clone).ok()
}

/// Around everything else.
pub async fn layer(State(app): State<App>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let id = crypto::random_text(ID_BYTES);
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let matched = matched.as_ref().map(MatchedPath::as_str);
    let method = request.method().clone();
    let span = tracing::info_span!("request", request.id = %id, http.method = %method, http.route = matched);
    let answer = REQUEST_ID.scope(id.clone(), answer(request, next)).instrument(span.clone()).await;
    let mut response = answer;
    let beyond = response.extensions().get::<Template>().cloned();
    let beyond = beyond.as_ref().map(|Template(path)| &**path);
    if let Some(path) = beyond {
        span.record("http.route", path);
    }
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert("x-request-id", id);
    }
    let taken = begun.elapsed();
    if app.config.metrics.listen.is_some() {
        record(&method, matched.or(beyond), response.status(), taken);
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
    ::metrics::histogram!(metrics::REQUESTS, &labels).record(taken.as_secs_f64());
}
