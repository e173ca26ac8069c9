//! The folder of a plugin project: its manifest, and the files that make up the package.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{routes, staleness};
use plugin_package::manifest::{self, Manifest};
use plugin_package::package::{Origin, Package};
use terminal::Failure;

/// Excluded from packages in every language.
const LEFT_OUT: [&str; 12] = [
    "src",
    "target",
    "node_modules",
    "venv",
    "__pycache__",
    "Cargo.toml",
    "Cargo.lock",
    "package.json",
    "package-lock.json",
    "pyproject.toml",
    "pyrightconfig.json",
    "tsconfig.json",
];

/// Extensions of source files, which are excluded too.
const SOURCES: [&str; 8] = ["rs", "c", "h", "go", "js", "ts", "py", "wat"];

/// The beginnings of files at the top that are packed although the manifest does not name them.
const ALWAYS: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "README"];

/// Endings of packages, their signatures and keys, which no package may contain: a secret key least of all.
const KEYS: [&str; 4] = [".plugin", ".minisig", ".key", ".pub"];

/// A plugin project.
#[derive(Clone, Debug)]
pub(crate) struct Project {
    pub(crate) folder: PathBuf,
    pub(crate) manifest: Manifest,
}

impl Project {
    /// As [`Project::open`], for a build: the routes of a plugin in Rust are written into the manifest first.
    pub(crate) fn open_sources(folder: &Path) -> Result<Self, Failure> {
        routes::write(folder)?;
        Self::open(folder)
    }

    /// Reads the manifest.
    ///
    /// # Errors
    /// When the manifest is missing or invalid, in one sentence.
    pub(crate) fn open(folder: &Path) -> Result<Self, Failure> {
        let folder = std::path::absolute(folder).map_err(Failure::new)?;
        let path = folder.join("plugin.toml");
        let text = std::fs::read_to_string(&path).map_err(|error| {
            Failure::usage(format!(
                "{}: {error}: run this in a plugin's folder, or begin one with `rookery plugin new`",
                path.display()
            ))
        })?;
        Ok(Self { manifest: manifest::parse(&text).map_err(Failure::new)?, folder })
    }

    pub(crate) fn name(&self) -> &str {
        &self.manifest.plugin.name
    }

    /// The folder for build output of these commands.
    pub(crate) fn work(&self) -> PathBuf {
        self.folder.join("target/plugin")
    }

    /// The files of the package: files that the manifest names or includes, and licence files.
    ///
    /// # Errors
    /// When one that is included is not there.
    pub(crate) fn files(&self) -> Result<BTreeMap<String, Arc<[u8]>>, Failure> {
        let mut files = BTreeMap::new();
        for path in self.paths()? {
            let bytes = std::fs::read(self.folder.join(&path)).map_err(Failure::new)?;
            files.insert(path, Arc::from(bytes));
        }
        if let Some(missing) = self.included().iter().find(|named| !files.keys().any(|path| is_within(path, named))) {
            return Err(Failure::new(format!("build.include names {missing}, and no file of the folder is in it")));
        }
        Ok(files)
    }

    /// The files in the folder that are neither packed nor sources, hidden or made by a build.
    pub(crate) fn left_out(&self) -> Result<Vec<String>, Failure> {
        let all = self.walk(|path| !is_source(path))?;
        Ok(all.into_iter().filter(|path| !self.packs(path)).collect())
    }

    fn paths(&self) -> Result<Vec<String>, Failure> {
        let included = self.included();
        let named = |path: &str| included.iter().any(|named| is_within(path, named));
        let all = self.walk(|_| true)?;
        Ok(all.into_iter().filter(|path| self.packs(path) && (named(path) || !is_source(Path::new(path)))).collect())
    }

    fn included(&self) -> &[String] {
        self.manifest.build.as_ref().map_or(&[], |build| &build.include)
    }

