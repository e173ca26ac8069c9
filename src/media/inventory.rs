//! The inventory of stored files: the size of each folder, and files that do not belong to an attachment.
//!
//! Read from the disk itself, folder by folder, since the database knows only the files that it refers to.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use super::storage::{FOLDERS, Key, MEDIA_FOLDERS, WITHHELD};

/// What there is in one folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The first part of its keys.
    pub folder: &'static str,
    /// How many files.
    pub files: u64,
    /// Their sizes together.
    pub bytes: u64,
}

/// What there is below `root`.
pub(super) fn usage(root: &Path) -> io::Result<Vec<Stored>> {
    let mut found = Vec::new();
    for folder in FOLDERS {
        let mut stored = Stored { folder, files: 0, bytes: 0 };
        walk_all(root, folder, &mut |_: Key, file: fs::Metadata| {
            stored.files += 1;
            stored.bytes += file.len();
        })?;
        found.push(stored);
    }
    Ok(found)
}

/// The files of attachments below `root` whose [number](Key::number) is not `known` and that were written before `before`, with
/// their sizes in bytes.
pub(super) fn strays(root: &Path, known: &HashSet<u128>, before: SystemTime) -> io::Result<Vec<(Key, u64)>> {
    let mut found = Vec::new();
    for folder in MEDIA_FOLDERS {
        walk_all(root, folder, &mut |key: Key, file: fs::Metadata| {
            if !known.contains(&key.number()) && file.modified().is_ok_and(|modified| modified < before) {
                found.push((key, file.len()));
            }
        })?;
    }
    Ok(found)
}

/// Calls `each` with every stored file of `folder`, withheld ones included.
fn walk_all(root: &Path, folder: &str, each: &mut impl FnMut(Key, fs::Metadata)) -> io::Result<()> {
    walk(root, folder, each)?;
    walk(&root.join(WITHHELD), folder, each)
}

/// Calls `each` with every file of `folder` that has a key; others are left alone.
fn walk(root: &Path, folder: &str, each: &mut impl FnMut(Key, fs::Metadata)) -> io::Result<()> {
    for first in entries(&root.join(folder))? {
        for second in entries(&first?.path())? {
            for file in entries(&second?.path())? {
                let path = file?.path();
                let key: Option<Key> =
                    path.strip_prefix(root).ok().and_then(Path::to_str).and_then(|text| text.parse().ok());
                // One that was deleted meanwhile is none any more.
                if let (Some(key), Ok(metadata)) = (key, path.metadata()) {
                    each(key, metadata);
                }
            }
        }
    }
    Ok(())
}

/// The entries of a folder; none when there is no such folder.
fn entries(folder: &Path) -> io::Result<impl Iterator<Item = io::Result<fs::DirEntry>>> {
    match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None::<fs::ReadDir>.into_iter().flatten())
        }
        entries => Ok(Some(entries?).into_iter().flatten()),
    }
}
