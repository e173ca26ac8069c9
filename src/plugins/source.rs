//! Which package a plugin is loaded from.
//!
//! One in the folder of plugins stands before one of the same name that comes with the server. Outside of development a
//! package in the folder is loaded only when the admin accepted it, exactly so; one that was rolled back from is not
//! loaded again by itself.

use std::collections::BTreeMap;

use rookery_plugin_host::{Fault, Stage};

use super::package::{self, Origin, Package};
use crate::app::App;
use store::plugin::Plugin;

/// The packages there are, by name, and what is wrong with those that are none.
#[derive(Debug, Default)]
pub struct Packages {
    /// Those that can be read.
    pub found: BTreeMap<String, Package>,
    /// Those that cannot: by the name of the folder or file, which is hardly ever another than the plugin's.
    pub broken: BTreeMap<String, Fault>,
}

/// Reads every package, off the runtime's threads.
///
/// # Errors
/// At [`Stage::Read`] when the folder of plugins cannot be read.
pub async fn packages(app: &App) -> Result<Packages, Fault> {
    let folder = app.config.plugins.dir.clone();
    let read = move || {
        let mut packages = Packages::default();
        for (name, embedded) in package::embedded() {
            match embedded {
                Ok(package) => drop(packages.found.insert(name.to_owned(), package)),
                Err(fault) => drop(packages.broken.insert(name.to_owned(), fault)),
            }
        }
        let found = package::find(&folder).map_err(|error| {
            Fault::new(Stage::Read, format!("the folder {} (plugins.dir) cannot be read: {error}", folder.display()))
        })?;
        let mut from_folder: BTreeMap<String, Package> = BTreeMap::new();
        for found in found {
            let name = found.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            match package::read(&found.path) {
                Err(fault) => drop(packages.broken.insert(name, fault)),
                Ok(read) => match from_folder.get(read.name()) {
                    Some(first) => drop(packages.broken.insert(name, twice(&read, first))),
                    None => drop(from_folder.insert(read.name().to_owned(), read)),
                },
            }
        }
        packages.found.append(&mut from_folder);
        Ok(packages)
    };
    tokio::task::spawn_blocking(read).await.map_err(|error| Fault::new(Stage::Read, error.to_string()))?
}

fn twice(read: &Package, first: &Package) -> Fault {
    let name = read.name();
    Fault::new(Stage::Read, format!("{} and {} both hold the plugin {name}: remove one", first.origin, read.origin))
}

/// The package that `plugin` is to be loaded from; none when there is none of its name.
///
/// # Errors
/// At [`Stage::Read`] for one that cannot be read, at [`Stage::Grants`] for one that nobody accepted.
pub async fn choose(app: &App, plugin: &Plugin, packages: &Packages) -> Result<Option<Package>, Fault> {
    let name = &plugin.name;
    if let Some(fault) = packages.broken.get(name) {
        return Err(fault.clone());
    }
    let found = packages.found.get(name);
    let Some(chosen) = found.filter(|package| may_load(app, plugin, package)) else {
        return match (accepted(app, plugin).await?, found) {
            (Some(kept), _) => Ok(Some(kept)),
            (None, None) => Ok(None),
            (None, Some(package)) => Err(unaccepted(plugin, package)),
        };
    };
    Ok(Some(chosen.clone()))
}

/// The copy of the package of `plugin` that the admin accepted, if there is one.
///
/// # Errors
/// At [`Stage::Read`] when it cannot be read.
pub async fn accepted(app: &App, plugin: &Plugin) -> Result<Option<Package>, Fault> {
    match &plugin.sha256 {
        Some(digest) => kept(app, &plugin.name, digest).await,
        None => Ok(None),
    }
}

fn may_load(app: &App, plugin: &Plugin, package: &Package) -> bool {
    let refused = plugin.refused.as_ref() == Some(&package.digest);
    let accepted = plugin.sha256.as_ref() == Some(&package.digest);
    let trusted = package.origin == Origin::Embedded || app.config.server.development;
    !refused && (accepted || trusted)
}

async fn kept(app: &App, name: &str, digest: &str) -> Result<Option<Package>, Fault> {
    let (folder, name, digest) = (app.config.plugins.cache_dir.join("packages"), name.to_owned(), digest.to_owned());
    let read = tokio::task::spawn_blocking(move || package::kept(&folder, &name, &digest)).await;
    read.map_err(|error| Fault::new(Stage::Read, error.to_string()))?
}

fn unaccepted(plugin: &Plugin, package: &Package) -> Fault {
    let (name, digest) = (&plugin.name, &package.digest[..12]);
    let accepted = plugin.sha256.as_ref().map_or("none", |digest| &digest[..12]);
    Fault::new(
        Stage::Grants,
        format!(
            "the package of {name} in {} is {digest} and the admin accepted {accepted}: `rookery plugin reload {name}` \
             accepts this one",
            package.origin
        ),
    )
}

/// Refuses what the configuration denies.
///
/// # Errors
/// At [`Stage::Grants`].
pub fn check_denied(app: &App, package: &Package) -> Result<(), Fault> {
    let denied = |sum: &String| *sum == package.digest || *sum == package.sha256;
    match app.config.plugins.denied.iter().find(|sum| denied(sum)) {
        Some(sum) => {
            let name = package.name();
            Err(Fault::new(Stage::Grants, format!("{name}: plugins.denied names {sum}: use another version of it")))
        }
        None => Ok(()),
    }
}
