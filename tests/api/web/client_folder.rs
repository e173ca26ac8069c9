//! Another web client, served from the folder `web.client_folder`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use axum::http::StatusCode;
use tempfile::TempDir;

use crate::harness::{Answer, TestApp};

/// A page with an inline script, whose hash browsers give in their console.
const INDEX: &str =
    "<!doctype html><script>alert('Hello, world.');</script><script src=\"assets/a-DiwR5Tda.js\"></script>";
const HASH: &str = "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='";
const IMMUTABLE: &str = "public, max-age=31536000, immutable";

/// A folder with a client, and a file beside it that is nobody's business.
fn client() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let client = folder.path().join("client");
    fs::create_dir_all(client.join("assets")).unwrap();
    fs::create_dir_all(client.join("compose")).unwrap();
    fs::create_dir_all(client.join(".git")).unwrap();
    let write = |name: &str, text: &[u8]| fs::write(client.join(name), text).unwrap();
    write("index.html", INDEX.as_bytes());
    write("compose/index.html", b"<p>compose");
    write("sw.js", b"self.skipWaiting()");
    write("assets/a-DiwR5Tda.js", b"let a = 1");
    write("assets/chime.mp3", b"0123456789");
    write("assets/two words.txt", b"two");
    write(".env", b"secret");
    write(".git/config", b"secret");
    fs::write(folder.path().join("outside.txt"), "secret").unwrap();
    symlink("../outside.txt", client.join("link.txt")).unwrap();
    symlink("..", client.join("up")).unwrap();
    folder
}

async fn app(folder: &Path) -> TestApp {
    TestApp::with(&[
        ("ROOKERY_WEB_CLIENT_FOLDER", folder.join("client").to_str().unwrap()),
        ("ROOKERY_PLUGINS_ENABLED", "false"),
    ])
    .await
}

async fn get(app: &TestApp, path: &str) -> Answer {
    app.anonymous().get(path).send().await
}

#[tokio::test]
async fn client_folder_is_served_under_its_path() {
    let folder = client();
    let app = app(folder.path()).await;

    let moved = get(&app, "/client?code=a%20b").await;
    assert_eq!((moved.status, moved.header("location")), (StatusCode::FOUND, "/client/?code=a%20b"));
    for path in ["/client/", "/client/?code=a", "/client/settings", "/client/example.org/@rook@far.test", "/client/up"]
    {
        let page = get(&app, path).await;
        assert_eq!((page.status, page.text().as_str()), (StatusCode::OK, INDEX), "{path}");
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
        assert_eq!(page.header("cache-control"), "no-cache");
    }
    // A folder with an index of its own.
    assert_eq!(get(&app, "/client/compose").await.header("location"), "/client/compose/");
    assert_eq!(get(&app, "/client/compose/").await.text(), "<p>compose");

    let script = get(&app, "/client/assets/a-DiwR5Tda.js").await;
    assert_eq!((script.text().as_str(), script.header("cache-control")), ("let a = 1", IMMUTABLE));
    assert_eq!(script.header("content-type"), "text/javascript; charset=utf-8");
    let worker = get(&app, "/client/sw.js").await;
    assert_eq!((worker.status, worker.header("cache-control")), (StatusCode::OK, "no-cache"));
    assert_eq!(get(&app, "/client/assets/two%20words.txt").await.text(), "two");
}

