//! `rookery serve`, run as people run it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use rookery_core::service::settings;

use crate::harness::TestApp;
use crate::media::png;

/// The program, serving the database and folder of a [`TestApp`].
pub struct Running {
    child: Child,
    address: String,
    /// What else it says.
    rest: Option<BufReader<ChildStdout>>,
}

impl Running {
    /// Starts the program on a free port and waits until it says where it listens.
    pub fn start(app: &TestApp) -> Self {
        Self::start_with(app, &[])
    }

    /// As [`Running::start`], with configuration keys as environment variables.
    pub fn start_with(app: &TestApp, keys: &[(&str, &str)]) -> Self {
        let mut program = app.program();
        program.envs(keys.iter().copied()).env("ROOKERY_SERVER_LISTEN", "127.0.0.1:0").arg("serve");
        let mut child = program.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let address = line.split_once("listening on ").expect("it says where it listens").1;
        Self { child, address: address.trim_end().trim_end_matches(')').to_owned(), rest: Some(said) }
    }

    /// The answer to a request without a token, head and body.
    pub fn get(&self, path: &str) -> String {
        self.ask(path, "")
    }

    /// The status of the answer to a request with a token.
    fn status(&self, path: &str, token: &str) -> u16 {
        let answer = self.ask(path, &format!("Authorization: Bearer {token}\r\n"));
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }

    fn ask(&self, path: &str, headers: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: example.test\r\nConnection: close\r\n{headers}\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn stop(mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn server_notices_a_change_of_another_server_and_ends_when_asked() {
    let app = TestApp::new().await;
    let running = Running::start(&app);
    assert!(running.get("/readyz").starts_with("HTTP/1.1 200"));

    settings::set(&app.app, "site_title", "The Old Oak").await.unwrap();
    let begun = Instant::now();
    while !running.get("/api/v2/instance").contains("The Old Oak") {
        assert!(begun.elapsed() < Duration::from_secs(5), "it did not notice");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(running.stop(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn change_by_command_holds_in_the_next_request() {
    let app = TestApp::new().await;
    let running = Running::start(&app);
    let command = async |arguments: &[&str]| {
        let said = app.run(arguments).await;
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{said:?}");
        said.out
    };
    // Often enough that the poll, twice a second, cannot have been in time for all.
    for title in ["The Old Oak", "The Elm", "The Ash", "The Yew", "The Larch"] {
        command(&["settings", "set", "site_title", title]).await;
        assert!(running.get("/api/v2/instance").contains(title), "{title}");
    }

    command(&["rule", "add", "Be kind"]).await;
    assert!(running.get("/api/v1/instance/rules").contains("Be kind"));

    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("wren.png"), png(20, 10)).unwrap();
    command(&["emoji", "import", folder.path().to_str().unwrap()]).await;
    assert!(running.get("/api/v1/custom_emojis").contains("wren"));
    command(&["emoji", "remove", "wren"]).await;
    assert!(!running.get("/api/v1/custom_emojis").contains("wren"));
}

#[tokio::test(flavor = "multi_thread")]
async fn command_about_a_person_holds_in_the_next_request() {
    let app = TestApp::new().await;
    let running = Running::start(&app);
    let made = app.run(&["user", "create", "alice", "--token", "--json"]).await.json();
    let old = made[0]["access_token"].as_str().unwrap();
    let path = "/api/v1/accounts/verify_credentials";
    assert_eq!(running.status(path, old), 200);

    app.run(&["user", "reset-password", "alice"]).await.ok();
    assert_eq!(running.status(path, old), 401, "every token is revoked");
    let token = app.run(&["user", "token", "alice"]).await.ok();
    assert_eq!(running.status(path, &token), 200);

    app.run(&["user", "suspend", "alice"]).await.ok();
    assert_eq!(running.status(path, &token), 403);
    app.run(&["user", "unsuspend", "alice"]).await.ok();
    assert_eq!(running.status(path, &token), 200);

    let profile = format!("/api/v1/accounts/{}", made[0]["id"].as_str().unwrap());
    assert!(!running.get(&profile).contains("Moderator"));
    app.run(&["user", "set-role", "alice", "moderator"]).await.ok();
    assert!(running.get(&profile).contains("Moderator"));
}

#[tokio::test]
async fn an_address_that_is_taken_is_said_in_one_sentence() {
    let app = TestApp::new().await;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let output = app
        .program()
        .env("ROOKERY_SERVER_LISTEN", taken.local_addr().unwrap().to_string())
        .arg("serve")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("cannot listen on") && said.contains("server.listen"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_accounts_prints_the_link_that_makes_its_owners() {
    let app = TestApp::new().await;
    let mut running = Running::start(&app);
    let mut lines = running.rest.take().unwrap().lines().map(Result::unwrap);
    let link = lines.find(|line| line.trim().starts_with("https://example.test/")).unwrap();
    let path = link.trim().strip_prefix("https://example.test").unwrap();
    assert!(running.get(path).starts_with("HTTP/1.1 200"), "{path}");
    assert_eq!(running.stop(), Some(0));
}
