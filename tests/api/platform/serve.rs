//! `rookery serve`, run as the real binary.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use service::settings;

use crate::harness::TestApp;
use crate::routes::media::png;

/// The program, serving the database and folder of a [`TestApp`].
pub struct Running {
    child: Child,
    address: String,
    /// The rest of its output.
    rest: Option<BufReader<ChildStdout>>,
}

impl Running {
    /// Starts the program on a free port, without the plugin platform, and waits until it prints its address.
    pub fn start(app: &TestApp) -> Self {
        Self::start_with(app, &[])
    }

    /// As [`Running::start`], with configuration keys as environment variables.
    pub fn start_with(app: &TestApp, keys: &[(&str, &str)]) -> Self {
        let mut program = app.program();
        // Compiling the embedded plugins takes longer than these tests.
        program.env("ROOKERY_PLUGINS_ENABLED", "false").envs(keys.iter().copied());
        program.env("ROOKERY_SERVER_LISTEN", "127.0.0.1:0").arg("serve");
        let mut child = program.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let address = line.split_once("listening on ").expect("it says where it listens").1;
        let running = Self { child, address: address.trim_end().trim_end_matches(')').to_owned(), rest: Some(said) };
        while running.get("/readyz").contains("plugins are being loaded") {
            std::thread::sleep(Duration::from_millis(50));
        }
        running
    }

    /// Response to a request without a token, head and body.
    pub fn get(&self, path: &str) -> String {
        self.ask(path, "")
    }

    /// HTTP status of the response to a request with a token.
    fn status(&self, path: &str, token: &str) -> u16 {
        let answer = self.ask(path, &format!("Authorization: Bearer {token}\r\n"));
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// Response to an upload of `file`, head and body.
    fn upload(&self, token: &str, file: &[u8]) -> String {
        let part = "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n";
        let body = [part.as_bytes(), file, b"\r\n--B--\r\n"].concat();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let head = format!(
            "POST /api/v2/media HTTP/1.1\r\nHost: example.test\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: multipart/form-data; boundary=B\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(&[head.as_bytes(), &body].concat()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn ask(&self, path: &str, headers: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: example.test\r\nConnection: close\r\n{headers}\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    fn stop(self) -> Option<i32> {
        self.stop_and_read().0
    }

    /// Its exit code, and the rest of its output.
    fn stop_and_read(mut self) -> (Option<i32>, String) {
        let pid = self.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let code = self.child.wait().unwrap().code();
        let mut rest = String::new();
        if let Some(mut output) = self.rest.take() {
            output.read_to_string(&mut rest).unwrap();
        }
        (code, rest)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn server_notices_change_by_another_server_and_stops_on_request() {
    let app = TestApp::new().await;
    let running = Running::start(&app);
    assert!(running.get("/readyz").starts_with("HTTP/1.1 200"));

    settings::set(&app.app, &model::Staff::operator(), "site_title", "The Old Oak").await.unwrap();
    let begun = Instant::now();
    while !running.get("/api/v2/instance").contains("The Old Oak") {
        assert!(begun.elapsed() < Duration::from_secs(60), "it did not notice");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(running.stop(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn change_by_command_takes_effect_in_next_request() {
    let app = TestApp::new().await;
    let running = Running::start(&app);
    let command = async |arguments: &[&str]| {
        let said = app.run(arguments).await;
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{said:?}");
        said.out
    };
    // Often enough that the poll, twice a second, cannot explain every change.
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
async fn account_command_takes_effect_in_next_request() {
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
async fn listen_address_in_use_is_reported_in_one_sentence() {
    let app = TestApp::new().await;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let output = app
        .program()
        .env("ROOKERY_SERVER_LISTEN", taken.local_addr().unwrap().to_string())
        .env("ROOKERY_PLUGINS_ENABLED", "false")
        .arg("serve")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("cannot listen on") && said.contains("server.listen"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_server_prints_owner_link() {
    let app = TestApp::new().await;
    let mut running = Running::start(&app);
    let mut lines = running.rest.take().unwrap().lines().map(Result::unwrap);
    let link = lines.find(|line| line.trim().starts_with("https://example.test/")).unwrap();
    let path = link.trim().strip_prefix("https://example.test").unwrap();
    assert!(running.get(path).starts_with("HTTP/1.1 200"), "{path}");
    assert_eq!(running.stop(), Some(0));
}

/// Files and folders below `folder` that other users may read, write or enter.
fn open_to_others(folder: &std::path::Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        if metadata.permissions().mode() & 0o077 != 0 {
            found.push(format!("{} {:o}", path.display(), metadata.permissions().mode()));
        }
        if metadata.is_dir() {
            open_to_others(&path, found);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_files_are_private() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("data");
    let key = app.app.config.storage.data_dir.join("secret.key");
    let keys =
        [("ROOKERY_STORAGE_DATA_DIR", folder.to_str().unwrap()), ("ROOKERY_SECRETS_KEY_FILE", key.to_str().unwrap())];
    let server = Running::start_with(&app, &keys);
    let answer = server.upload(alice.token.as_deref().unwrap(), &png(20, 20));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");

    let mut found = Vec::new();
    open_to_others(data.path(), &mut found);
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(folder.join("media/media").is_dir(), "the upload is there");
}

#[tokio::test(flavor = "multi_thread")]
async fn server_stops_while_plugins_are_compiled() {
    let app = TestApp::new().await;
    let cache = tempfile::tempdir().unwrap();
    let mut program = app.program();
    program.env("ROOKERY_PLUGINS_CACHE_DIR", cache.path()).env("ROOKERY_SERVER_LISTEN", "127.0.0.1:0").arg("serve");
    let mut child = program.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    let address = line.split_once("listening on ").expect("it says where it listens").1.trim_end_matches(")\n");
    let running = Running { child, address: address.to_owned(), rest: Some(said) };
    assert!(running.get("/livez").starts_with("HTTP/1.1 200"));
    assert!(running.get("/api/v2/instance").starts_with("HTTP/1.1 200"), "the core serves");

    let (code, rest) = running.stop_and_read();

    assert_eq!(code, Some(0));
    assert!(!rest.contains("All plugins are ready."), "it waited for them: {rest}");
}
