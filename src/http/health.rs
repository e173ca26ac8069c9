//! Is the server alive, and may it be sent requests? For proxies and supervisors; no authentication.

use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};

use crate::app::App;

/// `GET /health` and `GET /livez`: the process answers.
pub async fn alive() -> &'static str {
    "OK"
}

/// `GET /readyz`: the database answers and its schema is this version's; 503 with the reason otherwise, and while the
/// server stops.
pub async fn ready(State(app): State<App>) -> Response {
    if app.stopping.load(Ordering::Relaxed) {
        return unready("stopping");
    }
    match store::migrate::pending(&app.db).await {
        Ok(pending) if pending.is_empty() => "OK".into_response(),
        Ok(_) => unready("the database has another schema"),
        Err(error) => {
            tracing::warn!(%error, "not ready");
            unready("the database does not answer")
        }
    }
}

fn unready(reason: &'static str) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, reason).into_response()
}
