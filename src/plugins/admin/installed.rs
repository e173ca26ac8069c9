//! The plugins that are installed or could be: the desired state of each beside its packages.

use std::collections::BTreeSet;

use rookery_plugin_host::LoadError;

use crate::Cx;
use crate::error::of_fault;
use crate::life::source::{self, Packages};
use crate::life::{desired, pipeline};
use context::error::{Error, Result};
use plugin_package::package::Package;
use store::plugin::Plugin;

/// A plugin that is installed or could be, with its desired state and package.
#[derive(Clone, Debug)]
pub struct InstalledPlugin {
    /// The desired state.
    pub plugin: Plugin,
    /// The package that would be loaded, or the fault that prevents it.
    pub package: Result<Option<Package>, LoadError>,
    /// Permissions that the newest package asks for and that were not granted.
    pub missing: BTreeSet<String>,
    /// The newest package, where it is not the one that would be loaded: it waits for an admin.
    pub waiting: Option<Package>,
    /// The version of the package that is not tried again by itself, if it is there.
    pub refused: Option<String>,
}

impl InstalledPlugin {
    /// Only what it stored is left: it was uninstalled, and there is no package of it.
    #[must_use]
    pub fn is_uninstalled(&self) -> bool {
        !self.plugin.enabled && self.plugin.sha256.is_none() && matches!(self.package, Ok(None))
    }
}

/// Every plugin, by name. Packages seen for the first time are registered.
///
/// # Errors
/// When the database or the plugin folder cannot be read.
pub async fn list(cx: &Cx) -> Result<Vec<InstalledPlugin>> {
    let packages = discover(cx).await?;
    let mut all = Vec::new();
    for plugin in store::plugin::list(&cx.db).await? {
        all.push(know(cx, plugin, &packages).await);
    }
    Ok(all)
}

/// The plugin called `name`.
///
/// # Errors
/// [`Error::Invalid`] when there is none; else as [`list`].
pub async fn find(cx: &Cx, name: &str) -> Result<InstalledPlugin> {
    let packages = discover(cx).await?;
    Ok(know(cx, desired::find(cx, name).await?, &packages).await)
}

pub(crate) async fn discover(cx: &Cx) -> Result<Packages> {
    let packages = source::packages(cx).await.map_err(|fault| of_fault(&fault))?;
    for package in packages.found.values() {
        if store::plugin::find(&cx.db, package.name()).await?.is_none() {
            desired::install(cx, package, true).await?;
        }
    }
    Ok(packages)
}

pub(crate) async fn know(cx: &Cx, plugin: Plugin, packages: &Packages) -> InstalledPlugin {
    let newest = packages.found.get(&plugin.name);
    let missing = newest.map(|package| pipeline::missing(&plugin, package)).unwrap_or_default();
    let package = source::choose(cx, &plugin, packages).await;
    let loaded = package.as_ref().ok().and_then(Option::as_ref).map(|package| &package.digest);
    let waits =
        |package: &&Package| Some(&package.digest) != loaded && plugin.refused.as_ref() != Some(&package.digest);
    let waiting = newest.filter(waits).cloned();
    let refused = plugin.refused.as_ref().and_then(|digest| packages.with_digest(&plugin.name, digest).next());
    let refused = refused.map(|package| package.manifest.plugin.version.clone());
    InstalledPlugin { plugin, package, missing, waiting, refused }
}

/// The newest package of `name`, accepted or not.
pub(super) async fn newest(cx: &Cx, name: &str) -> Result<Package> {
    let mut packages = discover(cx).await?;
    desired::find(cx, name).await?;
    if let Some(fault) = packages.broken.remove(name) {
        return Err(of_fault(&fault));
    }
    let none = || Error::invalid(format!("there is no package of {name}: put it into plugins.dir"));
    let package = packages.found.remove(name).ok_or_else(none)?;
    source::check_denied(cx, &package).map_err(|fault| of_fault(&fault))?;
    Ok(package)
}

/// Fails when `package` is not the one of the digest that an admin was shown.
pub(super) fn check_shown(package: &Package, shown: Option<&str>) -> Result<()> {
    match shown.filter(|shown| *shown != package.digest) {
        None => Ok(()),
        Some(_) => Err(Error::invalid(format!("the package of {} was replaced meanwhile: look again", package.name()))),
    }
}
