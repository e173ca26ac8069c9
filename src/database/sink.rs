//! Where decoded rows go: a [`Sink`], which is a vector of rows of any type.
//!
//! Statements run through it so that all code around the decoding of a row, on both engines, is compiled once instead of
//! once for each of the hundreds of row types.

use std::any::Any;

use sqlx::postgres::PgRow;

use super::Result;
use super::sqlite::BorrowedRow;
use model::Row;

/// Takes the rows of a statement in their order.
pub(crate) trait Sink: Any + Send {
    /// Decodes and adds a row of SQLite.
    fn push_sqlite(&mut self, row: &BorrowedRow<'_, '_>) -> Result<()>;

    /// Decodes and adds a row of PostgreSQL.
    fn push_postgres(&mut self, row: &PgRow) -> Result<()>;

    /// Removes all rows: the statement runs again.
    fn clear(&mut self);
}

impl<T: Row> Sink for Vec<T> {
    fn push_sqlite(&mut self, row: &BorrowedRow<'_, '_>) -> Result<()> {
        self.push(T::decode(row)?);
        Ok(())
    }

    fn push_postgres(&mut self, row: &PgRow) -> Result<()> {
        self.push(T::decode(row)?);
        Ok(())
    }

    fn clear(&mut self) {
        Vec::clear(self);
    }
}

/// The rows of a sink that was made of a `Vec<T>`.
pub(crate) fn rows_of<T: Row>(sink: Box<dyn Sink>) -> Vec<T> {
    let rows = (sink as Box<dyn Any>).downcast::<Vec<T>>();
    debug_assert!(rows.is_ok(), "a sink keeps its type");
    rows.map(|rows| *rows).unwrap_or_default()
}
