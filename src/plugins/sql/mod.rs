//! SQL of plugins as it runs: statements, migrations and dumps in the plugin's own name-space of the server's database.
//!
//! The language, and its validation at load, are in [`plugin_package::sql`]. The engine refuses what is outside of the
//! name-space ([`database::confined`]); limits on rows, bytes, time and size stop the rest.

mod account;
#[cfg(test)]
mod cost_tests;
mod dump;
mod failure;
pub mod migrate;
mod run;
mod statements;
mod value;

pub use crate::quota::Quota;
pub use account::drop_all;
pub use dump::{Dump, dump};
pub use migrate::{Migrated, Progress, incompatible, migrate};
pub use plugin_package::sql::source::Returns;
pub use statements::{Statement, Statements};

/// The type of a parameter.
pub use database::confined::ParamType;

use database::Executor;
use database::confined::{Limits, Scope};
use plugin_package::Manifest;
use plugin_package::manifest::Resolved;
use plugin_package::sql::views;

/// The name-space of a plugin, with the views granted to it.
async fn scope(db: impl Executor, manifest: &Manifest) -> Result<Scope, String> {
    let views = views(&manifest.permissions.core_views)?;
    Scope::find(db, &manifest.plugin.name, views).await.map_err(|error| error.to_string())
}

fn limits(limits: &Resolved) -> Limits {
    let rows = usize::try_from(limits.rows).unwrap_or(usize::MAX);
    Limits { time: limits.statement_time, rows, bytes: 4 << 20 }
}
