//! An author's folder: manifest, sources and what becomes the package.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::output::Failure;
use crate::plugins::manifest::{self, Manifest};
use crate::plugins::package::{Origin, Package};

/// What is no part of a package, whatever the language.
const LEFT_OUT: [&str; 9] = [
    "src",
    "target",
    "node_modules",
    "__pycache__",
    "Cargo.toml",
    "Cargo.lock",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
];

/// Endings of sources.
const SOURCES: [&str; 8] = ["rs", "c", "h", "go", "js", "ts", "py", "wat"];

/// The folder of a plugin.
#[derive(Clone, Debug)]
pub(super) struct Project {
    pub(super) folder: PathBuf,
    pub(super) manifest: Manifest,
}

impl Project {
    /// Reads the manifest.
    ///
    /// # Errors
    /// When there is none or it is wrong, in one sentence.
    pub(super) fn open(folder: &Path) -> Result<Self, Failure> {
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

    pub(super) fn name(&self) -> &str {
        &self.manifest.plugin.name
    }

    /// Where the author's tools keep what they make.
    pub(super) fn work(&self) -> PathBuf {
        self.folder.join("target/plugin")
    }

    /// The files of the package: everything but sources and what tools make.
    pub(super) fn files(&self) -> Result<BTreeMap<String, Arc<[u8]>>, Failure> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).map_err(Failure::new)? {
                let path = entry.map_err(Failure::new)?.path();
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if name.starts_with('.')
                    || LEFT_OUT.contains(&name.as_str())
                    || name.ends_with(".plugin")
                    || is_source(&path)
                {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let relative = path.strip_prefix(&self.folder).map_err(Failure::new)?;
                let relative = relative.to_string_lossy().replace('\\', "/");
                files.insert(relative, Arc::from(std::fs::read(&path).map_err(Failure::new)?));
            }
        }
        Ok(files)
    }

    /// The package as it stands.
    ///
    /// # Errors
    /// When it was not built or is wrong.
    pub(super) fn package(&self) -> Result<Package, Failure> {
        let wasm = self.folder.join(&self.manifest.plugin.wasm);
        if !wasm.exists() {
            let file = &self.manifest.plugin.wasm;
            return Err(Failure::new(format!("there is no {file} yet: run `rookery plugin build`")));
        }
        Package::new(self.files()?, Origin::Folder(self.folder.clone())).map_err(Failure::new)
    }
}

fn is_source(path: &Path) -> bool {
    path.is_file()
        && path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| SOURCES.contains(&ending))
}

/// Writes a package's files into `folder`, which is replaced at once.
pub(super) fn write(package: &Package, folder: &Path) -> Result<(), Failure> {
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
