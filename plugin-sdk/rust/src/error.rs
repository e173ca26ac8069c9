//! Why something did not happen. The names and bodies are those of the server's own errors.

use std::borrow::Cow;

use crate::contract::types::Failure;

/// What a plugin's function gives, or why it did not happen.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something did not happen.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// Missing, or hidden from whoever asked: 404 `Record not found`.
    NotFound,
    /// Understood and wrong; the text is shown to the client: 422.
    Invalid(Cow<'static, str>),
    /// Not understood: a required parameter is missing or a value makes no sense: 400.
    BadRequest(Cow<'static, str>),
    /// Nobody is signed in, and someone must be: 401.
    Unauthorized(Cow<'static, str>),
    /// Visible, and not allowed to this person: 403.
    Forbidden(Cow<'static, str>),
    /// Someone else changed it meanwhile: 409.
    Conflict(Cow<'static, str>),
    /// Larger than the limit: 413.
    TooLarge(Cow<'static, str>),
    /// Too often: 429.
    RateLimited,
    /// Something that this needs does not answer now; trying later may help: 503.
    Unavailable(Cow<'static, str>),
    /// What the host answered, or an answer with a code of the plugin's own.
    Failure(Failure),
    /// A bug. The text is for the log; clients are not shown it: 500.
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
    /// [`Error::BadRequest`] that names the parameter that is not there.
    #[must_use]
    pub fn missing(parameter: &str) -> Self {
        Self::BadRequest(format!("{parameter} is missing").into())
    }
    /// [`Error::Forbidden`] with `text`.
    pub fn forbidden(text: impl Into<Cow<'static, str>>) -> Self {
        Self::Forbidden(text.into())
    }
    /// [`Error::Internal`] with the words of `cause`.
    pub fn internal(cause: impl std::fmt::Display) -> Self {
        Self::Internal(cause.to_string().into())
    }
    /// An answer of the plugin's own: status, stable code, text for people.
    pub fn with_code(status: u16, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Failure(Failure { status, code: code.into(), message: message.into(), detail: None })
    }

    /// The status that the client sees.
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

    /// Whether a unique index refused a row.
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

/// Gives a constraint's violation the words for it, at the call that can cause it.
pub trait OnUnique<T> {
    /// `error()` when a unique index refused the row, any other failure as it is.
    ///
    /// # Errors
    /// As described.
    fn on_unique(self, error: impl FnOnce() -> Error) -> Result<T>;
}

impl<T> OnUnique<T> for Result<T> {
    fn on_unique(self, error: impl FnOnce() -> Error) -> Result<T> {
        self.map_err(|cause| if cause.is_unique() { error() } else { cause })
    }
}
