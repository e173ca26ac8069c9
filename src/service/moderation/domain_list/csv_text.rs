//! Comma-separated values: the columns of Mastodon's exports, in any order, and the further ones of this server.
//!
//! A quotation mark that is not closed costs its own line, and not the rest of the list; that is why this is not a reader
//! of whole files.
//!
//! Spec: RFC 4180; <https://docs.joinmastodon.org/admin/moderation/>

use super::host::Reason;
use super::parameter;
use super::parse::{Collector, TooMany};
use crate::domain_decision::BlockParams;

/// Longest quoted cell, in bytes; a mark that is not closed within it is a fault of its line.
const QUOTED_MAX: usize = 64 * 1024;

/// Reads the entries of `text`.
pub(super) fn read(text: &str, into: &mut Collector<'_>) -> Result<(), TooMany> {
    let mut columns = None;
    for record in (Records { rest: text, line: 1 }) {
        let (line, cells) = match record {
            Ok(record) => record,
            Err(line) => {
                into.fault(line, "", "has a quotation mark that is not closed".into())?;
                continue;
            }
        };
        if cells.iter().all(String::is_empty) {
            continue;
        }
        if columns.is_none()
            && let Some(named) = Columns::named(&cells)
        {
            columns = Some(named);
            continue;
        }
        if cells[0].starts_with('#') {
            continue;
        }
        let columns = columns.get_or_insert_with(Columns::default);
        let domain = cells.get(columns.domain).map_or("", String::as_str);
        let block = columns.block(&cells, into.default_block());
        into.take(line, domain, block)?;
    }
    Ok(())
}

/// The place of each column.
#[derive(Default)]
struct Columns {
    domain: usize,
    /// The other columns with a known name. `None` without a header: then only a severity is looked for.
    named: Option<Vec<(usize, &'static str)>>,
}

impl Columns {
    /// From a header; `None` when `cells` are no header.
    fn named(cells: &[String]) -> Option<Self> {
        let names: Vec<String> =
            cells.iter().map(|cell| cell.trim_start_matches('#').trim().to_ascii_lowercase()).collect();
        let domain = names.iter().position(|name| name == "domain")?;
        let named = names.iter().enumerate().filter_map(|(at, name)| Some((at, parameter::name(name)?))).collect();
        Some(Self { domain, named: Some(named) })
    }

    fn block(&self, cells: &[String], mut block: BlockParams) -> Result<BlockParams, Reason> {
        let Some(named) = &self.named else {
            if let Some(severity) = cells.get(1).and_then(|cell| parameter::severity(cell).ok()) {
                block.severity = severity;
            }
            return Ok(block);
        };
        for (at, name) in named {
            parameter::set(&mut block, name, cells.get(*at).map_or("", String::as_str))?;
        }
        Ok(block)
    }
}

/// The records of a text: the line on which each begins, and its cells, of which there is at least one. An error is the
/// number of a line that has a mark without an end.
struct Records<'a> {
    rest: &'a str,
    line: usize,
}

impl Iterator for Records<'_> {
    type Item = Result<(usize, Vec<String>), usize>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let line = self.line;
        let read = record(self.rest);
        let (found, rest) = match read {
            Some((cells, rest)) => (Ok((line, cells)), rest),
            None => (Err(line), after_line(self.rest)),
        };
        let taken = &self.rest[..self.rest.len() - rest.len()];
        self.line += ends(taken);
        self.rest = rest;
        Some(found)
    }
}

/// The number of line ends: LF, CR LF or CR.
fn ends(text: &str) -> usize {
    text.matches('\n').count() + text.matches('\r').count() - text.matches("\r\n").count()
}

/// `text` without its first line.
fn after_line(text: &str) -> &str {
    text.find(['\r', '\n']).map_or("", |end| line_end(&text[end..]).unwrap_or_default())
}

/// `text` without the line end that it begins with.
fn line_end(text: &str) -> Option<&str> {
    text.strip_prefix("\r\n").or_else(|| text.strip_prefix(['\r', '\n']))
}

/// The cells of the first record, and the text after it; `None` when a mark is not closed.
fn record(text: &str) -> Option<(Vec<String>, &str)> {
    let mut cells = Vec::new();
    let mut rest = text;
    loop {
        let (quoted, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted_cell(quoted).map(|(cell, after)| (Some(cell), after))?,
            None => (None, rest),
        };
        let end = after.find([',', '\r', '\n']).unwrap_or(after.len());
        let beyond = after[..end].trim();
        cells.push(match quoted {
            // The mark of a later cell, which closed this one.
            Some(_) if !beyond.is_empty() => return None,
            Some(cell) => cell.trim().to_owned(),
            None => beyond.to_owned(),
        });
        let after = &after[end..];
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None => return Some((cells, line_end(after).unwrap_or(after))),
        }
    }
}

/// The content of a cell up to its closing mark, and the text after it.
fn quoted_cell(text: &str) -> Option<(String, &str)> {
    let mut cell = String::new();
    let mut rest = text;
    loop {
        let left = QUOTED_MAX.checked_sub(text.len() - rest.len())?;
        let mark = rest.bytes().take(left).position(|byte| byte == b'"')?;
        cell.push_str(&rest[..mark]);
        rest = &rest[mark + 1..];
        match rest.strip_prefix('"') {
            Some(next) => {
                cell.push('"');
                rest = next;
            }
            None => return Some((cell, rest)),
        }
    }
}
