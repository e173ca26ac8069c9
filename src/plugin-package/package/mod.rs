//! A package: a plugin's manifest, its component and the files that the manifest names.
//!
//! Read from the server binary, from a folder or from a `.plugin` file (a tar). Reads are consistent: files that change
//! during the read are refused, links are not followed, and no path leaves the package. A package is identified by its
//! digest: touching a file does not make another package.

mod embedded;
mod folder;
mod rollback_copies;

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

use rookery_plugin_host::{LoadError, Stage};
use serde_json::Value;

use crate::manifest::{self, Manifest};
use embedded::EMBEDDED;

pub use folder::{Found, PACKED_MAX, find, read, read_bounded};
pub use rollback_copies::{find_rollback_copy, forget, kept_digests, store_rollback_copy};

/// The file name of the manifest.
pub const MANIFEST: &str = "plugin.toml";
/// Largest component, in bytes.
const WASM_MAX: usize = 32 << 20;
/// Largest total of the other files, in bytes.
const FILES_MAX: usize = 8 << 20;
/// Most files.
const COUNT_MAX: usize = 512;

/// Where a package was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Embedded in the server.
    Embedded,
    Folder(PathBuf),
    /// A `.plugin` file.
    File(PathBuf),
    /// A copy that the server stored of a package that was active before.
    RollbackCopy,
}

impl Origin {
    /// The name of the folder, or of the file without its ending.
    #[must_use]
    pub fn stem(&self) -> Option<String> {
        match self {
            Self::Folder(path) | Self::File(path) => Some(path.file_stem()?.to_string_lossy().into_owned()),
            Self::Embedded | Self::RollbackCopy => None,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded => f.write_str("embedded"),
            Self::Folder(path) | Self::File(path) => write!(f, "{}", path.display()),
            Self::RollbackCopy => f.write_str("kept"),
        }
    }
}

/// A package that was read and whose manifest is valid.
#[derive(Clone, Debug)]
pub struct Package {
    /// The parsed manifest.
    pub manifest: Manifest,
    pub wasm: Arc<[u8]>,
    /// SHA-256 of the component, hexadecimal.
    pub sha256: String,
    /// SHA-256 of everything, hexadecimal: packages with the same digest are the same.
    pub digest: String,
    /// Every other file by path, the manifest included.
    pub files: BTreeMap<String, Arc<[u8]>>,
    /// Where it was read.
    pub origin: Origin,
}

impl Package {
    /// A package of these files, `plugin.toml` among them.
    ///
    /// # Errors
    /// At [`Stage::Read`] for files that are missing or too large, or a component that does not match the manifest's
    /// checksum; else as [`manifest::parse`].
    pub fn new(mut files: BTreeMap<String, Arc<[u8]>>, origin: Origin) -> Result<Self, LoadError> {
        let text = files.get(MANIFEST).cloned().ok_or_else(|| unreadable(&origin, "it has no plugin.toml"))?;
        let text = std::str::from_utf8(&text).map_err(|_| unreadable(&origin, "plugin.toml is not UTF-8"))?;
        let manifest = manifest::parse(text)?;
        let name = &manifest.plugin.name;
        let file = &manifest.plugin.wasm;
        let wasm = files.remove(file).ok_or_else(|| {
            unreadable(&origin, &format!("there is no {file}, which plugin.toml of {name} names: build it first"))
        })?;
        check_sizes(name, &wasm, &files)?;
        let sha256 = crypto::sha256_hex(&wasm);
        if let Some(wanted) = manifest.plugin.sha256.as_ref().filter(|wanted| **wanted != sha256) {
            let problem = format!(
                "{file} of {name} has the checksum {} and plugin.toml wants {}: pack it again",
                &sha256[..12],
                &wanted[..12]
            );
            return Err(LoadError::new(Stage::Read, problem));
        }
        let digest = digest(&sha256, &files);
        let package = Self { manifest, wasm, sha256, digest, files, origin };
        package.check_schemas()?;
        Ok(package)
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.manifest.plugin.name
    }

    /// Its version. One that does not follow <https://semver.org> to the letter is older than every one that does.
    #[must_use]
    pub fn version(&self) -> semver::Version {
        self.manifest.plugin.version.parse().unwrap_or_else(|_| semver::Version::parse("0.0.0-0").expect("a version"))
    }

