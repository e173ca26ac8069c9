//! Derives of the server's own crates: [`Row`](macro@Row), by which a struct is all that says which columns a table has.
//!
//! Reached as `model::Row`, which is the trait and the derive. What it implements is in `model::row`; the SQL around its
//! lists of columns is in `store`.

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

mod row;

/// Implements `model::row::Row` for a struct with named fields: each is decoded from the column of its name.
///
/// On a field:
///
/// - `#[row(flatten)]`: another row, decoded from the same columns;
/// - `#[row(rename = "type")]`: the column has this name;
/// - `#[row(from = "String")]`: the column is decoded as this type, from which the field's is made by `From`.
///
/// On the struct, whose name in snake case, without `Row` at its end, begins the names of the macros:
///
/// - `#[row(alias = "b")]` on `BirdRow`: `bird_columns!()` is the list for `SELECT`: `b.id, b.ring, …`;
/// - `#[row(table = "birds", alias = "b")]`: `model::row::Table` as well, and `bird_insert!()` is
///   `INSERT INTO birds (id, ring, …) VALUES ($1, $2, …)`. Columns that the struct does not have go first, in the
///   statement and among the bound values: `bird_insert!("one", "another")`.
///
/// The macros expand to literals, for `sql!`. They are exported: in the struct's own crate they are known below the struct,
/// in others by `use`.
#[proc_macro_derive(Row, attributes(row))]
pub fn row(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    row::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
