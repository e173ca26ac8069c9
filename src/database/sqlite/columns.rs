//! The columns of a row of SQLite, borrowed from the statement: how `#[derive(Row)]` reads it.

use std::cell::{Cell, RefCell};
use std::ptr;

use model::row::{Columns, Error, Value};
use model::sqlite::Decode;
use rusqlite::Row;

/// The positions of a statement's columns, in the order in which a struct reads them: looked up by name once, with
/// the first row. Names are literals and compared by address.
#[derive(Debug, Default)]
pub(super) struct Layout(RefCell<Vec<(&'static str, usize)>>);

impl Layout {
    fn get(&self, step: usize, name: &'static str) -> Option<usize> {
        let known = self.0.borrow();
        known.get(step).filter(|(known, _)| ptr::eq(*known, name)).map(|(_, index)| *index)
    }

    fn set(&self, step: usize, name: &'static str, index: usize) {
        let mut known = self.0.borrow_mut();
        known.truncate(step);
        known.push((name, index));
    }
}

/// A row during decoding.
pub(crate) struct BorrowedRow<'r, 's> {
    row: &'r Row<'s>,
    layout: &'r Layout,
    /// Number of columns read so far.
    step: Cell<usize>,
}

impl<'r, 's> BorrowedRow<'r, 's> {
    pub(super) fn new(row: &'r Row<'s>, layout: &'r Layout) -> Self {
        Self { row, layout, step: Cell::new(0) }
    }

    fn find(&self, name: &'static str) -> Option<usize> {
        let step = self.step.get();
        self.step.set(step + 1);
        if let Some(index) = self.layout.get(step, name) {
            return Some(index);
        }
        let statement = self.row.as_ref();
        let is_named = |index: &usize| statement.column_name(*index).is_ok_and(|column| column == name);
        let index = (0..statement.column_count()).find(is_named)?;
        self.layout.set(step, name, index);
        Some(index)
    }
}

impl Columns for BorrowedRow<'_, '_> {
    fn named<V: Value>(&self, column: &'static str) -> Result<V, Error> {
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
