//! Responses to clients when a plugin did not answer.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use rookery_plugin_host::{CallError, CallErrorKind};

use super::table::Mounted;
use crate::error::{is_own_mistake, no_answer, refused};
use context::error::{Error, NoAnswer};
use rookery_http::ErrorResponse;

/// `Retry-After`, in seconds.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("1");

/// The response to a call that failed. A mistake in the plugin is 500 and written to its log, since the client cannot
/// fix it.
pub(super) fn answer(mounted: &Mounted, cause: &CallError) -> Response {
    let error = match &cause.failure {
        Some(failure) if !is_own_mistake(failure) => refused(failure.clone()),
        Some(_) | None => no_answer(mounted.plugin.name(), cause.kind, None),
    };
    let mut response = ErrorResponse(error).into_response();
    if matches!(cause.kind, CallErrorKind::Busy | CallErrorKind::Open | CallErrorKind::Drained) {
        response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER);
    }
    response
}

/// The response while the plugin is paused.
pub(super) fn paused(mounted: &Mounted) -> Response {
    let mut response = ErrorResponse(no_answer(mounted.plugin.name(), CallErrorKind::Busy, None)).into_response();
    response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER);
    response
}

/// The response when the plugin's answer is invalid.
pub(super) fn invalid_answer(mounted: &Mounted) -> Response {
    let plugin = mounted.plugin.name().to_owned();
    ErrorResponse(Error::Plugin(NoAnswer { plugin, code: "plugin.output", status: 502 })).into_response()
}
