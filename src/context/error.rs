//! The domain error: why a use case failed. The mapping to HTTP status and body is in `rookery_http::error`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use model::AccountId;

/// The result of a use case.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a use case failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Missing, or hidden from the viewer.
    #[error("Record not found")]
    NotFound,
    /// It existed and was permanently deleted.
    #[error("This is gone")]
    Gone,
    /// A validation error as one sentence, which is shown to the client.
    #[error("{0}")]
    Invalid(Cow<'static, str>),
    /// Validation errors per attribute: sign-up and profile changes.
    #[error("{0}")]
    Validation(Validation),
    /// A malformed request: a required parameter is missing or a value is not valid; the text is shown.
    #[error("{0}")]
    BadRequest(Cow<'static, str>),
    /// The request is not authenticated, and must be.
    #[error("{0}")]
    Unauthorized(Cow<'static, str>),
    /// The access token is unknown or was revoked.
    #[error("The access token is invalid")]
    InvalidToken,
    /// Visible, but not permitted to this account or token.
    #[error("{0}")]
    Forbidden(Cow<'static, str>),
    /// A concurrent change, or a state that does not allow this one.
    #[error("{0}")]
    Conflict(Cow<'static, str>),
    /// The status mentions accounts that the client did not expect (`allowed_mentions`).
    #[error("The status would mention accounts that were not expected")]
    UnexpectedMentions(Vec<AccountId>),
    #[error("{0}")]
    TooLarge(Cow<'static, str>),
    /// The rate limit of a family (follows, statuses, reports) is used up.
    #[error("Too many requests")]
    RateLimited,
    /// A required plugin did not respond.
    #[error("The {} extension could not answer", .0.plugin)]
    Plugin(NoAnswer),
    /// A plugin rejected the request; its message is shown.
    #[error("{}", .0.message)]
    Refused(Refusal),
    /// A dependency is temporarily unavailable; retrying later may help.
    #[error("{0}")]
    Unavailable(Cow<'static, str>),
    /// A fault of the machine: a full disk, an unreachable database. The database crate logs it once a minute.
    #[error("{}", .0.sentence())]
    Machine(database::Fault),
    #[error("{0}")]
    Store(database::Error),
    /// A bug, or a failure of the machine. The text is logged, never shown.
    #[error("{0}")]
    Internal(Cow<'static, str>),
}

impl Error {
    /// True if retrying later may help.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Refused(refusal) => refusal.status >= 500 || refusal.status == 429,
            Self::Conflict(_)
            | Self::RateLimited
            | Self::Plugin(_)
            | Self::Unavailable(_)
            | Self::Machine(_)
            | Self::Store(_)
            | Self::Internal(_) => true,
            Self::NotFound
            | Self::Gone
            | Self::Invalid(_)
            | Self::Validation(_)
            | Self::BadRequest(_)
            | Self::Unauthorized(_)
            | Self::InvalidToken
            | Self::Forbidden(_)
            | Self::UnexpectedMentions(_)
            | Self::TooLarge(_) => false,
        }
    }

    /// True for a fault of the machine: it is logged already, and does not count as a failed attempt of a job.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        matches!(self, Self::Machine(_))
    }

    /// [`Error::Invalid`] with `text`.
    pub fn invalid(text: impl Into<Cow<'static, str>>) -> Self {
        Self::Invalid(text.into())
    }
    /// [`Error::BadRequest`] with `text`.
    pub fn bad_request(text: impl Into<Cow<'static, str>>) -> Self {
        Self::BadRequest(text.into())
    }
    /// [`Error::BadRequest`] that names the missing parameter.
    #[must_use]
    pub fn missing(parameter: &str) -> Self {
        Self::BadRequest(format!("{parameter} is missing").into())
    }
    /// [`Error::Forbidden`] with `text`.
    pub fn forbidden(text: impl Into<Cow<'static, str>>) -> Self {
        Self::Forbidden(text.into())
    }
    /// The error of an insert that references an existing row: [`Error::NotFound`] when the row was deleted
    /// concurrently.
    #[must_use]
    pub fn of_insert(error: database::Error) -> Self {
        if error.is_foreign_key_violation() { Self::NotFound } else { error.into() }
    }
    /// The error of an operation on a file: a fault of the machine, else [`Error::Internal`].
    #[must_use]
    pub fn of_file(error: &std::io::Error) -> Self {
        database::Fault::of_io(error).map_or_else(|| Self::internal(error), Self::Machine)
    }
    /// [`Error::Internal`] with the message of `cause`.
    pub fn internal(cause: impl std::fmt::Display) -> Self {
        Self::Internal(cause.to_string().into())
    }
}

/// A plugin that failed to respond, and how the failure is reported.
#[derive(Clone, Debug)]
pub struct NoAnswer {
    pub plugin: String,
    /// `plugin.trap`, `plugin.timeout` …
    pub code: &'static str,
    /// 500, 503 or 504.
    pub status: u16,
}

/// A rejection by a plugin.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// 400 to 599; anything else becomes 500.
    pub status: u16,
    /// The plugin's error code.
    pub code: String,
    /// For the user.
    pub message: String,
    /// Machine-readable details, JSON.
    pub detail: Option<String>,
}

impl From<crypto::Error> for Error {
    fn from(error: crypto::Error) -> Self {
        Self::internal(error)
    }
}

impl From<database::Error> for Error {
    fn from(error: database::Error) -> Self {
        if error.is_timeout() {
            return Self::Unavailable("The database is busy, try again".into());
        }
        match error.fault() {
            Some(fault) => Self::Machine(fault),
            None => Self::Store(error),
        }
    }
}

/// Logs an [`Error`] with a message, as an error; a fault of the machine as a detail, since that is logged once a minute.
#[macro_export]
macro_rules! log_failure {
    ($error:expr, $($message:tt)+) => {
        if $error.is_fault() {
            ::tracing::debug!(error = %$error, $($message)+);
        } else {
            ::tracing::error!(error = %$error, $($message)+);
        }
    };
}

/// Maps a unique violation to a domain error, at the call that can cause it.
pub trait OnUnique<T> {
    /// Returns `error()` for a unique violation and any other error unchanged.
    fn on_unique(self, error: impl FnOnce() -> Error) -> Result<T>;
}

impl<T> OnUnique<T> for database::Result<T> {
    fn on_unique(self, error: impl FnOnce() -> Error) -> Result<T> {
        self.map_err(|cause| if cause.is_unique_violation() { error() } else { cause.into() })
    }
}

/// Validation errors by attribute (contract: `ValidationError`).
#[derive(Clone, Debug, Default)]
pub struct Validation {
    faults: BTreeMap<&'static str, Vec<Fault>>,
}

/// One validation error of an attribute: a code such as `ERR_TAKEN`, and a sentence for people.
#[derive(Clone, Debug)]
pub struct Fault {
    /// `ERR_BLANK`, `ERR_INVALID`, `ERR_TAKEN`, `ERR_TOO_LONG` …
    pub code: &'static str,
    /// Begins in lower case, since it follows the attribute's name.
    pub description: Cow<'static, str>,
}

impl Validation {
    /// Adds an error of `attribute`.
    pub fn add(&mut self, attribute: &'static str, code: &'static str, description: impl Into<Cow<'static, str>>) {
        self.faults.entry(attribute).or_default().push(Fault { code, description: description.into() });
    }

    /// Each attribute with its errors.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &[Fault])> {
        self.faults.iter().map(|(attribute, faults)| (*attribute, faults.as_slice()))
    }

    /// Ends validation: `Ok` when no error was added.
    ///
    /// # Errors
    /// [`Error::Validation`] with all errors.
    pub fn check(self) -> Result<()> {
        if self.faults.is_empty() { Ok(()) } else { Err(Error::Validation(self)) }
    }
}

impl std::fmt::Display for Validation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Validation failed")?;
        let mut separator = ": ";
        for (attribute, faults) in &self.faults {
            for fault in faults {
                write!(f, "{separator}{} {}", attribute.replace('_', " "), fault.description)?;
                separator = ", ";
            }
        }
        Ok(())
    }
}
