//! `rookery serve`, run as people run it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use crate::harness::TestApp;

struct Running {
    child: Child,
    address: String,
    /// What else it says.
    rest: Option<BufReader<ChildStdout>>,
}

impl Running {
    /// Starts the program on a free port and waits until it says where it listens.
    fn start(app: &TestApp) -> Self {
        let mut program = app.program();
        program.env("ROOKERY_SERVER_LISTEN", "127.0.0.1:0").arg("serve");
        let mut child = program.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let address = line.split_once("listening on ").expect("it says where it listens").1;
        Self { child, address: address.trim_end().trim_end_matches(')').to_owned(), rest: Some(said) }
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: example.test\r\nConnection: close\r\n\r\n").unwrap();
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
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_answers_notices_a_changed_setting_and_ends_when_asked() {
    let app = TestApp::new().await;
    let running = Running::start(&app);
    assert!(running.get("/readyz").starts_with("HTTP/1.1 200"));

    app.run(&["settings", "set", "site_title", "The Old Oak"]).await.ok();
    let begun = Instant::now();
    while !running.get("/api/v2/instance").contains("The Old Oak") {
        assert!(begun.elapsed() < Duration::from_secs(5), "it did not notice");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(running.stop(), Some(0));
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
