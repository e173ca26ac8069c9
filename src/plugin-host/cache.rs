//! The AOT cache: compiled components on disk, and beside each its imports and exports from the validation.
//!
//! Reached from `compile`. A file is machine code that will be run, or the result of a validation, so each has a keyed
//! MAC (HMAC-SHA256) over its name and its bytes, and one whose MAC, owner or mode is wrong is never used. Whatever is
//! wrong with a file, the component is validated or compiled again. Files are written under a temporary name and
//! renamed, so that no reader finds half of one. Components as authors ship them are not kept here.
//!
//! Spec: docs/plugins.md#22-loading, step 5.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{Read, Seek as _, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use aws_lc_rs::hmac;
use rustix::fs::OFlags;
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::validate::Interfaces;

/// Bytes of the MAC in front of each file.
const MAC_BYTES: usize = 32;
/// Bytes of all files together; beyond that the least recently used are removed.
const MAX_BYTES: u64 = 512 << 20;
/// Age from which a temporary file counts as abandoned and is removed.
const TEMPORARY_FILE_TTL: Duration = Duration::from_secs(600);

/// The endings of files with machine code, and with interfaces.
const CODE: &str = "cwasm";
const INTERFACES: &str = "interfaces";

fn code_file(name: &str) -> String {
    format!("{name}.{CODE}")
}

