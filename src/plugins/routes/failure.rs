//! What a client sees when a plugin did not answer.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use rookery_plugin_host::{CallError, Ended};

use super::table::Mounted;
use crate::error::{Error, NoAnswer};
use crate::plugins::error::{no_answer, refused};

/// Seconds after which trying again may help.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("1");

/// The answer to a call that did not end well.
pub(super) fn answer(mounted: &Mounted, cause: &CallError) -> Response {
    let error = match &cause.failure {
        Some(failure) => refused(failure.clone()),
        None => no_answer(mounted.plugin.name(), cause.ended, None),
    };
    let mut response = error.into_response();
    if matches!(cause.ended, Ended::Busy | Ended::Open | Ended::Drained) {
        response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER);
    }
    response
}

/// The answer while the plugin's tables are changed.
pub(super) fn pausing(mounted: &Mounted) -> Response {
    let mut response = no_answer(mounted.plugin.name(), Ended::Busy, None).into_response();
    response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER);
    response
}

/// The answer when what a plugin said makes no sense.
pub(super) fn nonsense(mounted: &Mounted) -> Response {
    let plugin = mounted.plugin.name().to_owned();
    Error::Plugin(NoAnswer { plugin, code: "plugin.output", status: 502 }).into_response()
}
