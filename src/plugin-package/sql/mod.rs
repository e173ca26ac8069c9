//! SQL of plugins as packages contain it: named statements and migrations, and their validation.
//!
//! # The author's files
//!
//! `sql/queries.sql` holds statements. Each begins with its annotations:
//!
//! ```sql
//! -- name: decks_of   returns: many   max-rows: 100
//! -- params: integer account, texts names
//! SELECT id, title FROM decks WHERE account_id = :account AND name {in:names} ORDER BY id;
//! ```
//!
//! * `returns:` is `one`, `many`, `optional`, `exec` (the number of changed rows), `page(status)` and `page(account)`
//!   (a column `id`, and `page_id` where the pagination key is another), or `owner` (a row if the caller is
//!   authorised).
//! * Parameter types are `boolean`, `integer`, `real`, `text`, `blob`, `json` (a text with a JSON document), `integers`
//!   and `texts` (a text with a JSON array). Each admits NULL.
//! * `-- dialect: sqlite` and `-- dialect: postgres` begin the text for one engine; most statements need only one text.
//! * `:name` is a parameter. `{now}` is the time in milliseconds since the epoch. `id {in:list}` and `id {not_in:list}`
//!   test membership of a list. `FROM {each:list as e}` unnests a list into `e.value`; elements of a `json` list are
//!   documents: `e.value ->> 'key'`.
//! * `{page:s.id}` in WHERE paginates by that column (keyset pagination): the host adds the bounds, ORDER BY (newest
//!   first) and LIMIT, and the parameters `max_id`, `since_id`, `min_id` and `limit` (integers or NULL) after the
//!   declared ones. With `min_id` the page directly above it is read. A limit of NULL or 0 means the limit of the
//!   statement.
//! * Bare names are the plugin's own tables, `core_v1.accounts` is a view that `permissions.core-views` names (see
//!   `migrations/*/0020_core_views.sql`). `*` for columns, recursion, and joins without ON are refused.
//! * Results are NULL, integers, reals, texts and blobs: booleans are the integers 0 and 1, times of views are integers
//!   of milliseconds, JSON is text. `WHERE flag` and `flag = TRUE` work on both engines.
//!
//! `migrations/NNNN_name.sql` defines tables: CREATE TABLE, CREATE INDEX, ALTER TABLE (add, rename, drop a column;
//! rename), DROP, and changes of rows. Types are `integer`, `text`, `blob`, `boolean`, `real` and `json`; `integer
//! PRIMARY KEY` assigns row ids. Texts compare by their bytes. References are to the plugin's own tables only. A line
//! `-- contract` declares that the previous version cannot run on the result: the plugin is paused during the
//! migration, on every server. A migration blocks all other writers on SQLite, so a migration of many rows should be
//! marked `-- batch: 1000`: a file of one UPDATE or DELETE, whose WHERE excludes the rows that are done. It changes
//! this many rows in each transaction, until none is left, and other writers run in between.
//!
//! # Enforcement
//!
//! Three layers, each of which suffices for most of docs/plugins.md#3-security: [`check`] validates the syntax tree, at load,
//! and rewrites names; [`confined`](database::confined) makes the engine refuse whatever is outside the name-space; limits
//! on rows, bytes, time and size stop the rest.

pub mod check;
pub mod source;
pub mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use source::Returns;

use database::confined::VIEWS;

/// The files of a package, by path.
pub type Files = BTreeMap<String, Arc<[u8]>>;

/// The views that `permissions.core-views` requests: `statuses:private` is a separate view.
///
/// # Errors
/// For an unknown view, as a clause.
pub fn views(names: &[String]) -> Result<BTreeSet<String>, String> {
    names
        .iter()
        .map(|name| match name.replace(':', "_") {
            view if VIEWS.contains(&view.as_str()) => Ok(view),
            _ => {
                let known: Vec<&str> = VIEWS.iter().copied().filter(|view| *view != "statuses_private").collect();
                Err(format!(
                    "permissions.core-views names {name}, which is none of {} and statuses:private",
                    known.join(", ")
                ))
            }
        })
        .collect()
}

/// A file of a package as text.
///
/// # Errors
/// When it is not UTF-8, as a clause.
pub fn utf8(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}
