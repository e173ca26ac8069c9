//! The AOT cache: reuse after a restart, and files that are corrupt, forged or not accessible.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rookery_plugin_host::{Engine, EngineOptions};

use crate::harness::*;

/// Loads `quiet` with a new engine, as after a restart, and checks that it answers.
async fn restart(folder: &Path, key: u8) {
    let options = EngineOptions { cache: Some(folder.to_owned()), key: [key; 32], instances: 2, ..options() };
    let plugin = Engine::new(options).unwrap().load(package("quiet"), Quiet::new()).await.unwrap();
    get(&plugin).await.unwrap();
}

/// The stored parts of a component: its code, its imports and its exports.
const KINDS: [&str; 2] = ["cwasm", "interfaces"];

/// The one file of this kind in a cache, which has one of each.
fn only_file(folder: &Path, kind: &str) -> PathBuf {
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), KINDS.len(), "{files:?}");
    files.into_iter().find(|file| file.extension().is_some_and(|ending| ending == kind)).unwrap()
}

#[tokio::test]
async fn sound_file_is_used_and_others_rebuilt() {
    for kind in KINDS {
        only_sound_files_are_used(kind).await;
    }
}

async fn only_sound_files_are_used(kind: &str) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("compiled");
    restart(&folder, 1).await;
    let file = only_file(&folder, kind);
    let name = file.file_name().unwrap().to_str().unwrap();
    assert_eq!(name.len(), 64 + 1 + 16 + 1 + kind.len(), "{name}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let made = |file: &Path| std::os::unix::fs::MetadataExt::ino(&fs::metadata(file).unwrap());
    let (sound, first) = (fs::read(&file).unwrap(), made(&file));
    restart(&folder, 1).await;
    assert_eq!(made(&file), first, "used as it is");

    let flipped = |at: usize| {
        let mut bytes = sound.clone();
        bytes[at] ^= 1;
        bytes
    };
    let bad = [
        flipped(0),
        flipped(40),
        flipped(sound.len() / 2),
        flipped(sound.len() - 1),
        sound[..sound.len() / 2].to_vec(),
        sound[..20].to_vec(),
        Vec::new(),
        [&sound[..], b"more"].concat(),
    ];
    for bytes in bad {
        fs::write(&file, &bytes).unwrap();
        restart(&folder, 1).await;
        assert_eq!(fs::read(&file).unwrap().len(), sound.len(), "made anew");
    }
}

#[tokio::test]
async fn files_of_others_are_not_trusted() {
    for kind in KINDS {
        only_own_files_are_trusted(kind).await;
    }
}

async fn only_own_files_are_trusted(kind: &str) {
    let folder = tempfile::tempdir().unwrap();
    restart(folder.path(), 1).await;
    let file = only_file(folder.path(), kind);
    let made = |file: &Path| std::os::unix::fs::MetadataExt::ino(&fs::symlink_metadata(file).unwrap());

    let before = fs::read(&file).unwrap();
    restart(folder.path(), 2).await;
    assert_ne!(fs::read(&file).unwrap()[..32], before[..32], "written under another key");

    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let open = made(&file);
    restart(folder.path(), 2).await;
    assert!(made(&file) != open || fs::metadata(&file).unwrap().permissions().mode() & 0o077 == 0);

    let elsewhere = folder.path().join("elsewhere");
    fs::rename(&file, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    restart(folder.path(), 2).await;
    assert!(fs::symlink_metadata(&file).unwrap().is_file(), "a link is not followed");

    // The MAC covers the name: an authentic file under another component's name is a forgery as well.
    let other = file.with_file_name(format!("{}.{kind}", "0".repeat(81)));
    fs::copy(&file, &other).unwrap();
    restart(folder.path(), 2).await;
}

#[tokio::test]
async fn unwritable_cache_is_only_slow() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a file");
    fs::write(&file, "in the way").unwrap();
    restart(&file.join("below"), 1).await;
}
