//! Reads packages from folders, detecting files that are being written.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rookery_plugin_host::LoadError;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fstat, openat, statat};

use super::{COUNT_MAX, FILES_MAX, MANIFEST, Origin, Package, WASM_MAX, is_inside, unpack, unreadable};

/// Largest `.plugin` file, in bytes: its files, and for each a header and padding.
pub const PACKED_MAX: usize = WASM_MAX + FILES_MAX + COUNT_MAX * 2048;

/// File metadata that changes when a file is replaced or written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    length: i64,
    seconds: i64,
    nanoseconds: i64,
}

impl From<Stat> for Stamp {
    #[allow(clippy::useless_conversion, clippy::unnecessary_cast, reason = "the types differ between machines")]
    fn from(stat: Stat) -> Self {
        Self {
            inode: stat.st_ino as u64,
            length: stat.st_size as i64,
            seconds: stat.st_mtime as i64,
            nanoseconds: stat.st_mtime_nsec as i64,
        }
    }
}

/// A candidate package in the plugin folder, not read yet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// The folder or file.
    pub path: PathBuf,
}

/// The packages in `folder`: its `.plugin` files, and its folders with a `plugin.toml`; empty when there is no such
/// folder.
///
/// # Errors
/// When the folder cannot be read.
pub fn find(folder: &Path) -> io::Result<Vec<Found>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let hidden = path.file_name().and_then(OsStr::to_str).is_none_or(|name| name.starts_with('.'));
        let package = path.join(MANIFEST).is_file() || path.extension() == Some(OsStr::new("plugin"));
        if !hidden && package {
            found.push(Found { path });
        }
    }
    found.sort();
    Ok(found)
}

/// Reads the package at `path`. Blocks.
///
/// # Errors
/// At [`Stage::Read`](rookery_plugin_host::Stage) when it cannot be read or changes during the read; else as
/// [`Package::new`].
pub fn read(path: &Path) -> Result<Package, LoadError> {
    let is_file = path.extension() == Some(OsStr::new("plugin"));
    let origin = if is_file { Origin::File(path.to_owned()) } else { Origin::Folder(path.to_owned()) };
    let failed = |error: io::Error| unreadable(&origin, &words(&error));
    if is_file {
        let (bytes, stamp) = open_and_read(CWD, path, PACKED_MAX).map_err(failed)?;
        let after = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).map_err(|error| failed(error.into()))?;
        if stamp != Stamp::from(after) {
            return Err(changed(&origin));
        }
        return unpack(&bytes, origin.clone());
    }
    let mut reader = Reader::open(path).map_err(failed)?;
    let files = reader.package(&origin)?;
    if !reader.is_unchanged() {
        return Err(changed(&origin));
    }
    Package::new(files, origin)
}

fn changed(origin: &Origin) -> LoadError {
    unreadable(origin, "it changed while it was read: it is read again when it is quiet")
}

fn words(error: &io::Error) -> String {
    match rustix::io::Errno::from_io_error(error) {
        Some(rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR) => {
            "it is, or holds, a link: links are not followed, copy it instead".to_owned()
        }
        _ => format!("it cannot be read: {error}"),
    }
}

/// A file of a package, by the limit that it counts towards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Component,
    File,
}

/// An open folder: what replaces it at its path meanwhile is not read.
struct Reader {
    folder: OwnedFd,
    read: Vec<(String, Stamp)>,
    /// Bytes that the files other than the component may still have.
    left: usize,
}

