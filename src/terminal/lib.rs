//! Output of commands: text or JSON on standard output, failures as one sentence on standard error.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::process::ExitCode;

use serde::Serialize;

use config::Faults;
use context::Error;
use text::printable::escaped;

/// The output format of a command.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    json: bool,
}

/// Why a command failed, and its exit code.
#[derive(Debug)]
pub struct Failure {
    text: String,
    code: u8,
}

impl Failure {
    /// The operation failed: exit code 1.
    pub fn new(cause: impl Display) -> Self {
        Self { text: cause.to_string(), code: 1 }
    }

    /// Wrong usage: exit code 2.
    pub fn usage(text: impl Into<String>) -> Self {
        Self { text: text.into(), code: 2 }
    }

    /// The message, one sentence.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(error)
    }
}

impl From<database::Error> for Failure {
    fn from(error: database::Error) -> Self {
        Self::new(error)
    }
}

impl From<Faults> for Failure {
    fn from(faults: Faults) -> Self {
        Self { text: faults.to_string(), code: 2 }
    }
}

impl Output {
    /// Prints JSON, or text for people.
    #[must_use]
    pub fn new(json: bool) -> Self {
        Self { json }
    }

    /// Writes `text`, and a line break unless it ends in one. A closed pipe is ignored.
    pub fn say(self, text: &str) {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        let _ = write!(io::stdout().lock(), "{}{end}", lines(text));
    }

    /// Writes `value` as a line of JSON, or `words` for people.
    pub fn respond<T: Serialize>(self, value: &T, words: impl FnOnce() -> String) -> Result<(), Failure> {
        if self.json {
            self.say(&serde_json::to_string(value).map_err(Failure::new)?);
        } else {
            self.say(&words());
        }
        Ok(())
    }

    /// Writes a list: `rows` as one array of JSON, or a line for each; `none` where there is no row.
    pub fn list<T: Serialize>(self, rows: &[T], none: &str, line: impl Fn(&T) -> String) -> Result<(), Failure> {
        self.respond(&rows, || {
            let ended = |line: String| if line.ends_with('\n') { line } else { line + "\n" };
            if rows.is_empty() { none.to_owned() } else { rows.iter().map(|row| ended(line(row))).collect() }
        })
    }

    /// Prints the failure and returns the exit code.
    pub fn fail(self, failure: &Failure) -> ExitCode {
        self.complain("error", &failure.text);
        ExitCode::from(failure.code)
    }

    /// Prints what people should know of a command that has not failed.
    pub fn warn(self, text: &str) {
        self.complain("warning", text);
    }

    /// Prints how far a command is that takes long, to standard error.
    pub fn progress(self, text: &str) {
        self.complain("progress", text);
    }

    /// Writes a line to standard error; `kind` is the key of `text` in JSON.
    fn complain(self, kind: &str, text: &str) {
        let _ = if self.json {
            writeln!(io::stderr(), "{}", serde_json::json!({ kind: text }))
        } else {
            writeln!(io::stderr(), "rookery: {}", lines(text))
        };
    }
}

/// Escapes the control characters of `text`, except line breaks and tabs: it may come from untrusted users.
fn lines(text: &str) -> String {
    let line = |line: &str| line.split('\t').map(escaped).collect::<Vec<_>>().join("\t");
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}
