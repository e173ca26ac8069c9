//! Parses an uploaded file, with limits for its size, its rows and the length of a cell.
//!
//! The first row is a header when its first cell is the name of a column; a file without one has Mastodon's order of
//! columns.

use super::entry::{Entry, FilterEntry};
use super::{FILE_MAX, ROWS_MAX};
use context::error::{Error, Result};
use model::transfer::TransferKind;

/// Longest cell, in characters.
const CELL_MAX: usize = 2_048;
/// Names of first columns, in lower case.
const FIRST_COLUMNS: &[&str] = &["account address", "#domain", "domain", "#uri", "uri", "list name", "acct"];

/// The entries of `file`.
///
/// # Errors
/// [`Error::TooLarge`] for a file of more than [`FILE_MAX`] bytes; [`Error::Invalid`] for one that is not text, does
/// not have this kind, is empty, or has more than [`ROWS_MAX`] rows.
pub(super) fn parse(kind: TransferKind, file: &[u8]) -> Result<Vec<Entry>> {
    if file.len() > FILE_MAX {
        return Err(Error::TooLarge(format!("The file is larger than {} MiB", FILE_MAX >> 20).into()));
    }
    let text = std::str::from_utf8(file).map_err(|_| Error::invalid("The file is not text in UTF-8"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.contains('\0') {
        return Err(Error::invalid("The file is not text: it has a NUL"));
    }
    let entries = if kind == TransferKind::Filters { filters(text)? } else { records(kind, text)? };
    if entries.is_empty() {
        return Err(Error::invalid("The file is empty"));
    }
    Ok(entries)
}

fn too_many() -> Error {
    Error::invalid(format!("The file has more than {ROWS_MAX} rows"))
}

fn filters(text: &str) -> Result<Vec<Entry>> {
    let filters: Vec<FilterEntry> = serde_json::from_str(text)
        .map_err(|error| Error::invalid(format!("The file is not a list of filters: {error}")))?;
    let texts = |filter: &FilterEntry| {
        let keywords = filter.keywords.iter().any(|keyword| keyword.keyword.contains('\0'));
        keywords || filter.title.contains('\0')
    };
    if filters.iter().any(texts) {
        return Err(Error::invalid("The file has a NUL in a text"));
    }
    if filters.len() > ROWS_MAX {
        return Err(too_many());
    }
    Ok(filters.into_iter().map(Entry::Filter).collect())
}

fn records(kind: TransferKind, text: &str) -> Result<Vec<Entry>> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let mut columns = None;
    let mut entries = Vec::new();
    for record in reader.records() {
        let record =
            record.map_err(|error| Error::invalid(format!("The file has no comma-separated values: {error}")))?;
        check(&record)?;
        if record.iter().all(str::is_empty) {
            continue;
        }
        if columns.is_none() {
            let known = FIRST_COLUMNS.contains(&record.get(0).unwrap_or_default().to_lowercase().as_str());
            columns = Some(if known { Columns::named(kind, &record)? } else { Columns::ordered(kind) });
            if known {
                continue;
            }
        }
        if entries.len() == ROWS_MAX {
            return Err(too_many());
        }
        if let Some(columns) = &columns {
            entries.push(columns.entry(kind, &record)?);
        }
    }
    Ok(entries)
}

fn check(record: &csv::StringRecord) -> Result<()> {
    if record.iter().all(|cell| cell.chars().count() <= CELL_MAX) {
        return Ok(());
    }
    let line = record.position().map_or(0, csv::Position::line);
    Err(Error::invalid(format!("Line {line} of the file has a cell of more than {CELL_MAX} characters")))
}

/// The columns of a kind in order, each with its possible names in lower case, and the number of required columns.
fn names(kind: TransferKind) -> (&'static [&'static [&'static str]], usize) {
    const ACCT: &[&str] = &["account address", "acct"];
    match kind {
        TransferKind::Follows => (&[ACCT, &["show boosts"], &["notify on new posts"], &["languages"]], 1),
        TransferKind::Mutes => (&[ACCT, &["hide notifications"]], 1),
        TransferKind::Blocks => (&[ACCT], 1),
        TransferKind::DomainBlocks => (&[&["#domain", "domain"]], 1),
        TransferKind::Lists => (&[&["list name"], ACCT], 2),
        TransferKind::Bookmarks => (&[&["#uri", "uri"]], 1),
        TransferKind::Filters => (&[], 0),
    }
}

/// The index of each column of a kind in the rows of a file.
struct Columns(Vec<Option<usize>>);

impl Columns {
    /// From a header.
    fn named(kind: TransferKind, header: &csv::StringRecord) -> Result<Self> {
        let (columns, required) = names(kind);
        let find = |names: &&[&str]| header.iter().position(|cell| names.contains(&cell.to_lowercase().as_str()));
        let found: Vec<Option<usize>> = columns.iter().map(find).collect();
        match found.iter().take(required).position(Option::is_none) {
            Some(missing) => Err(Error::invalid(format!("The file has no column {:?}", columns[missing][0]))),
            None => Ok(Self(found)),
        }
    }

    /// In the default order of the kind.
    fn ordered(kind: TransferKind) -> Self {
        Self((0..names(kind).0.len()).map(Some).collect())
    }

    /// The cell of a column, if it is not empty.
    fn cell<'a>(&self, record: &'a csv::StringRecord, column: usize) -> Option<&'a str> {
        let at = self.0.get(column).copied().flatten()?;
        record.get(at).filter(|cell| !cell.is_empty())
    }

    fn entry(&self, kind: TransferKind, record: &csv::StringRecord) -> Result<Entry> {
        let required = |column: usize| {
            let line = record.position().map_or(0, csv::Position::line);
            let missing = || Error::invalid(format!("Line {line} of the file has too few cells"));
            self.cell(record, column).map(str::to_owned).ok_or_else(missing)
        };
        let flag = |column: usize| self.cell(record, column).map(is_true);
        Ok(match kind {
            TransferKind::Follows => Entry::Follow {
                acct: required(0)?,
                reblogs: flag(1),
                notify: flag(2),
                languages: self.cell(record, 3).map(|tags| tags.split(',').map(|tag| tag.trim().to_owned()).collect()),
            },
            TransferKind::Mutes => Entry::Mute { acct: required(0)?, hide_notifications: flag(1).unwrap_or(true) },
            TransferKind::Blocks => Entry::Block { acct: required(0)? },
            TransferKind::DomainBlocks => Entry::Domain { domain: required(0)? },
            TransferKind::Lists => Entry::Member { list: required(0)?, acct: required(1)? },
            TransferKind::Bookmarks | TransferKind::Filters => Entry::Bookmark { uri: required(0)? },
        })
    }
}

