//! Why a component was not accepted, and why a call did not end well.

use std::fmt;

use crate::bindings::imports::types::Failure;

/// Where on the way from a file to an active plugin something failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named for the steps of PLUGINS.md section 2.2")]
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
    Collide,
    Commit,
    Probation,
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
            Self::Collide => "collide",
            Self::Commit => "commit",
            Self::Probation => "probation",
        })
    }
}

/// Why a plugin is not accepted: the stage, and one sentence for the admin that says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{stage}: {sentence}")]
pub struct Fault {
    /// Where it failed.
    pub stage: Stage,
    /// What is wrong and what to do: one line.
    pub sentence: String,
}

impl Fault {
    /// A fault at `stage`.
    pub fn new(stage: Stage, sentence: impl Into<String>) -> Self {
        Self { stage, sentence: sentence.into() }
    }
}

/// How a call ended that did not end well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ended {
    /// The guest trapped.
    Trap,
    /// Its guest time was used up.
    Cpu,
    /// Its time on the clock was used up.
    Wall,
    /// Memory, table, stack, host calls, bytes or handles were used up: see the message.
    Limit,
    /// No place came free in time.
    Busy,
    /// The breaker is open.
    Open,
    /// The plugin was replaced and its last calls were cut off.
    Drained,
    /// The guest answered with a failure.
    Failure,
}

/// Why a call gave no answer.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{ended:?}: {message}")]
pub struct CallError {
    /// How it ended.
    pub ended: Ended,
    /// For logs and `inspect`: names the limit. Never for clients.
    pub message: String,
    /// The guest's own failure, for [`Ended::Failure`].
    pub failure: Option<Failure>,
    /// The guest's functions, innermost first, when it trapped.
    pub backtrace: Vec<String>,
}

impl CallError {
    /// True when the guest was called at all: there was room, and nothing kept it from being called.
    #[must_use]
    pub fn entered(&self) -> bool {
        !matches!(self.ended, Ended::Busy | Ended::Open | Ended::Drained)
    }
}
