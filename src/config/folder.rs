//! The folders of the server's data: nobody else on the machine may read them.
//!
//! Reached when a server or a command opens its data. What is made in them is closed to others by the program's umask.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
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
}