    /// The JSON Schema of the admin's configuration, if there is one.
    #[must_use]
    pub fn config_schema(&self) -> Option<Value> {
        self.manifest.config.as_ref().and_then(|config| self.json(&config.schema).ok())
    }

    /// The JSON Schema of each account's settings, if there is one.
    #[must_use]
    pub fn settings_schema(&self) -> Option<Value> {
        self.manifest.settings.as_ref().and_then(|settings| self.json(&settings.schema).ok())
    }

    /// The text of a file.
    ///
    /// # Errors
    /// At [`Stage::Read`] when it is missing or not UTF-8.
    pub fn text(&self, path: &str) -> Result<&str, LoadError> {
        let name = self.name();
        let missing = || LoadError::new(Stage::Read, format!("{name}: there is no {path}, which plugin.toml names"));
        let bytes = self.files.get(path).ok_or_else(missing)?;
        std::str::from_utf8(bytes).map_err(|_| LoadError::new(Stage::Read, format!("{name}: {path} is not UTF-8")))
    }

    fn json(&self, path: &str) -> Result<Value, LoadError> {
        serde_json::from_str(self.text(path)?)
            .map_err(|error| LoadError::new(Stage::Validate, format!("{}: {path} is no JSON: {error}", self.name())))
    }

    fn check_schemas(&self) -> Result<(), LoadError> {
        for schema in [&self.manifest.config, &self.manifest.settings].into_iter().flatten() {
            let path = &schema.schema;
            manifest::check_schema(&self.json(path)?)
                .map_err(|problem| LoadError::new(Stage::Validate, format!("{}: {path}: {problem}", self.name())))?;
        }
        if let Some(sql) = &self.manifest.sql {
            self.text(&sql.statements)?;
        }
        Ok(())
    }
}

/// The packages embedded in the server, by name.
#[must_use]
pub fn embedded() -> Vec<(&'static str, Result<Package, LoadError>)> {
    EMBEDDED.iter().map(|(name, files)| (*name, embed(files))).collect()
}

