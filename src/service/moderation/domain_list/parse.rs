//! Parses a list: each line becomes an entry, or a fault with its number and reason. Takes linear time.
//!
//! CSV and JSON have their own files; a plain list has a domain on each line, and comments after `#`.

use std::collections::HashMap;
use std::fmt;

use super::bounds::{ENTRIES_MAX, LIST_MAX};
use super::host::{Reason, Rules};
use super::{csv_text, json_text, parameter};
use crate::domain_decision::BlockParams;
use context::error::{Error, Result};
use model::domain_list::ListFormat;
use model::instance::Severity;

/// Most faults that are named; the others are counted.
const FAULTS_NAMED: usize = 10_000;

/// A domain of a list.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) domain: String,
    /// Ignored by a list of allows.
    pub(super) block: BlockParams,
}

/// A line that is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// From 1. In JSON, the number of the element.
    pub line: usize,
    /// The beginning of the domain; empty when there is none.
    pub domain: String,
    /// As the end of a sentence about the domain: `is not a domain`.
    pub reason: String,
}

impl Fault {
    /// The fault as a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        if self.domain.is_empty() {
            format!("it {}", self.reason)
        } else {
            format!("{:?} {}", self.domain, self.reason)
        }
    }
}

/// A parsed list.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) format: ListFormat,
    pub(super) entries: Vec<Entry>,
    /// The first ones.
    pub(super) faults: Vec<Fault>,
    pub(super) faults_count: usize,
}

/// The list has more than [`ENTRIES_MAX`] entries.
#[derive(Debug)]
pub(super) struct TooMany;

impl fmt::Display for TooMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "The list has more than {ENTRIES_MAX} entries")
    }
}

impl From<TooMany> for Error {
    fn from(too_many: TooMany) -> Self {
        Self::invalid(too_many.to_string())
    }
}

/// The entries and faults of `list`, whose format is detected when it is `None`. `severity` is the severity of entries
/// without one.
///
/// # Errors
/// [`Error::TooLarge`] beyond [`LIST_MAX`]; [`Error::Invalid`] for a list that is not text, not of the format, has too
/// many entries, or none at all.
pub(super) fn parse(list: &[u8], format: Option<ListFormat>, severity: Severity, rules: &Rules) -> Result<Parsed> {
    if list.len() > LIST_MAX {
        return Err(Error::TooLarge(format!("The list is larger than {} MiB", LIST_MAX >> 20).into()));
    }
    let text = std::str::from_utf8(list).map_err(|error| {
        let line = list[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        Error::invalid(format!("The list is not text in UTF-8: line {line}"))
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let format = format.unwrap_or_else(|| detect(text));
    let parsed = Parsed { format, entries: Vec::new(), faults: Vec::new(), faults_count: 0 };
    let mut into = Collector { rules, severity, lines: HashMap::new(), parsed };
    match format {
        ListFormat::Csv => csv_text::read(text, &mut into)?,
        ListFormat::Plain => plain(text, &mut into)?,
        ListFormat::Json => json_text::read(text, &mut into)?,
    }
    if into.parsed.entries.is_empty() && into.parsed.faults_count == 0 {
        return Err(Error::invalid("The list is empty"));
    }
    Ok(into.parsed)
}

/// The format of a text without a name.
fn detect(text: &str) -> ListFormat {
    let begin = text.trim_start();
    // An IPv6 address has a bracket too, and is a fault in each format.
    if begin.starts_with('[') || begin.starts_with('{') {
        return ListFormat::Json;
    }
    let is_name = |cell: &str| cell.trim_matches([' ', '"', '#']).eq_ignore_ascii_case("domain");
    let is_header = |line: &str| line.split(',').any(is_name);
    let entry = lines(text).map(str::trim).find(|line| !line.is_empty() && (is_header(line) || !line.starts_with('#')));
    match entry {
        Some(line) if is_header(line) || without_comment(line).contains(',') => ListFormat::Csv,
        Some(_) | None => ListFormat::Plain,
    }
}

/// The lines, whose ends are LF, CR LF or CR.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split(if text.contains('\n') { '\n' } else { '\r' })
}

fn without_comment(line: &str) -> &str {
    line.find(" #").or_else(|| line.find("\t#")).map_or(line, |comment| line[..comment].trim())
}

fn plain(text: &str, into: &mut Collector<'_>) -> Result<(), TooMany> {
    for (at, line) in lines(text).enumerate() {
        let line = line.trim();
        if !line.is_empty() && !line.starts_with('#') {
            let block = into.default_block();
            into.take(at + 1, without_comment(line), Ok(block))?;
        }
    }
    Ok(())
}

/// Gathers entries and faults.
pub(super) struct Collector<'a> {
    rules: &'a Rules,
    severity: Severity,
    /// The line of each domain so far.
    lines: HashMap<Box<str>, usize>,
    parsed: Parsed,
}

impl Collector<'_> {
    /// The parameters of an entry that has none.
    pub(super) fn default_block(&self) -> BlockParams {
        BlockParams::new(self.severity)
    }

    /// Adds the entry of a line, or a fault.
    pub(super) fn take(&mut self, line: usize, text: &str, block: Result<BlockParams, Reason>) -> Result<(), TooMany> {
        let entry = self.rules.read(text).and_then(|domain| match self.lines.get(domain.as_str()) {
            Some(first) => Err(format!("is listed on line {first} already").into()),
            None => block.map(|block| Entry { domain, block }),
        });
        let entry = match entry {
            Ok(entry) => entry,
            Err(reason) => return self.fault(line, text, reason),
        };
        self.check()?;
        self.lines.insert(entry.domain.as_str().into(), line);
        self.parsed.entries.push(entry);
        Ok(())
    }

    /// Adds a fault.
    pub(super) fn fault(&mut self, line: usize, text: &str, reason: Reason) -> Result<(), TooMany> {
        self.check()?;
        self.parsed.faults_count += 1;
        if self.parsed.faults.len() < FAULTS_NAMED {
            let domain = parameter::clip(text.trim());
            self.parsed.faults.push(Fault { line, domain, reason: reason.into_owned() });
        }
        Ok(())
    }

    fn check(&self) -> Result<(), TooMany> {
        if self.parsed.entries.len() + self.parsed.faults_count == ENTRIES_MAX { Err(TooMany) } else { Ok(()) }
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