fn interfaces_file(name: &str) -> String {
    format!("{name}.{INTERFACES}")
}

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

    fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    fn begin_mac(&self, file: &str) -> hmac::Context {
        let mut context = hmac::Context::with_key(&self.key);
        context.update(file.as_bytes());
        context.update(&[0]);
        context
    }

    fn mac(&self, file: &str, bytes: &[u8]) -> hmac::Tag {
        let mut context = self.begin_mac(file);
        context.update(bytes);
        context.sign()
    }

    /// The component of that name, if its file exists and is authentic.
    pub(crate) fn find(&self, engine: &Engine, name: &str) -> Option<Component> {
        self.authentic(&code_file(name), |code| deserialize(engine, code).map_err(|error| error.to_string()))
    }

    /// The imports and exports of the component of that name, if it was validated before.
    pub(crate) fn find_interfaces(&self, name: &str) -> Option<Interfaces> {
        self.authentic(&interfaces_file(name), |text| {
            let text = std::str::from_utf8(text).ok();
            text.and_then(Interfaces::parse).ok_or_else(|| "another version wrote it".to_owned())
        })
    }

    /// What `read` makes of the bytes of a file, if it exists and is authentic.
    fn authentic<T>(&self, file: &str, read: impl FnOnce(&[u8]) -> Result<T, String>) -> Option<T> {
        let path = self.path(file);
        let (opened, bytes) = match self::read(&path) {
            Ok(found) => found,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
            Err(error) => return self.unusable(&path, &error.to_string()),
        };
        let (mac, rest) = bytes.split_at_checked(MAC_BYTES)?;
        if aws_lc_rs::constant_time::verify_slices_are_equal(self.mac(file, rest).as_ref(), mac).is_err() {
            return self.unusable(&path, "its MAC is wrong");
        }
        match read(rest) {
            Ok(found) => {
                // The time of last use, for the LRU order. Best effort: without it, the file is removed a little
                // sooner.
                let _ = opened.set_modified(now());
                Some(found)
            }
            Err(why) => self.unusable(&path, &why),
        }
    }

    fn unusable<T>(&self, path: &Path, why: &str) -> Option<T> {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        tracing::warn!("{file} of the compiled components is discarded and compiled again: {why}");
        let _ = fs::remove_file(path);
        None
    }

    /// Stores a component. A failure is only logged: the next start compiles again.
    pub(crate) fn store(&self, name: &str, component: &Component) {
        let code = component.serialize().map_err(std::io::Error::other);
        self.keep(code.and_then(|code| self.write(&code_file(name), &code)));
        self.prune(MAX_BYTES);
    }

    /// Stores the imports and exports of a component, like [`CodeCache::store`].
    pub(crate) fn store_interfaces(&self, name: &str, interfaces: &Interfaces) {
        self.keep(self.write(&interfaces_file(name), interfaces.to_string().as_bytes()));
    }

    fn keep(&self, written: std::io::Result<()>) {
        if let Err(error) = written {
            tracing::warn!("a compiled component could not be kept in {}: {error}", self.folder.display());
        }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> std::io::Result<()> {
        let mut file = self.begin(name)?;
        file.push(bytes)?;
        file.finish()
    }

    /// Begins a file with machine code, which is written in parts.
    pub(crate) fn begin_code(&self, name: &str) -> std::io::Result<Unfinished> {
        self.begin(&code_file(name))
    }

    /// Removes files until the cache is within its limit.
    pub(crate) fn make_room(&self) {
        self.prune(MAX_BYTES);
    }

    fn begin(&self, name: &str) -> std::io::Result<Unfinished> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let number = self.written.fetch_add(1, Ordering::Relaxed);
        let temporary = self.folder.join(format!("{name}.{}.{number}.tmp", std::process::id()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        let (path, mac) = (self.path(name), self.begin_mac(name));
        let room = file.write_all(&[0; MAC_BYTES]);
        let unfinished = Unfinished { file, temporary, path, mac: Some(mac) };
        room.map(|()| unfinished)
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
                Some(CODE | INTERFACES) => files.push((used, data.len(), path)),
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

/// A file that is being written under a temporary name, which is removed unless it is finished.
pub(crate) struct Unfinished {
    file: File,
    temporary: PathBuf,
    path: PathBuf,
    mac: Option<hmac::Context>,
}

impl Unfinished {
    /// Appends `bytes`.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        if let Some(mac) = &mut self.mac {
            mac.update(bytes);
        }
        self.file.write_all(bytes)
    }

    /// Gives the file its name, with the MAC over everything.
    pub(crate) fn finish(mut self) -> std::io::Result<()> {
        let Some(mac) = self.mac.take() else { return Ok(()) };
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(mac.sign().as_ref())?;
        self.file.sync_all()?;
        fs::rename(&self.temporary, &self.path)?;
        File::open(self.path.parent().unwrap_or(Path::new(".")))?.sync_all()
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // Nothing is there any more once it was renamed.
        let _ = fs::remove_file(&self.temporary);
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
pub(crate) fn deserialize(engine: &Engine, code: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: these are the bytes that the compiler of this server made: the caller has verified a MAC over exactly these, with
    // a key that only this server knows, or has just received them from its child process. They are in memory, so they can
    // no longer change. That they fit this engine and machine is checked by wasmtime.
    unsafe { Component::deserialize(engine, code) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Export, Import};

    fn cache() -> (tempfile::TempDir, CodeCache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = CodeCache::new(folder.path().to_owned(), &[3; 32]);
        (folder, cache)
    }

    #[test]
    fn files_of_another_compiler_are_rebuilt() {
        let (_folder, cache) = cache();
        let engine = Engine::default();
        cache.write("name.cwasm", b"not what this version of the engine writes").unwrap();
        assert!(cache.find(&engine, "name").is_none());
        assert!(!cache.path("name.cwasm").exists());
    }

    #[test]
    fn sound_file_counts_only_under_its_name() {
        let (_folder, cache) = cache();
        let engine = Engine::default();
        let component = Component::new(&engine, wat::parse_str("(component)").unwrap()).unwrap();
        cache.store("name", &component);
        assert!(cache.find(&engine, "name").is_some());
        fs::copy(cache.path("name.cwasm"), cache.path("other.cwasm")).unwrap();
        assert!(cache.find(&engine, "other").is_none());
        assert!(cache.find(&engine, "name").is_some());
    }

    #[test]
    fn interfaces_are_found_as_they_were_stored_and_never_as_code() {
        let (_folder, cache) = cache();
        let interfaces = Interfaces {
            imports: [Import::Log, Import::CoreWrite].into(),
            exports: [Export::Lifecycle, Export::StatusFilter].into(),
        };
        cache.store_interfaces("name", &interfaces);
        assert_eq!(cache.find_interfaces("name"), Some(interfaces));
        assert_eq!(cache.find_interfaces("other"), None);
        fs::copy(cache.path("name.interfaces"), cache.path("name.cwasm")).unwrap();
        assert!(cache.find(&Engine::default(), "name").is_none());
        fs::write(cache.path("name.interfaces"), b"import kv").unwrap();
        assert_eq!(cache.find_interfaces("name"), None, "an unsigned validation is not accepted");
    }

    #[test]
    fn least_recently_used_and_unfinished_files_go_first() {
        let (folder, cache) = cache();
        for (name, minutes) in [("old", 30), ("older", 40), ("new", 1)] {
            let name = code_file(name);
            cache.write(&name, &[0; 1000]).unwrap();
            let used = now() - Duration::from_secs(60 * minutes);
            File::open(cache.path(&name)).unwrap().set_modified(used).unwrap();
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
