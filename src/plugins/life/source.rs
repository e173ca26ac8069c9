//! Which package a plugin is loaded from.
//!
//! A package in the plugin folder takes precedence over an embedded one of the same name. Outside of development a
//! package in the folder is loaded only when the admin accepted exactly that digest; a package that was rolled back is
//! not loaded again automatically.

use std::collections::BTreeMap;

use rookery_plugin_host::{LoadError, Stage};

use crate::Cx;
use crate::package::{self, Origin, Package};
use store::plugin::Plugin;

/// The available packages by name, and the faults of those that cannot be read.
#[derive(Debug, Default)]
pub struct Packages {
    /// Those that can be read.
    pub found: BTreeMap<String, Package>,
    /// Those that cannot, by the name of the folder or file, which is nearly always that of the plugin.
    pub broken: BTreeMap<String, LoadError>,
}

/// Reads every package, on a blocking thread.
///
/// # Errors
/// At [`Stage::Read`] when the folder of plugins cannot be read.
pub async fn packages(cx: &Cx) -> Result<Packages, LoadError> {
    let folder = cx.config.plugins.dir.clone();
    let read = move || {
        let mut packages = Packages::default();
        for (name, embedded) in package::embedded() {
            match embedded {
                Ok(package) => drop(packages.found.insert(name.to_owned(), package)),
                Err(fault) => drop(packages.broken.insert(name.to_owned(), fault)),
            }
        }
        let found = package::find(&folder).map_err(|error| {
            LoadError::new(
                Stage::Read,
                format!("the folder {} (plugins.dir) cannot be read: {error}", folder.display()),
            )
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
    tokio::task::spawn_blocking(read).await.map_err(|error| LoadError::new(Stage::Read, error.to_string()))?
}

fn twice(read: &Package, first: &Package) -> LoadError {
    let name = read.name();
    LoadError::new(Stage::Read, format!("{} and {} both hold the plugin {name}: remove one", first.origin, read.origin))
}

/// The package that `plugin` is loaded from; none when there is no package of that name.
///
/// # Errors
/// At [`Stage::Read`] for a package that cannot be read, at [`Stage::Grants`] for one that no admin accepted.
pub async fn choose(cx: &Cx, plugin: &Plugin, packages: &Packages) -> Result<Option<Package>, LoadError> {
    let name = &plugin.name;
    if let Some(fault) = packages.broken.get(name) {
        return Err(fault.clone());
    }
    let found = packages.found.get(name);
    let Some(chosen) = found.filter(|package| may_load(cx, plugin, package)) else {
        return match (accepted(cx, plugin).await?, found) {
            (Some(kept), _) => Ok(Some(kept)),
            (None, None) => Ok(None),
            (None, Some(package)) => Err(unaccepted(plugin, package)),
        };
    };
    Ok(Some(chosen.clone()))
}

/// The stored copy of the package that the admin accepted for `plugin`, if there is one.
///
/// # Errors
/// At [`Stage::Read`] when it cannot be read.
pub async fn accepted(cx: &Cx, plugin: &Plugin) -> Result<Option<Package>, LoadError> {
    match &plugin.sha256 {
        Some(digest) => kept(cx, &plugin.name, digest).await,
        None => Ok(None),
    }
}

fn may_load(cx: &Cx, plugin: &Plugin, package: &Package) -> bool {
    let refused = plugin.refused.as_ref() == Some(&package.digest);
    let accepted = plugin.sha256.as_ref() == Some(&package.digest);
    let trusted = package.origin == Origin::Embedded || cx.config.server.development;
    !refused && (accepted || trusted)
}

async fn kept(cx: &Cx, name: &str, digest: &str) -> Result<Option<Package>, LoadError> {
    let (folder, name, digest) = (cx.config.plugins.cache_dir.join("packages"), name.to_owned(), digest.to_owned());
    let read = tokio::task::spawn_blocking(move || package::kept(&folder, &name, &digest)).await;
    read.map_err(|error| LoadError::new(Stage::Read, error.to_string()))?
}

fn unaccepted(plugin: &Plugin, package: &Package) -> LoadError {
    let (name, digest) = (&plugin.name, &package.digest[..12]);
    if plugin.refused.as_ref() == Some(&package.digest) {
        let sentence = format!(
            "the package of {name} in {}, {digest}, failed before and is not tried again by itself: change it, or \
             `rookery plugin reload {name}` tries it",
            package.origin
        );
        return LoadError::new(Stage::Grants, sentence);
    }
    let accepted = plugin.sha256.as_ref().map_or("none", |digest| &digest[..12]);
    LoadError::new(
        Stage::Grants,
        format!(
            "the package of {name} in {} is {digest} and the admin accepted {accepted}: `rookery plugin reload {name}` \
             accepts this one",
            package.origin
        ),
    )
}

/// Refuses a package that asks for permissions the configuration denies.
///
/// # Errors
/// At [`Stage::Grants`].
pub fn check_denied(cx: &Cx, package: &Package) -> Result<(), LoadError> {
    let denied = |sum: &String| *sum == package.digest || *sum == package.sha256;
    match cx.config.plugins.denied.iter().find(|sum| denied(sum)) {
        Some(sum) => {
            let name = package.name();
            Err(LoadError::new(Stage::Grants, format!("{name}: plugins.denied names {sum}: use another version of it")))
        }
        None => Ok(()),
    }
}
