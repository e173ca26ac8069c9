//! What a command says: words for people, JSON for machines; failures in one sentence on standard error.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::process::ExitCode;

use serde::Serialize;

use crate::error::Error;
use config::Faults;

/// Where a command's answer goes, and in which form.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    json: bool,
}

/// Why a command did not do what it was asked for.
#[derive(Debug)]
pub(super) struct Failure {
    text: String,
    code: u8,
}

impl Failure {
    /// It did not work: exit code 1.
    pub(super) fn new(cause: impl Display) -> Self {
        Self { text: cause.to_string(), code: 1 }
    }

    /// It was asked for wrongly: exit code 2.
    pub(super) fn usage(text: impl Into<String>) -> Self {
        Self { text: text.into(), code: 2 }
    }

    /// The sentence.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(error)
    }
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        Self::new(error)
    }
}

impl From<Faults> for Failure {
    fn from(faults: Faults) -> Self {
        Self { text: faults.to_string(), code: 2 }
    }
}

impl Output {
    pub(super) fn new(json: bool) -> Self {
        Self { json }
    }

    /// Writes `text`, and a line break unless it ends in one. A reader that went away is no failure.
    pub(super) fn say(self, text: &str) {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        let _ = write!(io::stdout().lock(), "{text}{end}");
    }

    /// Writes `answer` as a line of JSON, or `words` for people.
    pub(super) fn answer<T: Serialize>(self, answer: &T, words: impl FnOnce() -> String) -> Result<(), Failure> {
        if self.json {
            self.say(&serde_json::to_string(answer).map_err(Failure::new)?);
        } else {
            self.say(&words());
        }
        Ok(())
    }

    /// Says why it failed and gives the exit code.
    pub(super) fn fail(self, failure: &Failure) -> ExitCode {
        let _ = if self.json {
            writeln!(io::stderr(), "{}", serde_json::json!({ "error": failure.text }))
        } else {
            writeln!(io::stderr(), "rookery: {}", failure.text)
        };
        ExitCode::from(failure.code)
    }
}
