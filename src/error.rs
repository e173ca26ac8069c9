//! Why a use case did not happen. What a client sees of it is decided in `http::error`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use model::AccountId;

/// What a use case gives, or why it did not happen.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a use case did not happen.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Missing, or hidden from whoever asked.
    #[error("Record not found")]
    NotFound,
    /// It was here, and was removed for good.
    #[error("This is gone")]
    Gone,
    /// Understood and wrong; the text is shown to the client.
    #[error("{0}")]
    Invalid(Cow<'static, str>),
    /// Wrong attribute by attribute: sign-up and profile changes.
    #[error("{0}")]
    Validation(Validation),
    /// Not understood: a required parameter is missing or a value makes no sense; the text is shown.
    #[error("{0}")]
    BadRequest(Cow<'static, str>),
    /// Nobody is signed in, and someone must be.
    #[error("{0}")]
    Unauthorized(Cow<'static, str>),
    /// A token was sent and is not, or no longer, one of ours.
    #[error("The access token is invalid")]
    InvalidToken,
    /// Visible, and not allowed to this person or token.
    #[error("{0}")]
    Forbidden(Cow<'static, str>),
    /// Someone else changed it meanwhile.
    #[error("{0}")]
    Conflict(Cow<'static, str>),
    /// Mentions accounts that the client did not expect (`allowed_mentions`).
    #[error("The status would mention accounts that were not expected")]
    UnexpectedMentions(Vec<AccountId>),
    /// Larger than the limit.
    #[error("{0}")]
    TooLarge(Cow<'static, str>),
    /// A limit of the family kind (follows, statuses, reports) is used up.
    #[error("Too many requests")]
    RateLimited,
    /// A plugin that this needs gave no answer.
    #[error("The {} extension could not answer", .0.plugin)]
    Plugin(NoAnswer),
    /// A plugin said no; its words are shown.
    #[error("{}", .0.message)]
    Refused(Refusal),
    /// Something that this needs does not answer now; trying later may help.
    #[error("{0}")]
    Unavailable(Cow<'static, str>),
    /// The database's fault or ours.
    #[error("{0}")]
    Store(store::Error),
    /// A bug, or the machine's fault. The text is logged, never shown.
    #[error("{0}")]
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
}

/// Which plugin gave no answer, and how that is told.
#[derive(Clone, Debug)]
pub struct NoAnswer {
    /// The plugin.
    pub plugin: String,
    /// `plugin.trap`, `plugin.timeout` …
    pub code: &'static str,
    /// 500, 503 or 504.
    pub status: u16,
}

/// A plugin's own refusal.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// 400 to 599; anything else is taken as 500.
    pub status: u16,
    /// The plugin's word for it.
    pub code: String,
    /// For the person who asked.
    pub message: String,
    /// JSON for programs.
    pub detail: Option<String>,
}

impl From<crypto::Error> for Error {
    fn from(error: crypto::Error) -> Self {
        Self::internal(error)
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Sql(sqlx::Error::PoolTimedOut) => Self::Unavailable("The database is busy, try again".into()),
            other => Self::Store(other),
        }
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

impl<T> OnUnique<T> for store::Result<T> {
    fn on_unique(self, error: impl FnOnce() -> Error) -> Result<T> {
        self.map_err(|cause| if cause.is_unique_violation() { error() } else { cause.into() })
    }
}

/// What is wrong with which attribute (contract: `ValidationError`).
#[derive(Clone, Debug, Default)]
pub struct Validation {
    faults: BTreeMap<&'static str, Vec<Fault>>,
}

/// One fault of an attribute: a code such as `ERR_TAKEN`, and the sentence for people.
#[derive(Clone, Debug)]
pub struct Fault {
    /// `ERR_BLANK`, `ERR_INVALID`, `ERR_TAKEN`, `ERR_TOO_LONG` …
    pub code: &'static str,
    /// Begins in lower case: it continues the attribute's name.
    pub description: Cow<'static, str>,
}

impl Validation {
    /// Adds a fault of `attribute`.
    pub fn add(&mut self, attribute: &'static str, code: &'static str, description: impl Into<Cow<'static, str>>) {
        self.faults.entry(attribute).or_default().push(Fault { code, description: description.into() });
    }

    /// Each attribute with its faults.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &[Fault])> {
        self.faults.iter().map(|(attribute, faults)| (*attribute, faults.as_slice()))
    }

    /// Nothing found: go on.
    ///
    /// # Errors
    /// [`Error::Validation`] with all faults.
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