#[tokio::test]
async fn client_folder_serves_nothing_else() {
    let folder = client();
    let app = app(folder.path()).await;
    for path in [
        "/client/gone.js",
        "/client/sw.js/",
        "/client/sw.js/x.js",
        "/client/.env",
        "/client/.git/config",
        "/client/link.txt",
        "/client/up/outside.txt",
        "/client/../outside.txt",
        "/client/%2E%2E/outside.txt",
        "/client/assets%2F..%2F..%2Foutside.txt",
        "/client/..%2Foutside.txt",
        "/client/%2Fetc%2Fpasswd.txt",
        "/client/assets//a-DiwR5Tda.js",
        "/clients",
    ] {
        let answer = get(&app, path).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        assert!(!answer.text().contains("secret"), "{path}");
    }
    // No list of a folder: the client decides about the address.
    assert_eq!(get(&app, "/client/assets/").await.text(), INDEX);
    for path in ["/client", "/client/sw.js"] {
        assert_eq!(app.anonymous().post(path).send().await.status, StatusCode::NOT_FOUND, "{path}");
    }
    let without = TestApp::core().await;
    for path in ["/client", "/client/", "/client/sw.js"] {
        assert_eq!(get(&without, path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn client_folder_has_a_policy_with_the_hashes_of_its_scripts() {
    let folder = client();
    let app = app(folder.path()).await;
    let page = get(&app, "/client/").await;
    let policy = page.header("content-security-policy").to_owned();
    for part in [
        &format!("script-src 'self' {HASH};"),
        "style-src 'self' 'unsafe-inline';",
        "img-src 'self' https: data: blob:;",
        "connect-src 'self' https: wss:",
        "object-src 'none'; base-uri 'self';",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.contains(part), "{policy}");
    }
    assert_eq!(page.header("x-content-type-options"), "nosniff");
    assert_eq!(page.header("referrer-policy"), "same-origin");
    assert!(page.header("access-control-allow-origin").is_empty());
    let script = get(&app, "/client/sw.js").await;
    assert!(script.header("content-security-policy").contains("script-src 'self';"));

    // A new version has other hashes immediately.
    fs::write(folder.path().join("client/index.html"), "<script>changed()</script>").unwrap();
    let changed = get(&app, "/client/").await;
    assert_ne!(changed.header("content-security-policy"), policy);
    assert_ne!(changed.header("etag"), page.header("etag"));
}

#[tokio::test]
async fn client_folder_takes_conditional_and_range_requests() {
    let folder = client();
    let app = app(folder.path()).await;
    let with =
        async |path: &str, name: &'static str, value: &str| app.anonymous().get(path).header(name, value).send().await;
    for path in ["/client/", "/client/assets/chime.mp3"] {
        let whole = get(&app, path).await;
        let same = with(path, "if-none-match", whole.header("etag")).await;
        assert_eq!((same.status, same.text().as_str()), (StatusCode::NOT_MODIFIED, ""), "{path}");
        for name in ["etag", "cache-control", "content-security-policy"] {
            assert_eq!(same.header(name), whole.header(name), "{path}: {name}");
        }
        assert_eq!(with(path, "if-none-match", "\"other\"").await.status, StatusCode::OK);
    }
    let part = with("/client/assets/chime.mp3", "range", "bytes=2-4").await;
    assert_eq!((part.status, part.text().as_str()), (StatusCode::PARTIAL_CONTENT, "234"));
    assert_eq!((part.header("content-range"), part.header("content-type")), ("bytes 2-4/10", "audio/mpeg"));
    let beyond = with("/client/assets/chime.mp3", "range", "bytes=10-").await;
    assert_eq!((beyond.status, beyond.header("content-range")), (StatusCode::RANGE_NOT_SATISFIABLE, "bytes */10"));
    assert_eq!(with("/client/sw.js", "range", "bytes=2-4").await.status, StatusCode::OK, "text has no ranges");

    let head = app.anonymous().request(axum::http::Method::HEAD, "/client/assets/chime.mp3").send().await;
    assert_eq!((head.status, head.header("content-length"), head.text().as_str()), (StatusCode::OK, "10", ""));
}

#[tokio::test]
async fn client_folder_without_a_client_is_reported() {
    let folder = client();
    let path = folder.path().join("client");
    let app = TestApp::core().await;
    let doctor = async || app.run_set(&[("ROOKERY_WEB_CLIENT_FOLDER", path.to_str().unwrap())], &["doctor"]).await.out;
    assert!(doctor().await.contains("good     client folder"));
    fs::remove_file(path.join("index.html")).unwrap();
    let said = doctor().await;
    assert!(said.contains("BAD      client folder") && said.contains("it has no index.html"), "{said}");
    fs::remove_dir_all(&path).unwrap();
    assert!(doctor().await.contains("the folder does not exist"));

    let mut serve = app.program();
    let serve = serve.arg("serve").env("ROOKERY_WEB_CLIENT_FOLDER", &path).output().unwrap();
    let said = String::from_utf8_lossy(&serve.stderr);
    assert!(!serve.status.success() && said.contains("web.client_folder"), "{said}");
}
