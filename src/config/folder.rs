//! Access to the server's data folders for commands run as root: the owner of the folders could replace a file or
//! folder in them by a link, to make root read, write or change the owner of its target.
//!
//! For root, only links created by root are followed, in every component of a path; files are opened relative to the
//! open folder, so that nothing can be replaced in between. For other users the rules of the file system apply. New
//! files and folders belong to the owner of the folder around them, and only the owner may read them.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, mkdirat, openat, readlinkat, renameat, statat, unlinkat};
use rustix::io::Errno;

/// Most links to follow in one path.
const MAX_LINKS: usize = 40;

/// Creates `folder` and its missing parents, for this user alone (0700). Removes the permissions of others on an
/// existing folder, which an earlier version may have created; the permissions of its group stay, since an admin may
/// have granted a web server access.
///
/// # Errors
/// As [`TrustedFolder::create`].
pub fn make_private(folder: &Path) -> io::Result<()> {
    TrustedFolder::create(folder)?.close_to_others()
}

/// An open folder.
#[derive(Debug)]
pub struct TrustedFolder {
    folder: OwnedFd,
    path: PathBuf,
}

/// The links that may be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Links {
    Everybodys,
    /// Links of this user alone.
    Of(u32),
}

impl Links {
    fn of_this_process() -> Self {
        let user = rustix::process::geteuid();
        if user.is_root() { Self::Of(user.as_raw()) } else { Self::Everybodys }
    }
}

impl TrustedFolder {
    /// Opens the folder at `path`.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] when there is none, and for a link that must not be followed.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::walk(path, false, Links::of_this_process())
    }

    /// As [`TrustedFolder::open`]; missing folders are created, for their owner alone (0700).
    ///
    /// # Errors
    /// When a folder cannot be created, and for a link that must not be followed.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::walk(path, true, Links::of_this_process())
    }

    fn walk(path: &Path, make: bool, links: Links) -> io::Result<Self> {
        let mut at = open_folder(CWD, OsStr::new(if path.is_absolute() { "/" } else { "." }), links)?;
        let mut left: VecDeque<OsString> = names(path).collect();
        let mut followed = 0;
        while let Some(name) = left.pop_front() {
            match open_folder(&at, &name, links) {
                Ok(next) => at = next,
                Err(Errno::NOENT) if make => at = make_folder(&at, &name, links)?,
                Err(Errno::LOOP | Errno::NOTDIR) if followed < MAX_LINKS && links != Links::Everybodys => {
                    followed += 1;
                    let target = read_link(&at, &name, links).map_err(|error| refused(path, &name, &error))?;
                    if target.is_absolute() {
                        at = open_folder(CWD, OsStr::new("/"), links)?;
                    }
                    names(&target).rev().for_each(|name| left.push_front(name));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Self { folder: at, path: path.to_owned() })
    }

    /// The bytes of a file; `None` when there is no such file.
    ///
    /// # Errors
    /// When it cannot be read, or is a link that must not be followed.
    pub fn read(&self, name: &OsStr) -> io::Result<Option<Vec<u8>>> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let links = Links::of_this_process();
        let opened = match openat(&self.folder, name, flags | no_follow(links), Mode::empty()) {
            Err(Errno::LOOP) => {
                read_link(&self.folder, name, links).map_err(|error| refused(&self.path, name, &error))?;
                openat(&self.folder, name, flags, Mode::empty())
            }
            opened => opened,
        };
        let file = match opened {
            Err(Errno::NOENT) => return Ok(None),
            opened => File::from(opened?),
        };
        if !file.metadata()?.is_file() {
            return Err(io::Error::other(format!("{} is not a file", self.path.join(name).display())));
        }
        let mut bytes = Vec::new();
        (&file).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// Creates a file for its owner alone (0600).
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] when a file or link with this name exists.
    pub fn create_new(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(openat(&self.folder, name, flags, Mode::RUSR | Mode::WUSR)?);
        give(&file, &self.folder)?;
        Ok(file)
    }

    /// Replaces a file, or a link with its name, by rename.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn replace(&self, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        let mut partial = OsString::from(".");
        partial.push(name);
        partial.push(format!(".{}.tmp", std::process::id()));
        self.remove(&partial)?;
        let mut file = self.create_new(&partial)?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        let renamed =
            written.and_then(|()| renameat(&self.folder, &partial, &self.folder, name).map_err(io::Error::from));
        if renamed.is_err() {
            let _ = self.remove(&partial);
        }
        renamed
    }

    /// Deletes a file or a link; does nothing when there is none.
    ///
    /// # Errors
    /// When it cannot be deleted.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        match unlinkat(&self.folder, name, AtFlags::empty()) {
            Err(Errno::NOENT) => Ok(()),
            removed => Ok(removed?),
        }
    }

    /// Removes the permissions of users other than the folder's owner and group.
    fn close_to_others(&self) -> io::Result<()> {
        let folder = File::from(self.folder.try_clone()?);
        let mode = folder.metadata()?.permissions().mode();
        if mode & 0o007 == 0 {
            return Ok(());
        }
        folder.set_permissions(Permissions::from_mode(mode & 0o770))
    }
}

