//! Which package a plugin is loaded from.
//!
//! A package in the plugin folder takes precedence over an embedded one of the same name, and of several in the folder the
//! one that the admin accepted, else the highest version. Outside of development a package in the folder is loaded
//! only when the admin accepted exactly that digest; a package that was rolled back is not loaded again automatically.

use std::collections::BTreeMap;

use rookery_plugin_host::{LoadError, Stage};

use crate::Cx;
use plugin_package::package::{self, Origin, Package};
use store::plugin::Plugin;

/// The available packages by name, and the faults of unreadable packages.
#[derive(Debug, Default)]
pub struct Packages {
    /// The readable packages: for each plugin the highest version in the folder, else the embedded one.
    pub found: BTreeMap<String, Package>,
    /// The others of the same names.
    pub others: Vec<Package>,
    /// The unreadable packages, by the name of the folder or file, which is nearly always the plugin's name.
    pub broken: BTreeMap<String, LoadError>,
}

impl Packages {
    /// The packages of this name and digest: one, unless it lies there several times.
    pub fn with_digest(&self, name: &str, digest: &str) -> impl Iterator<Item = &Package> {
        let others = self.others.iter().filter(move |package| package.name() == name);
        self.found.get(name).into_iter().chain(others).filter(move |package| package.digest == digest)
    }

    /// Adds the packages of the folder, by path.
    fn add(&mut self, read: Vec<Package>) {
        let mut newest: BTreeMap<String, Package> = BTreeMap::new();
        for package in read {
            let name = package.name().to_owned();
            let Some(known) = newest.remove(&name) else {
                newest.insert(name, package);
                continue;
            };
            if known.version() == package.version() && known.digest != package.digest {
                let stem = package.origin.stem().unwrap_or_else(|| name.clone());
                self.broken.insert(stem, twice(&package, &known));
            }
            // Of two that are the same, or of one version, the first.
            let (newer, older) = if package.version() > known.version() { (package, known) } else { (known, package) };
            newest.insert(name, newer);
            self.others.push(older);
        }
        for (name, package) in newest {
            self.others.extend(self.found.insert(name, package));
        }
    }
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
        let mut read = Vec::new();
        for found in found {
            match package::read(&found.path) {
                Err(fault) => {
                    let name = found.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                    packages.broken.insert(name, fault);
                }
                Ok(package) => read.push(package),
            }
        }
        packages.add(read);
        Ok(packages)
    };
    tokio::task::spawn_blocking(read).await.map_err(|error| LoadError::new(Stage::Read, error.to_string()))?
}

fn twice(read: &Package, first: &Package) -> LoadError {
    let name = read.name();
    let (first, other, version) = (&first.origin, &read.origin, &read.manifest.plugin.version);
    LoadError::new(Stage::Read, format!("{first} and {other} both hold {name} {version}: remove one"))
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
    let accepted_here = plugin.sha256.as_ref().and_then(|digest| packages.with_digest(name, digest).next());
    let chosen = [found, accepted_here].into_iter().flatten().find(|package| may_load(cx, plugin, package));
    let Some(chosen) = chosen else {
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
        Some(digest) => rollback_copy(cx, &plugin.name, digest).await,
        None => Ok(None),
    }
}

fn may_load(cx: &Cx, plugin: &Plugin, package: &Package) -> bool {
    let refused = plugin.refused.as_ref() == Some(&package.digest);
    let accepted = plugin.sha256.as_ref() == Some(&package.digest);
    let trusted = package.origin == Origin::Embedded || cx.config.server.development;
    !refused && (accepted || trusted)
}

/// The stored copy of a package.
///
/// # Errors
/// At [`Stage::Read`] when it cannot be read.
pub(super) async fn rollback_copy(cx: &Cx, name: &str, digest: &str) -> Result<Option<Package>, LoadError> {
    let (folder, name, digest) = (cx.config.plugins.cache_dir.join("packages"), name.to_owned(), digest.to_owned());
    let read = tokio::task::spawn_blocking(move || package::find_rollback_copy(&folder, &name, &digest)).await;
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
