//! Why an activity is refused: at the door, with a status for the sender, or later, counted.

use super::reason::Reason;
use crate::{Failure, Rejection};

/// Why the request is refused.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// There is no such inbox.
    #[error("there is no such inbox")]
    NoInbox,
    /// The account of the inbox was deleted.
    #[error("the account was deleted")]
    Gone,
    /// The body is no activity.
    #[error("{0}")]
    Malformed(#[from] crate::vocabulary::Malformed),
    /// The sender is not known to have signed the request.
    #[error("{0}")]
    Signer(Rejection),
    /// The sender was suspended.
    #[error("the sender is suspended here")]
    Suspended,
    /// Too many activities of the sender's domain wait.
    #[error("too much of your server waits here, try again later")]
    Full,
    /// The activity is someone else's.
    #[error("the actor of the activity is not the one who signed the request")]
    NotTheActor,
    /// This server failed.
    #[error("{0}")]
    Local(#[from] context::Error),
}

impl Refusal {
    /// A short name, a label of metrics.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::NoInbox => "no_inbox",
            Self::Gone => "gone",
            Self::Malformed(_) => "malformed",
            Self::Signer(rejection) => rejection.as_str(),
            Self::Suspended => "suspended_account",
            Self::Full => "full",
            Self::NotTheActor => "not_the_actor",
            Self::Local(_) => "local",
        }
    }

    /// The status of the response.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::NoInbox => 404,
            Self::Gone => 410,
            Self::Malformed(_) => 400,
            Self::Signer(rejection) => rejection.status(),
            Self::NotTheActor => 401,
            Self::Suspended => 403,
            Self::Full => 429,
            Self::Local(_) => 500,
        }
    }
}

impl From<Rejection> for Refusal {
    fn from(rejection: Rejection) -> Self {
        match rejection {
            Rejection::Local(error) => Self::Local(error),
            rejection => Self::Signer(rejection),
        }
    }
}

impl From<database::Error> for Refusal {
    fn from(error: database::Error) -> Self {
        Self::Local(error.into())
    }
}

/// Why an accepted activity had no effect.
#[derive(Debug, thiserror::Error)]
pub(super) enum Ignored {
    /// It is not acceptable.
    #[error("{0}")]
    Because(Reason),
    /// Something could not be fetched.
    #[error("{0}")]
    Fetch(#[from] Failure),
    /// This server failed.
    #[error("{0}")]
    Local(#[from] context::Error),
}

impl Ignored {
    /// A short name, a label of metrics.
    pub(super) fn as_str(&self) -> &'static str {
        match self {
            Self::Because(reason) => reason.as_str(),
            Self::Fetch(failure) => failure.as_str(),
            Self::Local(_) => "local",
        }
    }

    /// True when another server is to be asked, which may be done in the lane for it only.
    pub(super) fn is_deferred(&self) -> bool {
        matches!(self, Self::Fetch(Failure::Deferred))
    }

    /// True when the same may succeed later.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Because(_) => false,
            Self::Fetch(failure) => failure.is_transient(),
            Self::Local(error) => {
                error.is_fault()
                    || matches!(
                        error,
                        context::Error::Internal(_) | context::Error::Store(_) | context::Error::Unavailable(_)
                    )
            }
        }
    }
}

impl From<database::Error> for Ignored {
    fn from(error: database::Error) -> Self {
        Self::Local(error.into())
    }
}

impl From<Reason> for Ignored {
    fn from(reason: Reason) -> Self {
        Self::Because(reason)
    }
}