fn names(path: &Path) -> impl DoubleEndedIterator<Item = OsString> {
    let names = path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    names.map(|part| part.as_os_str().to_owned())
}

fn no_follow(links: Links) -> OFlags {
    if links == Links::Everybodys { OFlags::empty() } else { OFlags::NOFOLLOW }
}

fn open_folder(at: impl AsFd, name: &OsStr, links: Links) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(at, name, flags | no_follow(links), Mode::empty())
}

fn make_folder(at: &OwnedFd, name: &OsStr, links: Links) -> io::Result<OwnedFd> {
    match mkdirat(at, name, Mode::RWXU) {
        Err(Errno::EXIST) => return Ok(open_folder(at, name, links)?),
        made => made?,
    }
    let made = open_folder(at, name, links)?;
    give(&File::from(made.try_clone()?), at)?;
    Ok(made)
}

/// The target of a link that may be followed.
fn read_link(at: &OwnedFd, name: &OsStr, links: Links) -> io::Result<PathBuf> {
    let stat = || statat(at, name, AtFlags::SYMLINK_NOFOLLOW);
    let identity = |stat: &Stat| (stat.st_ino, stat.st_ctime, stat.st_ctime_nsec, stat.st_uid);
    let before = stat()?;
    if FileType::from_raw_mode(before.st_mode) != FileType::Symlink {
        return Err(Errno::NOTDIR.into());
    }
    if links != Links::Everybodys && links != Links::Of(before.st_uid) {
        return Err(Errno::LOOP.into());
    }
    let target = readlinkat(at, name, Vec::new())?;
    if identity(&before) != identity(&stat()?) {
        return Err(Errno::LOOP.into());
    }
    Ok(PathBuf::from(OsStr::from_bytes(target.to_bytes())))
}

fn refused(path: &Path, name: &OsStr, error: &io::Error) -> io::Error {
    if Errno::from_io_error(error) != Some(Errno::LOOP) {
        return io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    }
    let name = name.display();
    io::Error::other(format!("{}: {name} is a link that root did not make: it is not followed", path.display()))
}

