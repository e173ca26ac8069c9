//! Why something could not be fetched, or is not believed.

use context::{budget, queue};

use crate::policy;
use crate::vocabulary::Malformed;

/// Why something was not fetched.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// This server does not talk to that host.
    #[error("{0}")]
    Refused(#[from] policy::Refused),
    /// The request failed.
    #[error("{0}")]
    Request(#[from] outbound::Error),
    /// The host failed recently, or too many requests to it are running.
    #[error("the host is spared, since it did not respond")]
    Spared,
    /// Too much came from the host.
    #[error("too much came from the host in a short time")]
    Flood,
    /// No request may be made here: what needs one is done in the lane for it.
    #[error("it is to be fetched later")]
    Deferred,
    /// The budget of the activity or the lookup is used up.
    #[error("too much would have to be fetched for it")]
    Spent,
    /// The response has another status than 200.
    #[error("answered with status {0}")]
    Status(u16),
    /// There were too many redirects, or one to where none may lead.
    #[error("redirected too often, or from https to http")]
    Redirect,
    /// The response is no ActivityStreams document by its content type, or is compressed.
    #[error("not a document: {0:?}")]
    ContentType(String),
    /// The document cannot be read.
    #[error("{0}")]
    Malformed(#[from] Malformed),
    /// The document is not believed.
    #[error("{0}")]
    Disbelieved(&'static str),
    /// It was deleted.
    #[error("it was deleted")]
    Gone,
    /// This server failed.
    #[error("{0}")]
    Local(#[from] context::Error),
}

impl Failure {
    /// A short name, a label of metrics.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Refused(refused) => refused.label(),
            Self::Request(outbound::Error::Blocked) => "private_address",
            Self::Request(outbound::Error::TooLarge(_)) => "too_large",
            Self::Request(outbound::Error::Timeout) => "timeout",
            Self::Request(outbound::Error::Url(_)) => "url",
            Self::Request(_) => "connection",
            Self::Spared => "spared",
            Self::Flood => "flood",
            Self::Deferred => "deferred",
            Self::Spent => "budget",
            Self::Status(_) => "status",
            Self::Redirect => "redirect",
            Self::ContentType(_) => "content_type",
            Self::Malformed(Malformed::TooComplex(_)) => "too_complex",
            Self::Malformed(_) => "malformed",
            Self::Disbelieved(_) => "disbelieved",
            Self::Gone => "gone",
            Self::Local(_) => "local",
        }
    }

    /// True when the same may succeed later.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Request(error) => matches!(
                error,
                outbound::Error::Dns(_)
                    | outbound::Error::Timeout
                    | outbound::Error::Tls(_)
                    | outbound::Error::Other(_)
            ),
            Self::Status(status) => matches!(status, 401 | 408 | 425 | 429 | 500..=599),
            Self::Local(error) => {
                error.is_fault()
                    || matches!(
                        error,
                        context::Error::Internal(_) | context::Error::Store(_) | context::Error::Unavailable(_)
                    )
            }
            Self::Spared | Self::Flood | Self::Deferred => true,
            Self::Refused(_)
            | Self::Spent
            | Self::Redirect
            | Self::ContentType(_)
            | Self::Malformed(_)
            | Self::Disbelieved(_)
            | Self::Gone => false,
        }
    }
}

/// True when an error is about the requested thing, not a failure of this server.
pub(crate) fn is_answer(error: &context::Error) -> bool {
    matches!(error, context::Error::NotFound | context::Error::Gone | context::Error::Forbidden(_))
}

impl From<budget::Refusal> for Failure {
    fn from(refusal: budget::Refusal) -> Self {
        match refusal {
            budget::Refusal::Deferred => Self::Deferred,
            budget::Refusal::Spent => Self::Spent,
        }
    }
}

impl From<database::Error> for Failure {
    fn from(error: database::Error) -> Self {
        Self::Local(error.into())
    }
}

impl From<Failure> for queue::Failure {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Local(error) => error.into(),
            failure if failure.is_transient() => Self::Retry(failure.to_string()),
            failure => Self::Fail(failure.to_string()),
        }
    }
}
