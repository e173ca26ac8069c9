//! Folders and files that cannot be used: read-only, unreadable, missing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;

use crate::harness::{TestApp, path};
use crate::routes::media::png;

/// A user without permissions.
const NOBODY: u32 = 65_534;

#[tokio::test]
async fn unwritable_folder_is_reported() {
    let app = TestApp::new().await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o550)).unwrap();
    let database = format!("sqlite://{}/rookery.db", data.display());

    let mut program = app.program();
    program.env("ROOKERY_STORAGE_DATA_DIR", &data).env("ROOKERY_DATABASE_URL", database).arg("serve");
    if rustix_is_root() {
        // Root may write everywhere.
        std::os::unix::fs::chown(&data, Some(NOBODY), Some(NOBODY)).unwrap();
        program.uid(NOBODY).gid(NOBODY).current_dir("/");
    }
    let Ok(output) = program.stdout(Stdio::null()).output() else {
        // The user may not execute the build output.
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), said.lines().count()), (Some(1), 1), "{said}");
    assert!(said.contains(data.to_str().unwrap()) && said.contains("ermission denied"), "{said}");
}

fn rustix_is_root() -> bool {
    fs::metadata("/proc/self").map(|own| std::os::unix::fs::MetadataExt::uid(&own)).unwrap_or(1) == 0
}

#[tokio::test]
async fn unreadable_secret_key_is_reported_and_not_replaced() {
    let app = TestApp::new().await;
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("secret.key");
    let keys = [("ROOKERY_STORAGE_DATA_DIR", folder.path().to_str().unwrap())];

    // Unreadable for every user, including root: a folder in place of the file, and a file that is not text.
    fs::create_dir(&key).unwrap();
    let said = app.run_set(&keys, &["user", "list"]).await.fails(1);
    assert!(said.contains(key.to_str().unwrap()) && said.contains("is not a file"), "{said}");
    assert!(key.is_dir());

    fs::remove_dir(&key).unwrap();
    fs::write(&key, [0xff; 64]).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let said = app.run_set(&keys, &["user", "list"]).await.fails(1);
    assert!(said.contains(key.to_str().unwrap()) && said.contains("UTF-8"), "{said}");
    assert_eq!(fs::read(&key).unwrap(), [0xff; 64]);
}

#[tokio::test]
async fn missing_media_files_are_not_found_and_uploads_continue() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let upload =
        async || alice.post("/api/v2/media").multipart(&[], &[("file", "a.png", &png(20, 20)[..])]).send().await;
    let media = upload().await.json();
    let id = media["id"].as_str().unwrap();
    let status = alice.post("/api/v1/statuses").form(&[("status", "look"), ("media_ids[]", id)]).ok().await;
    let file = path(&media["url"]);
    assert_eq!(app.anonymous().get(file).send().await.status, 200);

    for entry in fs::read_dir(&app.app.config.storage.media_dir).unwrap() {
        let entry = entry.unwrap().path();
        if entry.is_dir() { fs::remove_dir_all(entry).unwrap() } else { fs::remove_file(entry).unwrap() }
    }

    assert_eq!(app.anonymous().get(file).send().await.status, 404);
    let shown = alice.status(&status).ok().await;
    assert_eq!(shown["media_attachments"][0]["id"], id, "its record stays, so that a copy can be restored");
    let answer = upload().await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    alice.delete_status(&status).ok().await;
    app.app.clock.advance(chrono::Duration::days(2));
    app.run_jobs().await;
    let dead: Vec<(String,)> = app.db().fetch_raw("SELECT kind FROM jobs WHERE state = 'dead'").await.unwrap();
    assert!(dead.is_empty(), "a file that is gone needs no deleting: {dead:?}");
}
