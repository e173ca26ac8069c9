//! The faults of a requested antenna: in English for clients, and by kind for the pages, which translate them.

use std::fmt::{self, Display, Formatter};

use rookery_plugin::Error;

use crate::antenna::{MOST, MOST_ACCOUNTS, TITLE_MAX};
use crate::terms::{ENTRY_MAX, KEPT_MAX, Kind};

/// A fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    TitleBlank,
    TitleLong,
    SocialTaken,
    LocalTaken,
    ManyAntennas,
    NoList,
    Short(Kind),
    Long(Kind),
    Twice(Kind, String),
    Many(Kind),
    Unwritable(Kind),
    Full,
    AccountTwice,
    ManyAccounts,
}

impl Display for Fault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::TitleBlank => write!(f, "Title can't be blank"),
            Self::TitleLong => write!(f, "Title is too long (maximum is {TITLE_MAX} characters)"),
            Self::SocialTaken => write!(f, "There is an antenna of the social timeline already"),
            Self::LocalTaken => write!(f, "There is an antenna of the local timeline already"),
            Self::ManyAntennas => write!(f, "There are {MOST} antennas, which is the limit"),
            Self::NoList => write!(f, "List must be one of your own"),
            Self::Short(kind) => write!(f, "{} need at least {} characters", kind.parameter(), kind.shortest()),
            Self::Long(kind) => write!(f, "{} may have at most {ENTRY_MAX} bytes", kind.parameter()),
            Self::Twice(kind, entry) => write!(f, "{} have \"{entry}\" already", kind.parameter()),
            Self::Many(kind) => write!(f, "{} are limited to {}", kind.parameter(), kind.most()),
            Self::Unwritable(kind) => write!(f, "{} are not written like this", kind.parameter()),
            Self::Full => write!(f, "The lists of one antenna are limited to {} KiB", KEPT_MAX >> 10),
            Self::AccountTwice => write!(f, "An account is in the antenna already"),
            Self::ManyAccounts => write!(f, "Accounts are limited to {MOST_ACCOUNTS}"),
        }
    }
}

/// A 422 that says why.
impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::invalid(format!("Validation failed: {fault}"))
    }
}

/// The reason of a refusal: a fault in the request, or another error.
#[derive(Debug)]
pub enum Refusal {
    Fault(Fault),
    Other(Error),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Fault(fault) => fault.into(),
            Refusal::Other(error) => error,
        }
    }
}
