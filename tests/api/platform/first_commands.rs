//! Commands beside a server: which database they mean, and what they do without one.

use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::harness::TestApp;

/// Runs `rookery` in `folder` without any configuration; returns its code, and both outputs.
fn run(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rookery"));
    let output = command.env_clear().current_dir(folder).args(arguments).stdin(Stdio::null()).output().unwrap();
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    (output.status.code().unwrap_or(-1), text)
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn command_makes_no_database_unless_it_is_asked_to() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let snapshot = ["db", "snapshot", "copy.db"];
    for arguments in
        [&["user", "list"][..], &["settings", "list"], &["user", "create", "alice"], &["media", "usage"], &snapshot]
    {
        let (code, said) = run(folder, arguments);
        let place = folder.join("data/rookery.db");
        assert!(code == 1 && said.contains(place.to_str().unwrap()), "{arguments:?}: {code} {said}");
        assert!(is_empty(folder), "{arguments:?}");
    }
    let (_, said) = run(folder, &["doctor"]);
    assert!(said.contains("none yet at"), "{said}");
    assert!(!folder.join("data/rookery.db").exists(), "{said}");

    assert_eq!(run(folder, &["user", "create", "alice", "--new"]).0, 0);
    let (code, said) = run(folder, &["user", "list"]);
    assert!(code == 0 && said.contains("alice"), "{said}");
    assert_eq!(run(folder, &["user", "create", "bob", "--new"]).0, 0, "it is no error when there is one");
}

#[test]
fn relative_paths_are_below_the_file_that_names_them() {
    let folder = tempfile::tempdir().unwrap();
    let (etc, home) = (folder.path().join("etc"), folder.path().join("home"));
    for folder in [&etc, &home] {
        std::fs::create_dir(folder).unwrap();
    }
    let config = "[storage]\ndata_dir = \"rookery\"\n[media]\nffmpeg = \"no-such-program\"\n";
    std::fs::write(etc.join("rookery.toml"), config).unwrap();
    let named = ["--config", "../etc/rookery.toml"];
    let with = |rest: &[&'static str]| run(&home, &[&named[..], rest].concat());
    let (code, said) = with(&["user", "create", "alice", "--new"]);
    assert_eq!(code, 0, "{said}");
    assert!(etc.join("rookery/rookery.db").is_file() && is_empty(&home), "{said}");
    assert!(run(folder.path(), &["--config", "etc/rookery.toml", "user", "list"]).1.contains("alice"));
    let (_, printed) = with(&["config", "print"]);
    assert!(printed.contains("rookery/media\"") && printed.contains("ffmpeg = \"no-such-program\""), "{printed}");
    assert!(!printed.contains("\"rookery/"), "paths are absolute: {printed}");
}

#[test]
fn missing_secret_key_beside_data_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert_eq!(run(folder, &["user", "create", "alice", "--new"]).0, 0);
    let key = folder.join("data/secret.key");
    let text = std::fs::read_to_string(&key).unwrap();
    std::fs::remove_file(&key).unwrap();
    for arguments in [&["user", "list"][..], &["serve"]] {
        let (code, said) = run(folder, arguments);
        assert!(code == 1 && said.contains("secret.key is missing") && said.contains("renew-keys"), "{code} {said}");
    }
    assert!(!key.exists());
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&key).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    assert_eq!(run(folder, &["user", "list"]).0, 0, "it was restored");
}

#[tokio::test]
async fn snapshot_has_what_a_running_server_wrote() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    alice.publish("the last words").await;
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    let name = copy.to_str().unwrap();
    if app.db().engine() == database::Engine::Postgres {
        assert!(app.run(&["db", "snapshot", name]).await.fails(1).contains("pg_dump"));
        return;
    }
    app.run(&["db", "snapshot", name]).await.ok();
    let mode = std::fs::metadata(&copy).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let url = format!("sqlite://{name}");
    let found = app.run_set(&[("ROOKERY_DATABASE_URL", &url)], &["--json", "user", "list"]).await.ok();
    assert!(found.contains("alice"), "{found}");
    let shown = rows(&app, &url).await;
    assert_eq!(shown, 1);
    assert!(app.run(&["db", "snapshot", name]).await.fails(1).contains("exists"), "it replaces no file");
    assert_eq!(
        std::fs::read_dir(folder.path())
            .unwrap()
            .filter(|file| { file.as_ref().unwrap().path().extension().is_some_and(|end| end == "unfinished") })
            .count(),
        0
    );
}

async fn rows(app: &TestApp, url: &str) -> i64 {
    let options = database::Options { url: url.to_owned(), ..context::cx::db_options(&app.app.config) };
    let db = database::Db::open(&options).await.unwrap();
    let found = db.fetch_raw::<(i64,)>("SELECT COUNT(*) FROM statuses WHERE text = 'the last words'").await.unwrap();
    db.close().await;
    found[0].0
}