fn embed(files: &[(&str, &'static [u8])]) -> Result<Package, LoadError> {
    let files = files.iter().map(|(path, bytes)| ((*path).to_owned(), Arc::from(*bytes))).collect();
    Package::new(files, Origin::Embedded)
}

/// The package in the bytes of a `.plugin` file.
///
/// # Errors
/// At [`Stage::Read`] for bytes that are not a tar archive, and for an archive with links or paths outside of it; else
/// as [`Package::new`].
pub fn unpack(bytes: &[u8], origin: Origin) -> Result<Package, LoadError> {
    let fault = |problem: &str| unreadable(&origin, problem);
    let mut files = BTreeMap::new();
    let mut left = WASM_MAX + FILES_MAX;
    let mut archive = tar::Archive::new(bytes);
    let entries = archive.entries().map_err(|_| fault("it is no .plugin file (a tar)"))?;
    for entry in entries {
        let mut entry = entry.map_err(|_| fault("it is no .plugin file (a tar), or cut off"))?;
        let path = entry.path().ok().and_then(|path| path.to_str().map(str::to_owned));
        let path = path.ok_or_else(|| fault("it has a file whose name is not UTF-8"))?;
        match entry.header().entry_type() {
            tar::EntryType::Directory => continue,
            tar::EntryType::Regular => {}
            _ => return Err(fault(&format!("{path} is neither a file nor a folder"))),
        }
        if !is_inside(&path) {
            return Err(fault(&format!("the path {path:?} leaves the package")));
        }
        let mut content = Vec::new();
        let read = entry.by_ref().take(left as u64 + 1).read_to_end(&mut content);
        read.map_err(|_| fault("it is cut off"))?;
        left = left.checked_sub(content.len()).ok_or_else(|| fault("it is too large"))?;
        if files.insert(path.clone(), Arc::from(content)).is_some() {
            return Err(fault(&format!("it has {path} twice")));
        }
        if files.len() > COUNT_MAX {
            return Err(fault(&format!("it has more than {COUNT_MAX} files")));
        }
    }
    Package::new(files, origin)
}

/// True for a relative path of plain names, without `..`.
fn is_inside(path: &str) -> bool {
    !path.is_empty() && path.split('/').all(|part| !matches!(part, "" | "." | "..")) && !path.contains(['\\', '\0'])
}

fn check_sizes(name: &str, wasm: &[u8], files: &BTreeMap<String, Arc<[u8]>>) -> Result<(), LoadError> {
    let fault = |problem: String| Err(LoadError::new(Stage::Read, problem));
    if wasm.len() > WASM_MAX {
        return fault(format!("the component of {name} is larger than {} MiB", WASM_MAX >> 20));
    }
    if files.values().map(|file| file.len()).sum::<usize>() > FILES_MAX || files.len() > COUNT_MAX {
        return fault(format!("the files of {name} are more than {COUNT_MAX} or larger than {} MiB", FILES_MAX >> 20));
    }
    match files.keys().find(|path| path.ends_with(".cwasm")) {
        Some(path) => fault(format!("{name}: {path} is compiled already, which is never accepted: leave it out")),
        None => Ok(()),
    }
}

/// Lengths are hashed as well, so that no two packages yield the same input.
fn digest(sha256: &str, files: &BTreeMap<String, Arc<[u8]>>) -> String {
    let mut all = format!("{sha256}\n");
    for (path, content) in files {
        all.push_str(&format!("{} {path} {}\n", path.len(), crypto::sha256_hex(content)));
    }
    crypto::sha256_hex(all.as_bytes())
}

fn unreadable(origin: &Origin, problem: &str) -> LoadError {
    LoadError::new(Stage::Read, format!("the package {origin}: {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLUGIN: &str = "[plugin]\nname = \"notes\"\nversion = \"1.0.0\"\napi = \"0.1\"\ntitle = \"Notes\"\n\
                          license = \"MIT\"\nwasm = \"notes.wasm\"\n";

    fn files(with: &[(&str, &str)]) -> BTreeMap<String, Arc<[u8]>> {
        let own = [("plugin.toml", PLUGIN), ("notes.wasm", "\0asm")];
        own.iter().chain(with).map(|(path, text)| ((*path).to_owned(), Arc::from(text.as_bytes()))).collect()
    }

    fn tar(files: &BTreeMap<String, Arc<[u8]>>) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (path, content) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            // As a hostile archive would: the crate itself refuses to write such paths.
            header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_cksum();
            builder.append(&header, &content[..]).unwrap();
        }
        builder.into_inner().unwrap()
    }

    #[test]
    fn package_digest_is_independent_of_wrapping() {
        let folder = Package::new(files(&[]), Origin::Embedded).unwrap();
        let packed = unpack(&tar(&files(&[])), Origin::RollbackCopy).unwrap();
        assert_eq!(folder.digest, packed.digest);
        let other = Package::new(files(&[("sql/queries.sql", "")]), Origin::Embedded).unwrap();
        assert_ne!(folder.digest, other.digest);
        assert_eq!(folder.sha256, other.sha256);
    }

    #[test]
    fn escaping_or_truncated_package_is_refused() {
        for (path, wanted) in
            [("../evil", "leaves the package"), ("/etc/evil", "leaves the package"), ("a//b", "leaves")]
        {
            let fault = unpack(&tar(&files(&[(path, "")])), Origin::RollbackCopy).unwrap_err();
            assert!(fault.message.contains(wanted), "{fault}");
        }
        let whole = tar(&files(&[]));
        let fault = unpack(&whole[..700], Origin::RollbackCopy).unwrap_err();
        assert!(fault.message.contains("cut off"), "{fault}");
        assert!(unpack(b"", Origin::RollbackCopy).unwrap_err().message.contains("no plugin.toml"));
        let fault = Package::new(files(&[("notes.cwasm", "")]), Origin::RollbackCopy).unwrap_err();
        assert!(fault.message.contains("never accepted"), "{fault}");
    }

    #[test]
    fn component_other_than_packed_is_refused() {
        let pinned = format!("{PLUGIN}sha256 = \"{}\"\n", "0".repeat(64));
        let mut files = files(&[]);
        files.insert("plugin.toml".to_owned(), Arc::from(pinned.as_bytes()));
        let fault = Package::new(files, Origin::Embedded).unwrap_err();
        assert!(fault.message.contains("plugin.toml wants 000000000000"), "{fault}");
    }
}
