//! The name-space of a plugin's SQL, and the limits on its statements.

use database::Conn;
use database::confined::{Limits, Scope};
use plugin_package::Manifest;
use plugin_package::manifest::Resolved;
use plugin_package::sql::views;

/// The name-space of a plugin, with the views granted to it.
#[model::boxed]
pub(super) async fn scope(db: Conn<'_>, manifest: &Manifest) -> Result<Scope, String> {
    let views = views(&manifest.permissions.core_views)?;
    Scope::find(db, &manifest.plugin.name, views).await.map_err(|error| error.to_string())
}

pub(super) fn limits(limits: &Resolved) -> Limits {
    let rows = usize::try_from(limits.rows).unwrap_or(usize::MAX);
    Limits { time: limits.statement_time, rows, bytes: 4 << 20 }
}
