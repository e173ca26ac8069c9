//! The plugin's own tables. Statements stand in the package's `sql/queries.sql`; [`plugin`](crate::plugin) makes a
//! module `sql` out of them at the root of the crate, with one function for each:
//!
//! ```text
//! -- name: deck_of  returns: optional
//! -- params: integer account
//! SELECT emojis FROM decks WHERE account_id = :account
//! ```
//!
//! is called as `sql::deck_of(ctx.account()).optional::<Deck>()?`. A statement or parameter that is not there does not
//! compile. `sql::many::NAME(rows)` runs a statement for many rows of parameters.
//!
//! In routes that change things and in events, jobs and fan-out, all statements of a call are one transaction.

mod param;
mod row;

#[doc(hidden)]
pub use param::page;
pub use param::{Blob, Boolean, Integer, Integers, Json, Page, Param, Real, Text, Texts};
#[doc(hidden)]
pub use row::next;
pub use row::{FromRow, FromValue};

use crate::contract::sql::Call;
pub use crate::contract::sql::{Dialect, Rows, Value};
use crate::host::imports::sql as host;
use crate::{Error, Result};

/// A statement and what is bound to it.
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

    /// As the contract has it.
    ///
    /// # Errors
    /// The host's.
    pub fn rows(self) -> Result<Rows> {
        Ok(host::query(self.name, &self.params)?)
    }

    /// All rows: structs that derive [`Row`](derive@crate::Row), tuples, or single values.
    ///
    /// # Errors
    /// The host's, when a column does not fit, or when there are more rows than the statement or the plugin may have.
    /// A statement with a LIMIT is read a part at a time.
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

    /// The row.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is none, else as [`Query::all`].
    pub fn one<T: FromRow>(self) -> Result<T> {
        self.optional()?.ok_or(Error::NotFound)
    }

    /// Runs it; says how many rows it changed.
    ///
    /// # Errors
    /// The host's.
    pub fn exec(self) -> Result<u64> {
        Ok(self.rows()?.affected)
    }
}

/// The rows, unless the host cut them: half of them would pass for all.
fn whole<T: FromRow>(name: &str, rows: Rows) -> Result<Vec<T>> {
    if rows.truncated {
        return Err(Error::internal(format!("{name} has more rows than may be read at once: give it a LIMIT")));
    }
    row::read(rows)
}

/// Runs statements in one transaction: all or none.
///
/// # Errors
/// The host's.
pub fn batch(queries: impl IntoIterator<Item = Query>) -> Result<Vec<Rows>> {
    let calls = queries.into_iter().map(|query| Call { statement: query.name.to_owned(), params: query.params });
    Ok(host::batch(&calls.collect::<Vec<_>>())?)
}

/// Which database this is.
#[must_use]
pub fn which() -> Dialect {
    host::which()
}

/// Runs a statement over many rows of parameters, which are `width` values each.
///
/// # Errors
/// The host's.
#[doc(hidden)]
pub fn run_many(name: &'static str, width: u16, params: &[Value]) -> Result<u64> {
    if params.is_empty() { Ok(0) } else { Ok(host::many(name, width, params)?) }
}

/// Runs a text made at run time: needs the permission `sql-dynamic`.
///
/// # Errors
/// The host's.
pub fn dynamic(text: &str, params: &[Value]) -> Result<Rows> {
    Ok(crate::host::imports::sql_dynamic::query(text, params)?)
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
