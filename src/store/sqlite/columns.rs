//! The columns of a row of SQLite, borrowed from the statement: how `#[derive(Row)]` reads it.

use std::cell::Cell;

use model::row::{Columns, Error, Value};
use model::sqlite::Decode;
use rusqlite::Row;

/// A row that is being decoded.
pub(super) struct BorrowedRow<'r, 's> {
    row: &'r Row<'s>,
    /// Where the next name is looked for first: structs mostly list their fields in the order of the statement.
    next: Cell<usize>,
}

impl<'r, 's> BorrowedRow<'r, 's> {
    pub(super) fn new(row: &'r Row<'s>) -> Self {
        Self { row, next: Cell::new(0) }
    }

    fn find(&self, name: &str) -> Option<usize> {
        let statement = self.row.as_ref();
        let is_named = |index: &usize| statement.column_name(*index).is_ok_and(|column| column == name);
        let expected = self.next.get();
        let found = Some(expected).filter(is_named).or_else(|| (0..statement.column_count()).find(is_named))?;
        self.next.set(found + 1);
        Some(found)
    }
}

impl Columns for BorrowedRow<'_, '_> {
    fn named<V: Value>(&self, column: &str) -> Result<V, Error> {
        self.at(self.find(column).ok_or_else(|| Error::ColumnNotFound(column.to_owned()))?)
    }

    fn at<V: Value>(&self, index: usize) -> Result<V, Error> {
        let wrong = |source| Error::ColumnDecode { index: index.to_string(), source };
        let value = self.row.get_ref(index).map_err(|error| wrong(error.into()))?;
        <V as Decode>::decode(value).map_err(|source| {
            let name = self.row.as_ref().column_name(index).unwrap_or_default();
            Error::ColumnDecode { index: format!("{index} ({name})"), source }
        })
    }
}
