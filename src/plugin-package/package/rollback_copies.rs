//! Copies of packages that were active, so that one can roll back when the original is gone or broken.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use rookery_plugin_host::LoadError;

use config::folder::TrustedFolder;

use super::folder::read_bounded;
use super::{Origin, Package, unpack, unreadable};

/// Copies kept per plugin.
const KEPT: usize = 5;

/// Stores a copy of a package in `folder`: the files as they were read. Blocks.
pub fn store_rollback_copy(folder: &Path, package: &Package) -> io::Result<()> {
    let path = path(folder, package.name(), &package.digest);
    if path.exists() {
        return Ok(());
    }
    let trusted = TrustedFolder::create(folder)?;
    let mut files: BTreeMap<&str, &[u8]> =
        package.files.iter().map(|(path, bytes)| (path.as_str(), &**bytes)).collect();
    files.insert(&package.manifest.plugin.wasm, &package.wasm);
    let mut builder = tar::Builder::new(Vec::new());
    for (path, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o600);
        builder.append_data(&mut header, path, content)?;
    }
    trusted.replace(path.file_name().unwrap_or_default(), &builder.into_inner()?)?;
    forget_oldest(folder, package.name())
}

/// The copy with this digest, if there is one. Blocks.
///
/// # Errors
/// When it cannot be read, or its content does not match the digest.
pub fn find_rollback_copy(folder: &Path, name: &str, digest: &str) -> Result<Option<Package>, LoadError> {
    let bytes = match read_bounded(&path(folder, name, digest)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        bytes => bytes.map_err(|error| unreadable(&Origin::RollbackCopy, &error.to_string()))?,
    };
    let package = unpack(&bytes, Origin::RollbackCopy)?;
    if package.digest != digest || package.name() != name {
        return Err(unreadable(&Origin::RollbackCopy, &format!("the copy of {name} was changed: remove it")));
    }
    Ok(Some(package))
}

/// The digests of the copies of `name`, the newest copy first; none where nothing can be read. Blocks.
#[must_use]
pub fn kept_digests(folder: &Path, name: &str) -> Vec<String> {
    let mut copies = copies(folder, name).unwrap_or_default();
    copies.sort();
    copies.into_iter().rev().filter_map(|(_, path)| digest_of(&path, name)).collect()
}

/// Deletes all copies of `name`. Blocks.
pub fn forget(folder: &Path, name: &str) -> io::Result<()> {
    match copies(folder, name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        copies => remove(folder, copies?.iter()),
    }
}

fn remove<'a>(folder: &Path, mut copies: impl Iterator<Item = &'a (SystemTime, PathBuf)>) -> io::Result<()> {
    let folder = TrustedFolder::open(folder)?;
    copies.try_for_each(|(_, path)| folder.remove(path.file_name().unwrap_or_default()))
}

/// The copies of `name`, and when each was made.
fn copies(folder: &Path, name: &str) -> io::Result<Vec<(SystemTime, PathBuf)>> {
    let mut copies = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if digest_of(&entry.path(), name).is_some() {
            copies.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    Ok(copies)
}

/// The digest in the file name of a copy of `name`.
fn digest_of(path: &Path, name: &str) -> Option<String> {
    let file = path.file_name()?.to_str()?;
    let digest = file.strip_prefix(name)?.strip_prefix('-')?.strip_suffix(".plugin")?;
    (digest.len() == 64).then(|| digest.to_owned())
}

fn path(folder: &Path, name: &str, digest: &str) -> PathBuf {
    folder.join(format!("{name}-{digest}.plugin"))
}

fn forget_oldest(folder: &Path, name: &str) -> io::Result<()> {
    let mut copies = copies(folder, name)?;
    copies.sort();
    let surplus = copies.len().saturating_sub(KEPT);
    remove(folder, copies.iter().take(surplus))
}
