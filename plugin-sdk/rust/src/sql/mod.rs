//! SQL on the plugin's own tables, by named statements. They are written in the package's `sql/queries.sql`, and
//! [`plugin`](macro@crate::plugin) generates a module `sql` at the root of the crate, with one function for each:
//!
//! ```text
//! -- name: deck_of  returns: optional
//! -- params: integer account
//! SELECT emojis FROM decks WHERE account_id = :account
//! ```
//!
//! is called as `sql::deck_of(ctx.account()).optional::<Deck>()?`. A missing statement, or a parameter of the wrong
//! type, is a compile error. `sql::many::NAME(rows)` runs a statement for many rows of parameters.
//!
//! In routes with a method that changes things, and in events, jobs and fan-out, all statements of a call are one
//! transaction (see `sql` in the contract).

mod param;
mod row;

#[doc(hidden)]
pub use param::page;
pub use param::{Blob, Boolean, Integer, Integers, Json, Page, Param, Real, Text, Texts};
#[doc(hidden)]
pub use row::next;
pub use row::{FromRow, FromValue};

use crate::contract::sql::Call;
pub use crate::contract::sql::{Rows, Value};
use crate::host::imports::sql as host;
use crate::{Error, Result};

/// A statement with its bound parameters.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "it runs when its result is asked for"]
pub struct Query {
    name: &'static str,
    params: Vec<Value>,
}

impl Query {
    #[doc(hidden)]
    pub fn new(name: &'static str, params: Vec<Value>) -> Self {
        Self { name, params }
    }

    /// Runs it; returns the rows as the contract has them, flat and possibly truncated.
    pub fn rows(self) -> Result<Rows> {
        Ok(host::query(self.name, &self.params)?)
    }

    /// All rows: structs that derive [`Row`](derive@crate::Row), tuples, or single values.
    ///
    /// # Errors
    /// [`Error::Internal`] when there are more rows than `max-rows` of the statement or the plugin's limit: give it a
    /// LIMIT and page through the rows. Also when a column has another type.
    pub fn all<T: FromRow>(self) -> Result<Vec<T>> {
        let name = self.name;
        whole(name, self.rows()?)
    }

    /// The first row, if there is one.
    ///
    /// # Errors
    /// As [`Query::all`].
    pub fn optional<T: FromRow>(self) -> Result<Option<T>> {
        Ok(self.all()?.into_iter().next())
    }

    /// The first row.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is none; otherwise as [`Query::all`].
    pub fn one<T: FromRow>(self) -> Result<T> {
        self.optional()?.ok_or(Error::NotFound)
    }

    /// Runs it; returns how many rows it changed.
    pub fn exec(self) -> Result<u64> {
        Ok(self.rows()?.affected)
    }
}

/// Reads the rows; an error when the host truncated them, since a part must not pass for all of them.
fn whole<T: FromRow>(name: &str, rows: Rows) -> Result<Vec<T>> {
    if rows.truncated {
        return Err(Error::internal(format!("{name} has more rows than one result may have: give it a LIMIT")));
    }
    row::read(rows)
}

/// Runs statements in one transaction: all or none take effect.
pub fn batch(queries: impl IntoIterator<Item = Query>) -> Result<Vec<Rows>> {
    let calls = queries.into_iter().map(|query| Call { statement: query.name.to_owned(), params: query.params });
    Ok(host::batch(&calls.collect::<Vec<_>>())?)
}

/// Runs a statement over many rows of parameters, which are `width` values each.
#[doc(hidden)]
pub fn run_many(name: &'static str, width: u16, params: &[Value]) -> Result<u64> {
    if params.is_empty() { Ok(0) } else { Ok(host::many(name, width, params)?) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_were_cut_are_no_answer() {
        let rows =
            |truncated| Rows { columns: vec!["id".into()], values: vec![Value::Integer(7)], affected: 0, truncated };
        assert_eq!(whole::<i64>("all_of_them", rows(false)), Ok(vec![7]));
        let error = whole::<i64>("all_of_them", rows(true)).unwrap_err();
        assert!(error.to_string().contains("all_of_them"), "{error}");
    }
}
