//! Macros of the server's own crates: [`Row`](macro@Row) defines the columns of a table by a struct,
//! [`boxed`](macro@boxed) compiles an asynchronous function once, [`use_case`](macro@use_case) adds a tracing span,
//! [`job`](macro@job) registers the implementation of a kind of job for the worker, and
//! [`parameters`](macro@parameters) declares request parameters as typed fields.
//!
//! Reached as `model::Row`, which is the trait and the derive, `model::boxed`, `model::use_case`, `context::job` and
//! `rookery_http::parameters`. The traits that `Row` implements are in `model::row`; the SQL around its lists of
//! columns is in `store`.

use proc_macro::TokenStream;
use syn::{DeriveInput, ItemFn, ItemStruct, parse_macro_input};

mod boxed;
mod job;
mod parameters;
mod row;
mod use_case;

/// Implements `model::row::Row` for a struct with named fields: each is decoded from the column with its name.
///
/// On a field:
///
/// - `#[row(flatten)]`: another row, decoded from the same columns;
/// - `#[row(rename = "type")]`: the column has this name;
/// - `#[row(from = "String")]`: the column is decoded as this type, which is converted to the field's type by `From`.
///
/// On the struct, whose name in snake case, without a final `Row`, is the prefix of the macros' names:
///
/// - `#[row(alias = "b")]` on `BirdRow`: `bird_columns!()` is the list for `SELECT`: `b.id, b.ring, …`;
/// - `#[row(table = "birds", alias = "b")]`: `model::row::Table` as well, and `bird_insert!()` is
///   `INSERT INTO birds (id, ring, …) VALUES ($1, $2, …)`. Columns that the struct does not have go first, in the
///   statement and among the bound values: `bird_insert!("one", "another")`.
///
/// The macros expand to literals, for `sql!`. They are exported: in the struct's own crate they are in scope below
/// the struct, in other crates by `use`.
#[proc_macro_derive(Row, attributes(row))]
pub fn row(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    row::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes an `async fn` return a boxed future, `Send`, with all lifetimes of its arguments.
///
/// The body of an `async fn` is compiled in every crate that awaits it, with everything that it awaits in turn; the
/// body of a boxed function once, in its own crate. For functions through which one crate enters another, above all
/// where several do, and for every function of `store`: without it the server was in the program three times. Costs an
/// allocation for each call.
///
/// Callers pass anything that converts to an argument of the type `Conn` of the crate `database`: `&Db` or `&mut Tx`.
///
/// # Errors
/// Does not compile on functions that are generic over types, which are compiled where they are used in any case, and
/// on methods.
#[proc_macro_attribute]
pub fn boxed(_: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as ItemFn);
    boxed::boxed(item).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Registers the implementation of a kind of job, in the file of its use case. The kind itself, with its payload,
/// lane and key, is a row of `context::queue::kinds`.
///
/// - `async fn(cx: &Cx, tx: &mut Tx, job: J)` returns a type that converts to `context::queue::Next<J>`: nothing, or
///   the job for the next part of the work. The job is removed in `tx`, which is then committed.
/// - `async fn(cx: &Cx, job: J)` returns nothing; the worker removes the job.
/// - `async fn(cx: &Cx, job: J, claim: Claim)` returns a `context::queue::Done`, and may remove the job itself.
///
/// # Errors
/// Does not compile on functions of other shapes.
#[proc_macro_attribute]
pub fn job(_: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as ItemFn);
    job::register(&item).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Gives an `async fn` a tracing span with the name of its path, under the target `rookery::use_case` and off by default.
///
/// For the functions of `service` that other crates call, and for jobs. Makes the function [`macro@boxed`], unless it is
/// generic over types, a method or a job. Must precede `#[job]`; the crate depends on `tracing`.
///
/// # Errors
/// Does not compile on functions that are not `async`.
#[proc_macro_attribute]
pub fn use_case(_: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as ItemFn);
    use_case::use_case(item).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Defines request parameters by a struct: each optional field is read by the function of `model::params` for its
/// type, and is absent when the request does not contain it.
///
/// `String` is read by `text`, `bool` by `flag`, numbers by `int`, `Time` by `time` (a string in documents), a `Vec`
/// of ids by `distinct`, any other `Vec` by `list`, everything else by `word`. A field with `deserialize_with` or
/// `flatten` overrides this. Must precede `#[derive(Deserialize)]`; a derived `Default` is the default of the whole
/// struct.
///
/// # Errors
/// Does not compile on structs without named fields.
#[proc_macro_attribute]
pub fn parameters(_: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as ItemStruct);
    parameters::parameters(item).unwrap_or_else(syn::Error::into_compile_error).into()
}