impl Reader {
    fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self { folder: openat(CWD, path, flags, Mode::empty())?, read: Vec::new(), left: FILES_MAX })
    }

    /// The manifest and the files it names; the plugin's sources may lie beside them.
    fn package(&mut self, origin: &Origin) -> Result<BTreeMap<String, Arc<[u8]>>, LoadError> {
        let mut files = BTreeMap::new();
        let text = self.take(&mut files, MANIFEST, origin, Part::File)?;
        let named: toml::Table = std::str::from_utf8(&text).ok().and_then(|text| text.parse().ok()).unwrap_or_default();
        let name = |table: &str, key: &str| named.get(table)?.get(key)?.as_str().map(str::to_owned);
        let wasm = name("plugin", "wasm");
        let files_named = [name("sql", "statements"), name("config", "schema"), name("settings", "schema")];
        let mut paths: Vec<String> = wasm.iter().cloned().chain(files_named.into_iter().flatten()).collect();
        if let Some(folder) = name("sql", "migrations").filter(|folder| is_inside(folder)) {
            paths.extend(self.list(&folder).map_err(|error| unreadable(origin, &words(&error)))?);
        }
        if paths.len() > COUNT_MAX {
            return Err(unreadable(origin, &format!("it has more than {COUNT_MAX} files")));
        }
        for path in paths {
            if !is_inside(&path) {
                return Err(unreadable(origin, &format!("the path {path:?} leaves the package")));
            }
            if !files.contains_key(&path) {
                let part = if Some(&path) == wasm.as_ref() { Part::Component } else { Part::File };
                self.take(&mut files, &path, origin, part)?;
            }
        }
        Ok(files)
    }

    /// The names of the files in a folder of the package; none when there is no such folder.
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let opened = match open_inside(&self.folder, folder, OFlags::DIRECTORY) {
            Err(rustix::io::Errno::NOENT) => return Ok(Vec::new()),
            opened => opened?,
        };
        let mut names = Vec::new();
        for entry in Dir::read_from(opened)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type() != FileType::Directory && !name.starts_with('.') && names.len() <= COUNT_MAX {
                names.push(format!("{folder}/{name}"));
            }
        }
        names.sort();
        Ok(names)
    }

    /// Reads a file, of which the size is checked before; a missing one is left for [`Package::new`] to report.
    fn take(
        &mut self,
        files: &mut BTreeMap<String, Arc<[u8]>>,
        path: &str,
        origin: &Origin,
        part: Part,
    ) -> Result<Arc<[u8]>, LoadError> {
        let max = match part {
            Part::Component => WASM_MAX,
            Part::File => self.left,
        };
        let opened = open_inside(&self.folder, path, OFlags::empty());
        let read = opened.map_err(io::Error::from).and_then(|file| read_stamped(file, max));
        let (bytes, stamp) = match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Arc::from([])),
            read => read.map_err(|error| unreadable(origin, &format!("{path}: {}", words(&error))))?,
        };
        if part == Part::File {
            self.left -= bytes.len();
        }
        let bytes: Arc<[u8]> = bytes.into();
        files.insert(path.to_owned(), Arc::clone(&bytes));
        self.read.push((path.to_owned(), stamp));
        Ok(bytes)
    }

    fn is_unchanged(&self) -> bool {
        self.read.iter().all(|(path, stamp)| {
            let now = open_inside(&self.folder, path, OFlags::empty()).and_then(fstat);
            now.is_ok_and(|now| Stamp::from(now) == *stamp)
        })
    }
}

/// Opens `path` below `folder`, without following links in any of its components.
fn open_inside(folder: &OwnedFd, path: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let (parents, name) = path.rsplit_once('/').map_or(("", path), |(parents, name)| (parents, name));
    let always = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let mut at: Option<OwnedFd> = None;
    for parent in parents.split('/').filter(|parent| !parent.is_empty()) {
        let next = openat(at.as_ref().unwrap_or(folder), parent, always | OFlags::DIRECTORY, Mode::empty())?;
        at = Some(next);
    }
    openat(at.as_ref().unwrap_or(folder), name, always | flags, Mode::empty())
}

/// The bytes of a `.plugin` file, if it is not larger than one may be. Blocks.
///
/// # Errors
/// When it cannot be read, or is a link.
pub fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    Ok(open_and_read(CWD, path, PACKED_MAX)?.0)
}

fn open_and_read(at: rustix::fd::BorrowedFd<'_>, path: &Path, max: usize) -> io::Result<(Vec<u8>, Stamp)> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    read_stamped(openat(at, path, flags, Mode::empty())?, max)
}

