//! The database: one interface to two engines, SQLite and PostgreSQL.
//!
//! Contains connections, transactions, statements as text, migrations, signals between nodes, and the sandbox for SQL
//! of plugins ([`confined`]). The statements are in the crate `store`: of the server's tables, this crate knows only
//! the names of tables whose changes it counts ([`versions`]). A function that only reads takes a [`Conn`]
//! (of `&Db` or `&mut Tx`), one that writes takes `&mut Tx`, so nothing is written outside a transaction.

pub mod confined;
pub mod db;
mod error;
pub mod fault;
mod job_signals;
pub mod migrate;
pub mod notify;
mod options;
pub mod query;
mod sink;
pub mod sql;
mod sqlite;
pub mod versions;
mod write_check;

pub use db::{Db, Engine, Tx};
pub use error::{Error, Result};
pub use fault::Fault;
pub use options::{Options, PoolStats};
pub use query::Conn;
pub use sqlite::{missing_file, snapshot};