/// Gives a new file or folder to the owner of its parent folder: files that root creates in the data of a server
/// belong to that server. Other users cannot change the owner; the file is then readable by everyone who may enter
/// the folder.
fn give(made: &File, folder: &OwnedFd) -> io::Result<()> {
    let (own, folder) = (made.metadata()?, File::from(folder.try_clone()?).metadata()?);
    if own.uid() == folder.uid() || fchown(made, Some(folder.uid()), Some(folder.gid())).is_ok() {
        return Ok(());
    }
    let readable = if own.is_dir() { 0o055 } else { 0o044 };
    made.set_permissions(Permissions::from_mode(own.permissions().mode() | readable))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// As for root; the links of this test do not belong to root.
    const STRANGERS: Links = Links::Of(u32::MAX - 1);

    fn name(name: &str) -> &OsStr {
        OsStr::new(name)
    }

    #[test]
    fn links_of_others_are_not_followed_in_any_component() {
        let world = tempfile::tempdir().expect("a folder");
        let at = |path: &str| world.path().canonicalize().expect("a path").join(path);
        fs::create_dir_all(at("elsewhere/inner")).expect("made");
        fs::create_dir_all(at("data/plugins")).expect("made");
        symlink(at("elsewhere"), at("data/link")).expect("linked");
        for path in ["data/link", "data/link/inner", "data/plugins/../link/inner"] {
            let refused = TrustedFolder::walk(&at(path), true, STRANGERS).expect_err(path).to_string();
            assert!(refused.ends_with("link is a link that root did not make: it is not followed"), "{refused}");
        }
        TrustedFolder::walk(&at("data/plugins/new/inner"), true, STRANGERS).expect("made");
        assert!(at("data/plugins/new/inner").is_dir() && !at("elsewhere/new").exists());
    }

    #[test]
    fn own_links_are_followed() {
        let world = tempfile::tempdir().expect("a folder");
        let at = |path: &str| world.path().canonicalize().expect("a path").join(path);
        fs::create_dir_all(at("elsewhere")).expect("made");
        symlink("elsewhere", at("relative")).expect("linked");
        symlink(at("relative"), at("absolute")).expect("linked");
        let own = Links::Of(rustix::process::geteuid().as_raw());
        for path in ["relative", "absolute", "absolute/made"] {
            TrustedFolder::walk(&at(path), true, own).expect(path);
        }
        assert!(at("elsewhere/made").is_dir());
    }

    #[test]
    fn file_replaces_a_link_and_leaves_its_target_alone() {
        let world = tempfile::tempdir().expect("a folder");
        let (target, link) = (world.path().join("target"), world.path().join("file"));
        fs::write(&target, "kept").expect("written");
        symlink(&target, &link).expect("linked");
        let folder = TrustedFolder::open(world.path()).expect("opened");
        assert_eq!(folder.create_new(name("file")).expect_err("a link").kind(), io::ErrorKind::AlreadyExists);
        folder.replace(name("file"), b"new").expect("replaced");
        assert_eq!(folder.read(name("file")).expect("read").as_deref(), Some(&b"new"[..]));
        assert_eq!(fs::read_to_string(&target).expect("read"), "kept");
        folder.remove(name("file")).expect("removed");
        assert_eq!(folder.read(name("file")).expect("read"), None);
        assert_eq!(fs::read_dir(world.path()).expect("listed").count(), 1);
    }

    #[test]
    fn folder_is_closed_to_others() {
        let parent = tempfile::tempdir().expect("a folder");
        let (new, old) = (parent.path().join("a/b"), parent.path().join("old"));
        let mode = |folder: &Path| fs::metadata(folder).expect("metadata").permissions().mode() & 0o777;
        make_private(&new).expect("made");
        assert_eq!((mode(&new), mode(&parent.path().join("a"))), (0o700, 0o700));
        fs::create_dir(&old).expect("made");
        fs::set_permissions(&old, Permissions::from_mode(0o755)).expect("opened");
        make_private(&old).expect("closed");
        assert_eq!(mode(&old), 0o750);
    }

    #[test]
    fn files_made_by_root_belong_to_folder_owner() {
        let parent = tempfile::tempdir().expect("a folder");
        let owner = |path: &Path| fs::metadata(path).expect("metadata").uid();
        if std::os::unix::fs::chown(parent.path(), Some(4242), Some(4243)).is_ok() {
            let folder = TrustedFolder::create(&parent.path().join("a")).expect("made");
            folder.replace(name("file"), b"x").expect("written");
            assert_eq!((owner(&parent.path().join("a")), owner(&parent.path().join("a/file"))), (4242, 4242));
        }
    }
}