/// Parses a boolean cell as Mastodon does.
fn is_true(cell: &str) -> bool {
    !matches!(cell.to_lowercase().as_str(), "false" | "f" | "0" | "off" | "no")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accts(kind: TransferKind, text: &str) -> Vec<String> {
        let entry = |entry: Entry| match entry {
            Entry::Follow { acct, .. } | Entry::Block { acct } | Entry::Mute { acct, .. } => acct,
            Entry::Member { list, acct } => format!("{list}:{acct}"),
            other => format!("{other:?}"),
        };
        parse(kind, text.as_bytes()).unwrap().into_iter().map(entry).collect()
    }

    #[test]
    fn header_is_optional_and_orders_columns() {
        for text in ["a@b.c\nd\n", "\u{feff}Account address\r\na@b.c\r\n\r\nd", "Show boosts,x\n"] {
            let read = accts(TransferKind::Follows, text);
            assert!(read == ["a@b.c", "d"] || read == ["Show boosts"], "{read:?}");
        }
        let moved = "Account address,Languages,Show boosts\na,\"en, de\",false\n";
        let follow = Entry::Follow {
            acct: "a".to_owned(),
            reblogs: Some(false),
            notify: None,
            languages: Some(vec!["en".to_owned(), "de".to_owned()]),
        };
        assert_eq!(parse(TransferKind::Follows, moved.as_bytes()).unwrap(), [follow]);
        assert_eq!(accts(TransferKind::Lists, "Friends, a@b.c\n\"A, B\",d\n"), ["Friends:a@b.c", "A, B:d"]);
    }

    #[test]
    fn malformed_file_is_refused() {
        let long = format!("{}\n", "a".repeat(CELL_MAX + 1));
        let many = "a\n".repeat(ROWS_MAX + 1);
        for (kind, text, reason) in [
            (TransferKind::Follows, "", "empty"),
            (TransferKind::Follows, "Account address,Show boosts\n", "empty"),
            (TransferKind::Follows, "#domain,x\na,b\n", "account address"),
            (TransferKind::Blocks, long.as_str(), "Line 1"),
            (TransferKind::Blocks, many.as_str(), "20000 rows"),
            (TransferKind::Blocks, "a\0b", "NUL"),
            (TransferKind::Lists, "only one\n", "too few"),
            (TransferKind::Filters, "{}", "not a list of filters"),
            (TransferKind::Filters, r#"[{"title": "a\u0000", "context": ["home"]}]"#, "NUL"),
        ] {
            let error = parse(kind, text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
        assert!(parse(TransferKind::Blocks, b"\xff\xfe").unwrap_err().to_string().contains("UTF-8"));
        assert!(matches!(parse(TransferKind::Blocks, &vec![b'a'; FILE_MAX + 1]), Err(Error::TooLarge(_))));
    }
}
