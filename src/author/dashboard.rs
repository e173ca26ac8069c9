//! The page of `rookery plugin dev`: requests to the plugin, its log, failures and limits, in a browser tab.
//!
//! Served on a separate port, for this machine alone, and only for requests with this host name: another site's page
//! cannot read it. The page polls once a second.

use std::net::Ipv4Addr;

use axum::Router;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use plugins::Cx;
use plugins::admin;
use plugins::admin::entity::Detail;
use terminal::Failure;

const PAGE: &str = include_str!("dashboard.html");

/// Nothing but the page's own script, style and answers.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'";

/// The data of the page.
#[derive(Clone)]
struct Dashboard {
    cx: Cx,
    plugin: String,
    port: u16,
}

/// The last numbers that the page has.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct After {
    request: u64,
    line: u64,
}

/// Serves the page of `plugin` on `port` until it is dropped.
///
/// # Errors
/// When the port is taken.
pub(crate) async fn serve(cx: Cx, plugin: String, port: u16) -> Result<(), Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
    let listener =
        listener.map_err(|error| Failure::new(format!("the page on port {port} cannot be served: {error}")))?;
    axum::serve(listener, router(Dashboard { cx, plugin, port })).await.map_err(Failure::new)
}

fn router(shown: Dashboard) -> Router {
    Router::new().route("/", get(page)).route("/state", get(state)).with_state(shown)
}

async fn page(State(shown): State<Dashboard>, headers: HeaderMap) -> Response {
    if !shown.is_for(&headers) {
        return StatusCode::FORBIDDEN.into_response();
    }
    let headers = [(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CONTENT_SECURITY_POLICY, POLICY)];
    (headers, PAGE.replace("{plugin}", &shown.plugin)).into_response()
}

async fn state(State(shown): State<Dashboard>, headers: HeaderMap, Query(after): Query<After>) -> Response {
    if !shown.is_for(&headers) {
        return StatusCode::FORBIDDEN.into_response();
    }
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    (headers, shown.since(&after).await.to_string()).into_response()
}

impl Dashboard {
    /// False for a request with a foreign host name (DNS rebinding).
    fn is_for(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        host.is_some_and(|host| {
            [format!("localhost:{}", self.port), format!("127.0.0.1:{}", self.port)].iter().any(|own| own == host)
        })
    }

    async fn since(&self, after: &After) -> Value {
        let plugins = &self.cx.plugins;
        let lines = plugins.logs.after(&self.plugin, after.line);
        let lines = lines.iter().map(|line| {
            json!({ "number": line.number, "at": line.at.timestamp_millis(), "level": line.level.as_str(), "message": line.message })
        });
        json!({
            "requests": plugins.requests.after(after.request),
            "lines": lines.collect::<Vec<_>>(),
            "detail": self.detail().await,
        })
    }

    /// As `rookery plugin inspect --json`.
    async fn detail(&self) -> Value {
        let Ok(known) = admin::find(&self.cx, &self.plugin).await else { return Value::Null };
        let Ok(outbox) = admin::outbox(&self.cx, &known.plugin).await else { return Value::Null };
        serde_json::to_value(Detail::new(&self.cx, &known, &outbox)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_reads_nothing_of_other_origins() {
        assert!(!PAGE.contains("http://") && !PAGE.contains("https://") && !PAGE.contains("innerHTML"));
    }
}
