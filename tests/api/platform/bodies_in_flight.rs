//! Resources used by request bodies in flight: files on disk instead of memory, a share for each caller, and a small
//! one for anonymous callers.

use std::path::Path;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::http::{Request, header};
use futures_util::stream;
use serde_json::json;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::harness::{Answer, Client, TestApp};

/// Time after which a test counts as hanging.
const HANGS: Duration = Duration::from_secs(60);
const FILE_BYTES: usize = 900 * 1024;
const HEAD: &str = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.png\"\r\n\r\n";

/// An upload whose end is withheld until it is dropped.
struct Upload {
    answer: JoinHandle<Answer>,
    _end: oneshot::Sender<()>,
}

/// Sends the beginning of a file.
fn begin(client: &Client, route: &str) -> Upload {
    let (method, path) = route.split_once(' ').unwrap();
    let (end, ended) = oneshot::channel::<()>();
    let mut body = HEAD.as_bytes().to_vec();
    body.resize(HEAD.len() + FILE_BYTES, b'x');
    // The parser otherwise withholds the last bytes, which may be the beginning of a boundary.
    let parts = stream::unfold((Some(Bytes::from(body)), Some(ended)), async |(body, ended)| {
        if let Some(body) = body {
            return Some((Ok::<_, std::io::Error>(body), (None, ended)));
        }
        let _ = ended?.await;
        Some((Err(std::io::ErrorKind::ConnectionReset.into()), (None, None)))
    });
    let request = Request::builder().method(method).uri(path).header(header::HOST, "example.test");
    let request = request.header(header::AUTHORIZATION, format!("Bearer {}", client.token.as_deref().unwrap()));
    let request = request.header(header::CONTENT_TYPE, "multipart/form-data; boundary=x");
    let request = request.body(Body::from_stream(parts)).unwrap();
    let server = client.server.clone();
    Upload { answer: tokio::spawn(async move { server.send(request).await }), _end: end }
}

/// Bytes of uploads on disk.
fn spooled(app: &TestApp) -> u64 {
    fn size(path: &Path) -> u64 {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|entry| if entry.path().is_dir() { size(&entry.path()) } else { length(&entry.path()) }).sum()
    }
    fn length(path: &Path) -> u64 {
        path.metadata().map_or(0, |found| found.len())
    }
    size(&app.app.config.storage.media_dir.join("tmp"))
}

async fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < HANGS, "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Without the bytes that the parser withholds, since they may be the beginning of a boundary.
const MOST_BYTES: u64 = (FILE_BYTES - 1024) as u64;

#[tokio::test]
async fn uploads_are_spooled_to_disk_on_every_route() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    for route in [
        "POST /api/v1/media",
        "POST /api/v2/media",
        "PUT /api/v1/media/1",
        "PUT /api/v1/statuses/1",
        "PATCH /api/v1/accounts/update_credentials",
    ] {
        let upload = begin(&alice, route);
        until(route, || spooled(&app) >= MOST_BYTES).await;
        drop(upload);
        until(route, || spooled(&app) == 0).await;
    }
}

#[tokio::test]
async fn uploads_of_one_account_leave_room_for_others() {
    let app = TestApp::with(&[
        ("ROOKERY_MEDIA_IMAGE_SIZE_LIMIT_BYTES", "1048576"),
        ("ROOKERY_MEDIA_VIDEO_SIZE_LIMIT_BYTES", "1048576"),
        ("ROOKERY_CONNECTIONS_UPLOAD_DISK_BYTES", "67108864"),
    ])
    .await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let route = "PATCH /api/v1/accounts/update_credentials";
    let mut open = Vec::new();
    for number in 1..=9 {
        open.push(begin(&alice, route));
        until("an upload in flight", || spooled(&app) >= number * MOST_BYTES).await;
    }
    let refused = begin(&alice, route).answer.await.unwrap();
    assert_eq!(refused.status, 429, "an eighth of 64 MiB is in flight: {}", refused.text());
    let others = begin(&bob, route);
    until("another's upload", || spooled(&app) >= 10 * MOST_BYTES).await;
    drop((open, others));
    until("nothing is left", || spooled(&app) == 0).await;
    let again = begin(&alice, route);
    until("room again", || spooled(&app) >= MOST_BYTES).await;
    drop(again);
}

#[tokio::test]
async fn anonymous_callers_send_small_bodies_only() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let long = json!({ "client_name": "x".repeat(20_000), "token": "x" });
    for route in [
        "/api/v1/apps",
        "/api/v1/accounts",
        "/api/v1/statuses",
        "/api/v1/emails/confirmations",
        "/oauth/token",
        "/oauth/revoke",
        "/oauth/introspect",
    ] {
        let status = app.anonymous().post(route).json(&long).send().await.status.as_u16();
        let refused = if route == "/api/v1/apps" { [422, 422] } else { [401, 413] };
        assert!(refused.contains(&status), "{route}: {status}");
    }
    assert_eq!(app.anonymous().post("/oauth/token").json(&long).send().await.status, 413);
    // The longest registrations of applications are answered with what is wrong.
    let uris: Vec<String> = (0..2_000).map(|number| format!("https://app.test/callback/{number}")).collect();
    let many = json!({ "client_name": "app", "redirect_uris": uris });
    let why = app.anonymous().post("/api/v1/apps").json(&many).fails(422).await;
    assert!(why.contains("redirect_uris is too long"), "{why}");
    let endless = json!({ "client_name": "app", "redirect_uris": "x".repeat(200_000) });
    assert_eq!(app.anonymous().post("/api/v1/apps").json(&endless).send().await.status, 413);
    // Tokens are searched in small bodies only: larger bodies are read once the caller is known.
    let status = |padding: usize| json!({ "status": "hello", "access_token": alice.token, "x": "x".repeat(padding) });
    app.anonymous().publish(&status(1_000)).await;
    app.anonymous().post("/api/v1/statuses").json(&status(20_000)).fails(401).await;
    alice.publish(&status(20_000)).await;
}

#[tokio::test]
async fn files_count_against_the_limit_of_uploads_wherever_they_are_sent() {
    let app = TestApp::with(&[("ROOKERY_RATE_LIMITS_ENABLED", "true")]).await;
    let alice = app.account("alice").await;
    let path = "/api/v1/accounts/update_credentials";
    for _ in 0..30 {
        alice.patch(path).multipart(&[("note", "a rook")], &[]).ok().await;
    }
    alice.patch(path).multipart(&[("note", "a rook")], &[]).fails(429).await;
    alice.put("/api/v1/statuses/1").multipart(&[("status", "a rook")], &[]).fails(429).await;
    alice.post("/api/v2/media").multipart(&[], &[]).fails(429).await;
    alice.patch(path).json(&json!({ "note": "without a file" })).ok().await;
}

#[tokio::test]
async fn empty_multipart_body_is_refused() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    for path in ["/api/v1/media", "/api/v2/media"] {
        alice.post(path).body("multipart/form-data; boundary=x", Vec::new()).fails(400).await;
    }
}

#[tokio::test]
async fn parameters_beside_a_file_have_the_limit_of_other_bodies() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let long = "x".repeat(2 << 20);
    let refused =
        alice.patch("/api/v1/accounts/update_credentials").multipart(&[("note", &long)], &[]).fails(422).await;
    assert!(refused.contains("parameters"), "{refused}");
    let form = alice.post("/api/v1/statuses").multipart(&[("status", "hello")], &[("odd", "a", &[1; 100])]);
    form.ok().await;
}
