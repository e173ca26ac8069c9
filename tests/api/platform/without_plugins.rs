//! A server without the plugin platform: switched off by `plugins.enabled`, or built without the feature `plugins`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

#[cfg(feature = "plugins")]
use axum::http::StatusCode;
use serde_json::Value;

#[cfg(feature = "plugins")]
use crate::harness::TestApp;

#[cfg(feature = "plugins")]
#[tokio::test]
async fn switched_off_platform_has_no_routes() {
    let (off, on) = (TestApp::core().await, TestApp::new().await);
    for (app, there) in [(&off, false), (&on, true)] {
        let alice = app.account("alice").await;
        let refused = alice.get("/api/admin/plugins").send().await.status;
        assert_eq!(refused, if there { StatusCode::FORBIDDEN } else { StatusCode::NOT_FOUND });
        let document = app.anonymous().get("/api/openapi.json").ok().await;
        assert_eq!(document["paths"].get("/api/admin/plugins").is_some(), there);
    }
    let bob = off.account("bob").await;
    assert_eq!(bob.get("/api/v1/antennas").fails(404).await, "Record not found");
    bob.publish("All of the core is there").await;
    off.run_jobs().await;
    assert_eq!(bob.get("/api/v1/timelines/home").ok().await.as_array().unwrap().len(), 1);
}

#[cfg(feature = "plugins")]
#[tokio::test]
async fn commands_of_a_switched_off_platform_say_so() {
    let app = TestApp::core().await;
    let refused = app.run_set(&[("ROOKERY_PLUGINS_ENABLED", "false")], &["plugin", "list"]).await;
    assert!(refused.fails(1).contains("plugins.enabled"));
}

/// The program, ended when dropped.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program that was built without the feature (`make test` builds it first), else the one with the platform switched
/// off, on a new database in `folder`.
#[expect(clippy::disallowed_methods, reason = "the environment names the program under test")]
fn program(folder: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CORE_PROGRAM").unwrap_or(env!("CARGO_BIN_EXE_rookery").into()));
    command.env_clear().current_dir(folder).env("ROOKERY_STORAGE_DATA_DIR", folder);
    command.env("ROOKERY_PLUGINS_ENABLED", "false").env("ROOKERY_SERVER_LOCAL_DOMAIN", "example.test");
    command
}

/// Sends a request to `address` and returns the response as text.
fn send(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn program_without_the_platform_starts_signs_up_posts_and_stops() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = program(folder.path());
    server.env("ROOKERY_SERVER_LISTEN", "127.0.0.1:0").arg("serve");
    let mut server = Program(server.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim_end().trim_end_matches(')').split_once("listening on ").expect("an address").1.to_owned();

    let made = program(folder.path()).args(["--json", "user", "create", "alice", "--token"]).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    let head = format!(
        "Host: example.test\r\nConnection: close\r\nAuthorization: Bearer {}\r\n",
        made["access_token"].as_str().unwrap()
    );
    let post = "status=Hello+from+the+core";
    let posted = send(
        &address,
        &format!(
            "POST /api/v1/statuses HTTP/1.1\r\n{head}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{post}",
            post.len()
        ),
    );
    assert!(posted.starts_with("HTTP/1.1 200") && posted.contains("Hello from the core"), "{posted}");
    let public = send(&address, &format!("GET /api/v1/timelines/public HTTP/1.1\r\n{head}\r\n"));
    assert!(public.contains("Hello from the core"), "{public}");

    let pid = server.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert_eq!(server.0.wait().unwrap().code(), Some(0));
}
