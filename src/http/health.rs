//! Liveness and readiness probes for proxies and supervisors; no authentication.

use std::sync::atomic::Ordering;

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};

use crate::Cx;
use rookery_core::service;

/// `GET /health` and `GET /livez`: the process is alive. Does not touch the database.
pub async fn alive() -> &'static str {
    "OK"
}

/// `GET /readyz`: the database answers and its schema is of this version; otherwise, and during shutdown, 503 with the
/// reason.
pub async fn ready(cx: Cx) -> Response {
    if cx.stopping.load(Ordering::Relaxed) {
        return unready("stopping");
    }
    match service::instance::is_ready(&cx).await {
        Ok(true) => "OK".into_response(),
        Ok(false) => unready("the database has another schema"),
        Err(error) => {
            tracing::warn!(%error, "not ready");
            unready("the database does not answer")
        }
    }
}

fn unready(reason: &'static str) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, reason).into_response()
}
