//! The folders of the server's data: nobody else on the machine may read them.
//!
//! Reached when a server or a command opens its data. What is made in them is closed to others by the program's umask.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _, chown};
use std::path::Path;

/// Creates `folder` and those above it that are missing, for this user alone (0700). One that others may enter, as an
/// earlier version made it, is closed to them; what its group may do stays, since an admin may have let a web server in.
///
/// # Errors
/// When it can neither be made nor changed.
pub fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mode = fs::metadata(folder)?.permissions().mode();
    if mode & 0o007 == 0 {
        return Ok(());
    }
    fs::set_permissions(folder, Permissions::from_mode(mode & 0o770))
}

/// Gives `path`, a file or folder that was just made, to the owner of the folder that it is in: what a command of root's
/// makes in the data of a server is that server's. A command of anyone else's may not give away what it made; others may then
/// read it, if they may enter the folder.
///
/// # Errors
/// When it is not there.
pub fn hand_over(path: &Path) -> io::Result<()> {
    let (own, folder) = (fs::metadata(path)?, fs::metadata(path.parent().unwrap_or(Path::new(".")))?);
    if own.uid() == folder.uid() {
        return Ok(());
    }
    if chown(path, Some(folder.uid()), Some(folder.gid())).is_ok() {
        return Ok(());
    }
    let readable = if own.is_dir() { 0o055 } else { 0o044 };
    fs::set_permissions(path, Permissions::from_mode(own.permissions().mode() | readable))
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn what_root_makes_is_given_to_the_owner_of_its_folder() {
        let parent = tempfile::tempdir().expect("a folder");
        let file = parent.path().join("a.plugin");
        fs::write(&file, "x").expect("made");
        hand_over(&file).expect("its own already");
        let owner = |path: &Path| (fs::metadata(path).expect("metadata").uid(), fs::metadata(path).expect("it").gid());
        assert_eq!(owner(&file), owner(parent.path()));
        // Only root may do what follows.
        if chown(parent.path(), Some(4242), Some(4243)).is_ok() {
            hand_over(&file).expect("handed over");
            assert_eq!(owner(&file), (4242, 4243));
        }
    }
}
