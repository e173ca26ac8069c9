//! Revoking permissions of a plugin.

use config::nearest;
use context::error::{Error, Result};
use model::{Staff, boxed};
use store::plugin::Plugin;

use crate::Cx;
use crate::life::desired::{self, Logged};
use plugin_package::package;
use serde_json::json;

/// Revokes the permissions of `only`, or all without any. A package that asks for one of them stops serving until it is
/// granted again, and the plugin is not rolled back to one either.
///
/// # Errors
/// [`Error::Invalid`] when there is no such plugin, or it was not granted such a permission.
#[boxed]
pub async fn revoke(cx: &Cx, staff: &Staff, name: &str, only: &[String]) -> Result<Plugin> {
    let known = desired::find(cx, name).await?;
    if let Some(unknown) = only.iter().find(|permission| !known.granted.0.contains(permission)) {
        let hint = nearest(unknown, known.granted.0.iter().cloned()).map(|near| format!("; did you mean {near}?"));
        let hint = hint.unwrap_or_default();
        return Err(Error::invalid(format!("{name} was not granted the permission {unknown:?}{hint}")));
    }
    let revokes = |permission: &String| only.is_empty() || only.contains(permission);
    let folder = cx.config.plugins.cache_dir.join("packages");
    let asks = |digest: &String| match package::find_rollback_copy(&folder, name, digest) {
        Ok(Some(package)) => package.manifest.requested().iter().any(revokes),
        // Without its copy there is nothing to go back to.
        Ok(None) | Err(_) => true,
    };
    let forgotten: Vec<String> = known.approved.0.iter().filter(|digest| asks(digest)).cloned().collect();
    let logged = Logged::new(staff, "plugin.revoke").with(json!({ "permissions": only }));
    desired::change_by(cx, name, logged, |plugin| {
        let granted = plugin.granted.0.iter().filter(|permission| !revokes(permission)).cloned().collect();
        desired::set_grants(plugin, granted);
        plugin.approved.0.retain(|digest| !forgotten.contains(digest));
        Ok(())
    })
    .await
}
