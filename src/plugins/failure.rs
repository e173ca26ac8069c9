//! Converts the server's errors to the contract's failures, which plugins receive.
//!
//! The other direction, an error caused by a plugin, is [`crate::error`].

use rookery_plugin_host::imports::types::Failure;

use context::error::{Error, Refusal};

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

/// The code of a failure that the plugin did not cause.
const INTERNAL: &str = "host.internal";

/// 500. `detail` has the cause, for [`log_cause`].
fn internal(cause: &dyn std::fmt::Display) -> Failure {
    Failure { detail: Some(format!("cause: {cause}")), ..failure(500, INTERNAL, "Something went wrong") }
}

/// Logs the cause of an internal failure of `function`, a host function or statement of the plugin called `plugin`, and
/// removes it, so that it is not shown elsewhere.
pub(crate) fn log_cause(plugin: &str, function: &str, failure: &mut Failure) {
    if failure.code == INTERNAL {
        let cause = failure.detail.take().unwrap_or_default();
        tracing::error!(plugin.name = %plugin, plugin.function = %function, "plugin {plugin}: {function} failed, {cause}");
    }
}

/// 429: the transaction of the call was rolled back because it reached a time limit.
pub(crate) fn transaction_time() -> Failure {
    failure(429, TRANSACTION_TIME, TRANSACTION_TIME_REACHED)
}

/// The code of [`transaction_time`].
pub(super) const TRANSACTION_TIME: &str = "limit.transaction-time";

pub(super) const TRANSACTION_TIME_REACHED: &str = "The transaction reached its time limit \
     (plugins.transaction_timeout_ms, or plugins.contended_transaction_ms while others waited) and was rolled back";

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
        Error::Store(cause) if cause.is_cut_off() => return transaction_time(),
        Error::Store(database::Error::RolledBack) => (409, "sql.undone"),
        Error::Store(cause) if cause.is_contended() => (503, "core.unavailable"),
        Error::Store(_) | Error::Internal(_) => return internal(&error),
    };
    if let Error::Refused(refusal) = error {
        let Refusal { status, code, message, detail } = refusal;
        return Failure { status, code, message, detail };
    }
    let message = match (status, &error) {
        (409, Error::Store(_)) => "A change failed, so the transaction is rolled back".to_owned(),
        (_, Error::Store(_)) => "The database is busy, try again".to_owned(),
        _ => error.to_string(),
    };
    failure(status, code, message)
}

/// Converts errors of the server's own code to failures.
pub(crate) trait OrFailure<T> {
    /// The error as a failure of the contract.
    fn or_failure(self) -> Result<T, Failure>;
}

impl<T> OrFailure<T> for database::Result<T> {
    fn or_failure(self) -> Result<T, Failure> {
        self.map_err(|error| from_error(error.into()))
    }
}

impl<T> OrFailure<T> for Result<T, Error> {
    fn or_failure(self) -> Result<T, Failure> {
        self.map_err(from_error)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use super::*;

    /// Stores log events.
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<String>>);

    impl Visit for Lines {
        fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
            self.0.lock().unwrap().push_str(&format!("{}={value:?} ", field.name()));
        }
    }

    impl Subscriber for Lines {
        fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _span: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _span: &Id, _values: &Record<'_>) {}
        fn record_follows_from(&self, _span: &Id, _follows: &Id) {}
        fn event(&self, event: &Event<'_>) {
            event.record(&mut self.clone());
        }
        fn enter(&self, _span: &Id) {}
        fn exit(&self, _span: &Id) {}
    }

    #[test]
    fn log_names_the_plugin_and_the_plugin_does_not_see_the_cause() {
        let mut failed = from_error(Error::internal("disk I/O error"));
        let lines = Lines::default();
        tracing::subscriber::with_default(lines.clone(), || log_cause("notes", "feeds.insert", &mut failed));
        let logged = lines.0.lock().unwrap().clone();
        assert!(logged.contains("plugin notes: feeds.insert failed, cause: disk I/O error"), "{logged}");
        assert!(logged.contains("plugin.name=notes"), "{logged}");
        assert_eq!((failed.code.as_str(), failed.detail), ("host.internal", None));
    }

    #[test]
    fn rolled_back_transaction_is_not_an_internal_failure() {
        let failed = from_error(Error::Store(database::Error::RolledBack));
        assert_eq!((failed.status, failed.code.as_str()), (409, "sql.undone"));
    }
}
