//! Errors: why a component was not accepted ([`LoadError`]), and why a call failed ([`CallError`]).
//!
//! Neither is shown to clients: a fault is for the admin, a call's message for logs and `plugin inspect`.

use std::fmt;

use crate::bindings::imports::types::Failure;

/// Step of the load pipeline, from a file to an active plugin, at which something failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named for the steps of docs/plugins.md#22-loading")]
pub enum Stage {
    Read,
    Validate,
    Contract,
    Grants,
    Compile,
    Link,
    Instantiate,
    Migrate,
    Statements,
    SelfTest,
    Conflict,
    Commit,
    Serve,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Validate => "validate",
            Self::Contract => "contract",
            Self::Grants => "grants",
            Self::Compile => "compile",
            Self::Link => "link",
            Self::Instantiate => "instantiate",
            Self::Migrate => "migrate",
            Self::Statements => "statements",
            Self::SelfTest => "self-test",
            Self::Conflict => "collide",
            Self::Commit => "commit",
            Self::Serve => "serve",
        })
    }
}

/// Why a plugin was not accepted: the stage, and one sentence for the admin that says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{stage}: {message}")]
pub struct LoadError {
    /// Where it failed.
    pub stage: Stage,
    /// The fault and the remedy: one line.
    pub message: String,
    /// Another attempt would fail as well and cost others much: the server makes none by itself.
    pub lasting: bool,
    /// Cancelled because others waited for its transaction: it may succeed without them.
    pub contended: bool,
}

impl LoadError {
    /// A fault at `stage`.
    pub fn new(stage: Stage, message: impl Into<String>) -> Self {
        Self { stage, message: message.into(), lasting: false, contended: false }
    }

    /// This fault, after which the server makes no other attempt by itself.
    #[must_use]
    pub fn lasting(self) -> Self {
        Self { lasting: true, ..self }
    }

    /// This fault, which came of others waiting.
    #[must_use]
    pub fn contended(self) -> Self {
        Self { contended: true, ..self }
    }
}

/// How a failed call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallErrorKind {
    /// The guest trapped.
    Trap,
    /// The CPU budget was used up.
    Cpu,
    /// The wall-clock budget was used up.
    Wall,
    /// A limit of memory, tables, stack, host calls, bytes or handles was reached: the message names it.
    Limit,
    /// The queue was full, or no slot became free in time.
    Busy,
    /// The circuit breaker is open.
    Open,
    /// The generation was drained: the call was cancelled or came too late.
    Drained,
    /// The guest returned a failure.
    Failure,
}

/// Why a call failed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{kind:?}: {message}")]
pub struct CallError {
    /// How it ended.
    pub kind: CallErrorKind,
    /// For logs and `plugin inspect`: names the limit. Never shown to clients.
    pub message: String,
    /// The guest's own failure, for [`CallErrorKind::Failure`].
    pub failure: Option<Failure>,
    /// The guest's stack when it trapped: demangled function names, innermost first.
    pub backtrace: Vec<String>,
    /// On whose behalf it was called ([`Host::person`](crate::Host::person)).
    pub person: Option<i64>,
}

impl CallError {
    /// False when the call was refused or cancelled by the host, which says nothing about the guest.
    #[must_use]
    pub fn reached_guest(&self) -> bool {
        !matches!(self.kind, CallErrorKind::Busy | CallErrorKind::Open | CallErrorKind::Drained)
    }
}
