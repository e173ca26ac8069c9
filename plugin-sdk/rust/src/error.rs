//! The error type of plugins. Names and response bodies are the same as of the server's own errors.

use std::borrow::Cow;

use crate::contract::types::Failure;

/// The result of a plugin's function.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call failed. From a route, it becomes the response.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// Does not exist, or is hidden from the caller: 404 `Record not found`.
    NotFound,
    /// Well-formed but not valid; the text is shown to the client: 422.
    Invalid(Cow<'static, str>),
    /// Malformed: a required parameter is missing, or a value cannot be parsed: 400.
    BadRequest(Cow<'static, str>),
    /// The request needs a signed-in user: 401.
    Unauthorized(Cow<'static, str>),
    /// Visible to the caller, but not allowed: 403.
    Forbidden(Cow<'static, str>),
    /// Changed by another request in the meantime: 409.
    Conflict(Cow<'static, str>),
    /// Larger than the limit: 413.
    TooLarge(Cow<'static, str>),
    /// Over a rate limit: 429.
    RateLimited,
    /// A dependency does not answer; a retry may help: 503.
    Unavailable(Cow<'static, str>),
    /// A failure returned by the host, or one with an error code of the plugin's own.
    Failure(Failure),
    /// A bug: 500. The text is for the log and is not shown to clients.
    Internal(Cow<'static, str>),
}

impl Error {
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
    /// [`Error::Internal`] with the message of `cause`.
    pub fn internal(cause: impl std::fmt::Display) -> Self {
        Self::Internal(cause.to_string().into())
    }
    /// A failure of the plugin's own: HTTP status, stable code for programs, message for people.
    pub fn with_code(status: u16, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Failure(Failure { status, code: code.into(), message: message.into(), detail: None })
    }

    /// The HTTP status that the client sees.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::NotFound => 404,
            Self::Invalid(_) => 422,
            Self::BadRequest(_) => 400,
            Self::Unauthorized(_) => 401,
            Self::Forbidden(_) => 403,
            Self::Conflict(_) => 409,
            Self::TooLarge(_) => 413,
            Self::RateLimited => 429,
            Self::Unavailable(_) => 503,
            Self::Failure(failure) => failure.status,
            Self::Internal(_) => 500,
        }
    }

    /// Whether a row violated a unique constraint.
    #[must_use]
    pub fn is_unique(&self) -> bool {
        matches!(self, Self::Failure(failure) if failure.code == "sql.unique")
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NotFound => "Record not found",
            Self::RateLimited => "Too many requests",
            Self::Failure(failure) => &failure.message,
            Self::Invalid(text)
            | Self::BadRequest(text)
            | Self::Unauthorized(text)
            | Self::Forbidden(text)
            | Self::Conflict(text)
            | Self::TooLarge(text)
            | Self::Unavailable(text)
            | Self::Internal(text) => text,
        })
    }
}

impl std::error::Error for Error {}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Failure(failure) => failure,
            other => Self { status: other.status(), code: String::new(), message: other.to_string(), detail: None },
        }
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::internal(error)
    }
}

/// Maps the violation of a unique constraint to an error of the plugin's own, at the call that can cause it.
pub trait OnUnique<T> {
    /// `error()` when a row violated a unique constraint; any other error unchanged.
    fn on_unique(self, error: impl FnOnce() -> Error) -> Result<T>;
}

impl<T> OnUnique<T> for Result<T> {
    fn on_unique(self, error: impl FnOnce() -> Error) -> Result<T> {
        self.map_err(|cause| if cause.is_unique() { error() } else { cause })
    }
}
