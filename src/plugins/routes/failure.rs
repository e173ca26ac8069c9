//! What a client sees when a plugin did not answer, and what is kept of it.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use rookery_plugin_host::imports::types::Failure;
use rookery_plugin_host::{CallError, Ended};
use serde::Serialize;
use serde_json::value::RawValue;

use super::table::Mounted;
use crate::http::{error, observe};
use crate::plugins::json;

/// Seconds after which trying again may help.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("1");

/// What a plugin itself says.
#[derive(Serialize)]
struct Said<'a> {
    error: &'a str,
    error_code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a RawValue>,
}

/// What the server says in its place.
#[derive(Serialize)]
struct Silent<'a> {
    error: String,
    error_code: &'a str,
    plugin: &'a str,
    request_id: Option<String>,
}

/// The answer to a call that did not end well.
pub(super) fn answer(mounted: &Mounted, cause: &CallError) -> Response {
    let (status, code) = match cause.ended {
        Ended::Failure => {
            return cause
                .failure
                .as_ref()
                .map_or_else(|| silent(mounted, StatusCode::INTERNAL_SERVER_ERROR, "plugin.trap"), said);
        }
        Ended::Trap => (StatusCode::INTERNAL_SERVER_ERROR, "plugin.trap"),
        Ended::Limit => (StatusCode::SERVICE_UNAVAILABLE, "plugin.limit"),
        Ended::Busy => (StatusCode::SERVICE_UNAVAILABLE, "plugin.busy"),
        Ended::Open | Ended::Drained => (StatusCode::SERVICE_UNAVAILABLE, "plugin.unavailable"),
        Ended::Cpu | Ended::Wall => (StatusCode::GATEWAY_TIMEOUT, "plugin.time"),
    };
    let mut response = silent(mounted, status, code);
    if matches!(cause.ended, Ended::Busy | Ended::Open | Ended::Drained) {
        response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER);
    }
    response
}

/// The answer when what a plugin said makes no sense.
pub(super) fn nonsense(mounted: &Mounted) -> Response {
    silent(mounted, StatusCode::BAD_GATEWAY, "plugin.output")
}

/// A failure that the plugin words itself.
fn said(failure: &Failure) -> Response {
    let status = StatusCode::from_u16(failure.status).ok();
    let status = status.filter(|status| status.is_client_error() || status.is_server_error());
    let detail = failure.detail.as_deref().filter(|text| json::check(text).is_ok());
    let body = Said {
        error: &failure.message,
        error_code: &failure.code,
        detail: detail.and_then(|text| serde_json::from_str(text).ok()),
    };
    error::json(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), &body)
}

fn silent(mounted: &Mounted, status: StatusCode, code: &str) -> Response {
    let about = &mounted.plugin.manifest.plugin;
    let body = Silent {
        error: format!("The {} extension could not answer", about.title),
        error_code: code,
        plugin: &about.name,
        request_id: observe::request_id(),
    };
    error::json(status, &body)
}
