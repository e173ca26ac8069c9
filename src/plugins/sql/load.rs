//! Loading the statements of a package, with the clock and the time limits of a context.

use rookery_plugin_host::LoadError;

use super::statements::Statements;
use crate::Cx;
use crate::quota::Quota;
use database::Tx;
use plugin_package::Manifest;
use plugin_package::manifest::Resolved;
use plugin_package::sql::Files;

/// Parses the statements of a package, checks them for both engines and prepares each on this one, in `tx`: on the schema
/// that the package's migrations leave. `None` when the manifest has no `[sql]`.
///
/// # Errors
/// At [`Stage::Statements`](rookery_plugin_host::Stage), with the first statement that is refused.
pub async fn load(
    cx: &Cx,
    quota: Quota,
    manifest: &Manifest,
    resolved: &Resolved,
    files: &Files,
    tx: &mut Tx,
) -> Result<Option<Statements>, LoadError> {
    Statements::load((&cx.clock, &cx.plugins.hook_limits), quota, manifest, resolved, files, tx).await
}