fn read_stamped(file: OwnedFd, max: usize) -> io::Result<(Vec<u8>, Stamp)> {
    let before = fstat(&file)?;
    if !FileType::from_raw_mode(before.st_mode).is_file() {
        return Err(io::Error::other("it is no plain file"));
    }
    let stamp = Stamp::from(before);
    let too_large = || Err(io::Error::other(format!("it is larger than the {} KiB that are left for it", max >> 10)));
    if usize::try_from(stamp.length).is_ok_and(|length| length > max) {
        return too_large();
    }
    let mut bytes = Vec::new();
    let mut file = File::from(file);
    // It may have grown since.
    file.by_ref().take(max as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > max {
        return too_large();
    }
    Ok((bytes, stamp))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    const PLUGIN: &str = "[plugin]\nname = \"notes\"\nversion = \"1.0.0\"\napi = \"0.1\"\ntitle = \"Notes\"\n\
                          license = \"MIT\"\nwasm = \"notes.wasm\"\n";

    #[test]
    fn folder_is_read_up_to_the_size_of_a_package() {
        let world = tempfile::tempdir().unwrap();
        let folder = world.path().join("notes");
        std::fs::create_dir_all(folder.join("m")).unwrap();
        let sql = "[sql]\nmigrations = \"m\"\nstatements = \"q.sql\"\n";
        std::fs::write(folder.join(MANIFEST), format!("{PLUGIN}{sql}")).unwrap();
        std::fs::write(folder.join("notes.wasm"), "\0asm").unwrap();
        std::fs::write(folder.join("q.sql"), "").unwrap();
        // Sparse: a terabyte each that would fill the memory if it was read.
        for number in 0..3 {
            let file = File::create(folder.join(format!("m/000{number}_x.sql"))).unwrap();
            file.set_len(FILES_MAX as u64 / 2).unwrap();
        }
        let mut reader = Reader::open(&folder).unwrap();
        let fault = reader.package(&Origin::Folder(folder.clone())).unwrap_err().to_string();
        assert!(fault.contains("m/0001_x.sql: it cannot be read: it is larger than the 4095 KiB"), "{fault}");
        assert!(reader.left >= FILES_MAX / 2 - 1024, "the file that does not fit was not read");
        for number in 3..COUNT_MAX {
            File::create(folder.join(format!("m/{number:04}_x.sql"))).unwrap();
        }
        assert!(read(&folder).unwrap_err().to_string().contains("more than 512 files"));
    }

    #[test]
    fn symlink_in_place_of_file_is_not_followed() {
        let world = tempfile::tempdir().unwrap();
        let (folder, secret) = (world.path().join("notes"), world.path().join("secret"));
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join(MANIFEST), PLUGIN).unwrap();
        std::fs::write(&secret, "secret").unwrap();
        let (wasm, beside) = (folder.join("notes.wasm"), world.path().join("beside"));
        std::fs::write(&wasm, "\0asm").unwrap();
        let over = AtomicBool::new(false);
        let (mut whole, mut refused) = (0, 0);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    symlink(&secret, &beside).unwrap();
                    std::fs::rename(&beside, &wasm).unwrap();
                    std::fs::write(&beside, "\0asm").unwrap();
                    std::fs::rename(&beside, &wasm).unwrap();
                }
            });
            for _ in 0..2_000 {
                match read(&folder) {
                    Ok(package) => {
                        assert_eq!(&*package.wasm, b"\0asm");
                        whole += 1;
                    }
                    Err(fault) => {
                        let text = fault.to_string();
                        assert!(text.contains("link") || text.contains("changed while"), "{text}");
                        refused += 1;
                    }
                }
            }
            over.store(true, Ordering::Relaxed);
        });
        assert!(refused > 0, "the link was never there: {whole} reads went well");
        std::fs::write(&beside, "\0asm").unwrap();
        std::fs::rename(&beside, &wasm).unwrap();
        assert!(read(&folder).is_ok());
        std::fs::rename(&folder, world.path().join("elsewhere")).unwrap();
        symlink(world.path().join("elsewhere"), &folder).unwrap();
        assert!(read(&folder).unwrap_err().to_string().contains("links are not followed"));
    }
}
