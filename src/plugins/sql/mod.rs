//! SQL of plugins as it runs: statements, migrations and dumps in the plugin's own name-space of the server's database.
//!
//! The language, and its validation at load, are in [`plugin_package::sql`]. The engine refuses access outside of the
//! name-space ([`database::confined`]); limits on rows, bytes, time and size stop the rest.

mod account;
#[cfg(test)]
mod cost_tests;
mod dump;
mod failure;
mod load;
pub mod migrate;
mod namespace;
mod run;
mod statements;
mod value;

pub use crate::quota::Quota;
pub use account::drop_all;
pub use dump::{Dump, dump};
pub use load::load;
pub use migrate::{Migrated, Progress, incompatible, migrate};
pub use plugin_package::sql::source::Returns;
pub use statements::{Statement, Statements};

/// The type of a parameter.
pub use database::confined::ParamType;
