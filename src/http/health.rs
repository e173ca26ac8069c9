//! Liveness and readiness probes for proxies and supervisors; no authentication.

use std::borrow::Cow;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};

use crate::Cx;
use context::starting::Progress;

/// A transaction that holds the only writer for so long has made requests fail, or is about to.
const MAX_HELD: Duration = Duration::from_secs(3);

/// `GET /health` and `GET /livez`: the process is alive. Does not touch the database.
pub async fn alive() -> &'static str {
    "OK"
}

/// `GET /readyz`: every plugin was loaded or has failed, the database answers and can be written, nothing has held its writer for [`MAX_HELD`], and its schema is of
/// this version; otherwise, and during shutdown, 503 with the reason.
pub async fn ready(cx: Cx) -> Response {
    if cx.stopping.load(Ordering::Relaxed) {
        return unready("stopping");
    }
    if let Some(Progress { done, all }) = cx.starting.progress() {
        return unready(format!("plugins are being loaded: {done} of {all}"));
    }
    if let Some((held, plugin)) = cx.db.writer_held().filter(|(held, _)| *held >= MAX_HELD) {
        let by = plugin.map(|name| format!(", by the plugin {name}")).unwrap_or_default();
        return unready(format!("the database has been kept from other writers for {} s{by}", held.as_secs()));
    }
    if let Some(fault) = cx.db.check_writing().await {
        return unready(fault.sentence());
    }
    match service::instance::is_ready(&cx).await {
        Ok(true) => "OK".into_response(),
        Ok(false) => unready("the database has another schema"),
        Err(error) if error.is_fault() => unready(error.to_string()),
        Err(error) => {
            tracing::warn!(%error, "not ready");
            unready("the database does not answer")
        }
    }
}

fn unready(reason: impl Into<Cow<'static, str>>) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, reason.into()).into_response()
}
