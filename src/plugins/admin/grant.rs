//! Granting permissions that a package asks for.

use config::nearest;

use crate::Cx;
use crate::admin::installed::{check_shown, newest};
use crate::life::desired::{self, Logged};
use crate::life::pipeline;
use context::error::{Error, Result};
use model::{Staff, boxed};
use plugin_package::package::Package;
use serde_json::json;
use store::plugin::Plugin;

/// Grants the permissions that the newest package asks for, and accepts it.
///
/// # Errors
/// As [`enable`](super::enable()).
pub async fn grant(cx: &Cx, staff: &Staff, name: &str) -> Result<Plugin> {
    grant_some(cx, staff, name, &[], None).await
}

/// As [`grant`] for the permissions of `only`, if there are any: the package is accepted once none is missing. `shown` as
/// of [`enable_shown`](super::enable_shown()).
///
/// # Errors
/// [`Error::Invalid`] also for a permission that the package does not ask for.
#[boxed]
pub async fn grant_some(cx: &Cx, staff: &Staff, name: &str, only: &[String], shown: Option<&str>) -> Result<Plugin> {
    let package = newest(cx, name).await?;
    check_shown(&package, shown)?;
    let wanted = package.manifest.requested();
    if let Some(unknown) = only.iter().find(|permission| !wanted.contains(*permission)) {
        let hint = nearest(unknown, wanted.iter().cloned()).map(|near| format!("; did you mean {near}?"));
        let hint = hint.unwrap_or_default();
        return Err(Error::invalid(format!("{name} does not ask for the permission {unknown:?}{hint}")));
    }
    let granted: Vec<&String> = if only.is_empty() { wanted.iter().collect() } else { only.iter().collect() };
    let logged = Logged::new(staff, "plugin.grant").with(json!({ "permissions": granted }));
    desired::change_by(cx, name, logged, |plugin| {
        if only.is_empty() {
            grant_all(plugin, &package);
        } else {
            add_grants(plugin, only);
        }
        if pipeline::missing(plugin, &package).is_empty() {
            desired::accept(plugin, &package);
        }
        Ok(())
    })
    .await
}

fn add_grants(plugin: &mut Plugin, permissions: &[String]) {
    let granted = plugin.granted.0.iter().chain(permissions).cloned().collect();
    desired::set_grants(plugin, granted);
}

pub(crate) fn grant_all(plugin: &mut Plugin, package: &Package) {
    desired::set_grants(plugin, package.manifest.requested());
}
