//! The AOT cache: compiled components on disk.
//!
//! Reached from `compile`. A file is machine code that will be run, so each carries a keyed MAC (HMAC-SHA256) over its
//! name and its bytes, and one whose MAC, owner or mode is wrong is never deserialised. Whatever is wrong with a file,
//! the component is compiled again. Files are written under a temporary name and renamed, so that no reader finds half
//! of one. Components as authors ship them are not kept here.
//!
//! Spec: `PLUGINS.md` section 2.2, step 5.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use aws_lc_rs::hmac;
use rustix::fs::OFlags;
use wasmtime::Engine;
use wasmtime::component::Component;

/// Bytes of the MAC in front of each file.
const MAC_BYTES: usize = 32;
/// Bytes of all files together; beyond that the least recently used are removed.
const MAX_BYTES: u64 = 512 << 20;
/// Age from which a temporary file counts as abandoned and is removed.
const TEMPORARY_FILE_TTL: Duration = Duration::from_secs(600);

/// A folder of compiled components.
pub(crate) struct CodeCache {
    folder: PathBuf,
    key: hmac::Key,
    written: AtomicU64,
}

impl CodeCache {
    pub(crate) fn new(folder: PathBuf, key: &[u8; 32]) -> Self {
        Self { folder, key: hmac::Key::new(hmac::HMAC_SHA256, key), written: AtomicU64::new(0) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.cwasm"))
    }

    fn mac(&self, name: &str, code: &[u8]) -> hmac::Tag {
        let mut context = hmac::Context::with_key(&self.key);
        context.update(name.as_bytes());
        context.update(&[0]);
        context.update(code);
        context.sign()
    }

    /// The component of that name, if its file exists and is authentic.
    pub(crate) fn find(&self, engine: &Engine, name: &str) -> Option<Component> {
        let path = self.path(name);
        let (file, bytes) = match read(&path) {
            Ok(found) => found,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
            Err(error) => return self.unusable(&path, &error.to_string()),
        };
        let (mac, code) = bytes.split_at_checked(MAC_BYTES)?;
        if aws_lc_rs::constant_time::verify_slices_are_equal(self.mac(name, code).as_ref(), mac).is_err() {
            return self.unusable(&path, "its MAC is wrong");
        }
        match deserialize(engine, code) {
            Ok(component) => {
                // The time of last use, for the LRU order. Best effort: without it, the file is removed a little
                // sooner.
                let _ = file.set_modified(now());
                Some(component)
            }
            Err(error) => self.unusable(&path, &error.to_string()),
        }
    }

    fn unusable(&self, path: &Path, why: &str) -> Option<Component> {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        tracing::warn!("the compiled component {file} is not used and made anew: {why}");
        let _ = fs::remove_file(path);
        None
    }

    /// Stores a component. A failure is logged and no more: the next start compiles again.
    pub(crate) fn store(&self, name: &str, component: &Component) {
        let written = component.serialize().map_err(std::io::Error::other).and_then(|code| self.write(name, &code));
        if let Err(error) = written {
            tracing::warn!("a compiled component could not be kept in {}: {error}", self.folder.display());
        }
        self.prune(MAX_BYTES);
    }

    fn write(&self, name: &str, code: &[u8]) -> std::io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let number = self.written.fetch_add(1, Ordering::Relaxed);
        let temporary = self.folder.join(format!("{name}.{}.{number}.tmp", std::process::id()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        let whole = file
            .write_all(self.mac(name, code).as_ref())
            .and_then(|()| file.write_all(code))
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::rename(&temporary, self.path(name)))
            .and_then(|()| File::open(&self.folder)?.sync_all());
        if whole.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        whole
    }

    /// Removes the least recently used files until the rest fits into `room` bytes, and abandoned temporary files.
    fn prune(&self, room: u64) {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return;
        };
        let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for entry in entries.flatten() {
            let Ok(data) = entry.metadata() else {
                continue;
            };
            let (path, used) = (entry.path(), data.modified().unwrap_or(SystemTime::UNIX_EPOCH));
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("cwasm") => files.push((used, data.len(), path)),
                Some("tmp") if now().duration_since(used).is_ok_and(|age| age > TEMPORARY_FILE_TTL) => {
                    let _ = fs::remove_file(path);
                }
                _ => {}
            }
        }
        files.sort();
        let mut total: u64 = files.iter().map(|(_, size, _)| size).sum();
        for (_, size, path) in files {
            if total <= room {
                break;
            }
            if fs::remove_file(path).is_ok() {
                total -= size;
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the age of a file is the file system's time, not the server's")]
fn now() -> SystemTime {
    SystemTime::now()
}

/// Reads a file that only this user may access. Symbolic links and files with any other owner or mode are errors.
fn read(path: &Path) -> std::io::Result<(File, Vec<u8>)> {
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let data = file.metadata()?;
    if !data.is_file() || data.uid() != rustix::process::geteuid().as_raw() || data.mode() & 0o077 != 0 {
        return Err(std::io::Error::other("it is not this user's alone"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(data.len()).unwrap_or(0));
    file.read_to_end(&mut bytes)?;
    Ok((file, bytes))
}

#[expect(unsafe_code, reason = "machine code can only be trusted, and here it can be")]
fn deserialize(engine: &Engine, code: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: the caller has verified a MAC over exactly these bytes, with a key that only this server knows: they are
    // what `Component::serialize` gave to `CodeCache::store`. They are in memory, so they can no longer change. That they
    // fit this engine and machine is checked by wasmtime.
    unsafe { Component::deserialize(engine, code) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> (tempfile::TempDir, CodeCache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = CodeCache::new(folder.path().to_owned(), &[3; 32]);
        (folder, cache)
    }

    #[test]
    fn what_another_compiler_wrote_is_made_anew() {
        let (_folder, cache) = cache();
        let engine = Engine::default();
        cache.write("name", b"not what this version of the engine writes").unwrap();
        assert!(cache.find(&engine, "name").is_none());
        assert!(!cache.path("name").exists());
    }

    #[test]
    fn a_sound_file_counts_under_its_own_name_alone() {
        let (_folder, cache) = cache();
        let engine = Engine::default();
        let component = Component::new(&engine, wat::parse_str("(component)").unwrap()).unwrap();
        cache.store("name", &component);
        assert!(cache.find(&engine, "name").is_some());
        fs::copy(cache.path("name"), cache.path("other")).unwrap();
        assert!(cache.find(&engine, "other").is_none());
        assert!(cache.find(&engine, "name").is_some());
    }

    #[test]
    fn the_least_recently_used_goes_first_and_unfinished_files_too() {
        let (folder, cache) = cache();
        for (name, minutes) in [("old", 30), ("older", 40), ("new", 1)] {
            cache.write(name, &[0; 1000]).unwrap();
            let used = now() - Duration::from_secs(60 * minutes);
            File::open(cache.path(name)).unwrap().set_modified(used).unwrap();
        }
        for (name, minutes) in [("left.tmp", 20), ("being-written.tmp", 0)] {
            let file = File::create(folder.path().join(name)).unwrap();
            file.set_modified(now() - Duration::from_secs(60 * minutes)).unwrap();
        }
        cache.prune(2500);
        let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["being-written.tmp", "new.cwasm", "old.cwasm"]);
    }
}