    /// True for a file that belongs to the package.
    fn packs(&self, path: &str) -> bool {
        let manifest = &self.manifest;
        let files = [
            manifest.sql.as_ref().map(|sql| &sql.statements),
            manifest.config.as_ref().map(|config| &config.schema),
            manifest.settings.as_ref().map(|settings| &settings.schema),
            Some(&manifest.plugin.wasm),
        ];
        let mut named = files.into_iter().flatten().chain(manifest.tests.iter().map(|test| &test.file));
        let migrations = manifest.sql.as_ref().is_some_and(|sql| is_within(path, &sql.migrations));
        path == "plugin.toml"
            || migrations
            || named.any(|file| file == path)
            || ALWAYS.iter().any(|begin| !path.contains('/') && path.to_ascii_uppercase().starts_with(begin))
            || self.included().iter().any(|named| is_within(path, named))
    }

    /// The files of the folder of which `takes` is true, sorted: no hidden ones, no keys, and nothing that a build makes.
    fn walk(&self, takes: impl Fn(&Path) -> bool) -> Result<Vec<String>, Failure> {
        let (mut files, mut folders) = (Vec::new(), vec![self.folder.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).map_err(Failure::new)? {
                let path = entry.map_err(Failure::new)?.path();
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let left_out = name.starts_with('.') || LEFT_OUT.contains(&name.as_str());
                if left_out || KEYS.iter().any(|ending| name.ends_with(ending)) {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path);
                } else if takes(&path) {
                    let relative = path.strip_prefix(&self.folder).map_err(Failure::new)?;
                    files.push(relative.to_string_lossy().replace('\\', "/"));
                }
            }
        }
        files.sort();
        Ok(files)
    }

    /// The sources of the component: all files but the output of a build, and the tests.
    pub(crate) fn sources(&self) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
        let (mut files, mut folders) = (BTreeMap::new(), vec![self.folder.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).map_err(Failure::new)? {
                let path = entry.map_err(Failure::new)?.path();
                let relative = path.strip_prefix(&self.folder).map_err(Failure::new)?;
                let relative = relative.to_string_lossy().replace('\\', "/");
                let tested = self.manifest.tests.iter().any(|test| test.file == relative);
                if staleness::is_made(&path) || tested || relative == self.manifest.plugin.wasm {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.insert(relative, std::fs::read(&path).map_err(Failure::new)?);
                }
            }
        }
        Ok(files)
    }

    /// False for a package that was built elsewhere.
    pub(crate) fn has_sources(&self) -> Result<bool, Failure> {
        Ok(self.sources()?.keys().any(|path| is_source(&self.folder.join(path))))
    }

    /// The package in its current state.
    ///
    /// # Errors
    /// When it has not been built or is invalid.
    pub(crate) fn package(&self) -> Result<Package, Failure> {
        let wasm = self.folder.join(&self.manifest.plugin.wasm);
        if !wasm.exists() {
            let file = &self.manifest.plugin.wasm;
            return Err(Failure::new(format!("there is no {file} yet: run `rookery plugin build`")));
        }
        Package::new(self.files()?, Origin::Folder(self.folder.clone())).map_err(Failure::new)
    }
}

/// True for the file or folder `named`, and for its contents.
fn is_within(path: &str, named: &str) -> bool {
    let named = named.trim_end_matches('/');
    path.strip_prefix(named).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn is_source(path: &Path) -> bool {
    !path.is_dir()
        && path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| SOURCES.contains(&ending))
}

/// Writes a package to `folder`, replacing it by rename.
pub(crate) fn write(package: &Package, folder: &Path) -> Result<(), Failure> {
    let beside = folder.with_extension("new");
    let _ = std::fs::remove_dir_all(&beside);
    let files = package.files.iter().map(|(path, bytes)| (path.as_str(), bytes));
    for (path, bytes) in files.chain([(package.manifest.plugin.wasm.as_str(), &package.wasm)]) {
        let path = beside.join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(&beside)).map_err(Failure::new)?;
        std::fs::write(path, bytes).map_err(Failure::new)?;
    }
    let _ = std::fs::remove_dir_all(folder);
    std::fs::rename(&beside, folder).map_err(Failure::new)
}
