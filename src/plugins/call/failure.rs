//! Errors as the contract's failures: what a plugin learns of an error of the server.
//!
//! The other direction, an error caused by a plugin, is [`crate::error`].

use rookery_plugin_host::imports::types::Failure;

use rookery_core::error::{Error, Refusal};

/// A failure without details.
pub(super) fn failure(status: u16, code: &str, message: impl Into<String>) -> Failure {
    Failure { status, code: code.to_owned(), message: message.into(), detail: None }
}

/// 403: the admin did not grant this.
pub(super) fn denied(permission: &str) -> Failure {
    failure(403, "host.denied", format!("The permission {permission} was not granted"))
}

/// 413 when `count` exceeds `most`; `what` names the items.
pub(super) fn at_most(count: usize, most: usize, what: &str) -> Result<(), Failure> {
    if count <= most {
        return Ok(());
    }
    Err(failure(413, "limit.items", format!("{count} {what}: at most {most} at once")))
}

/// 500; the cause is logged and not shown to the plugin.
pub(super) fn internal(cause: &dyn std::fmt::Display) -> Failure {
    tracing::error!(error = %cause, "a function for plugins failed");
    failure(500, "host.internal", "Something went wrong")
}

/// `error` as a failure of the contract.
pub(crate) fn from_error(error: Error) -> Failure {
    let (status, code) = match &error {
        Error::NotFound | Error::Gone => (404, "core.not-found"),
        Error::Invalid(_) | Error::Validation(_) | Error::UnexpectedMentions(_) => (422, "core.invalid"),
        Error::BadRequest(_) => (400, "core.bad-request"),
        Error::Unauthorized(_) | Error::InvalidToken => (401, "core.unauthorized"),
        Error::Forbidden(_) => (403, "core.forbidden"),
        Error::Conflict(_) => (409, "core.conflict"),
        Error::TooLarge(_) => (413, "core.too-large"),
        Error::RateLimited => (429, "core.rate-limited"),
        Error::Plugin(_) | Error::Unavailable(_) | Error::Machine(_) => (503, "core.unavailable"),
        Error::Refused(_) => (422, "core.refused"),
        Error::Store(_) | Error::Internal(_) => return internal(&error),
    };
    if let Error::Refused(refusal) = error {
        let Refusal { status, code, message, detail } = refusal;
        return Failure { status, code, message, detail };
    }
    failure(status, code, error.to_string())
}

/// Converts errors of the server's own code to failures.
pub(crate) trait OrFailure<T> {
    /// The error as a failure of the contract.
    fn or_failure(self) -> Result<T, Failure>;
}

impl<T> OrFailure<T> for store::Result<T> {
    fn or_failure(self) -> Result<T, Failure> {
        self.map_err(|error| from_error(error.into()))
    }
}

impl<T> OrFailure<T> for Result<T, Error> {
    fn or_failure(self) -> Result<T, Failure> {
        self.map_err(from_error)
    }
}
