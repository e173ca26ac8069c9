//! A new server, and accounts that use it in Chromium.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::driver::{Chromium, ORIGIN, Window};
use crate::harness::{PASSWORD, TestDatabase};
use crate::platform::crash::{PATIENCE, Server, program};
use crate::routes::media::png;

/// A server with open registrations and emoji reactions, and a browser.
pub struct House {
    chromium: Chromium,
    pub server: Server,
    folder: tempfile::TempDir,
    _database: TestDatabase,
}

impl House {
    /// `None` where there is no Chromium.
    pub async fn open(test: &str) -> Option<Self> {
        let chromium = Chromium::start(test)?;
        let folder = tempfile::tempdir().unwrap();
        let database = TestDatabase::create(folder.path()).await;
        run(folder.path(), &database.url, &["settings", "set", "registrations_mode", "open"], "");
        run(folder.path(), &database.url, &["plugin", "enable", "emoji_reactions", "--yes"], "");
        run(folder.path(), &database.url, &["user", "create", "bob", "--role", "Owner", "--password-stdin"], PASSWORD);
        let server = Server::start(folder.path(), &database.url).await;
        Some(Self { chromium, server, folder, _database: database })
    }

    pub async fn window(&self, scripts: bool) -> Window {
        self.chromium.window(self.server.address, scripts).await
    }

    /// A picture to publish.
    pub fn picture(&self) -> PathBuf {
        let file = self.folder.path().join("rook.png");
        std::fs::write(&file, png(320, 200)).unwrap();
        file
    }

    /// Path and query of the link in the first mail that contains one.
    async fn mailed_link(&self) -> String {
        let begun = Instant::now();
        loop {
            let letters = std::fs::read_dir(self.folder.path().join("mail")).into_iter().flatten();
            let texts = letters.filter_map(|entry| std::fs::read_to_string(entry.ok()?.path()).ok());
            let link = texts.filter_map(|text| {
                let start = text.find(&format!("{ORIGIN}/auth/"))? + ORIGIN.len();
                text[start..].split_whitespace().next().map(str::to_owned)
            });
            if let Some(link) = link.last() {
                return link;
            }
            assert!(begun.elapsed() < PATIENCE, "no mail came");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Signs up as alice on the front page, confirms the address and signs in.
    pub async fn sign_up(&self, scripts: bool) -> Window {
        let window = self.window(scripts).await;
        window.open("/").await;
        window.press("main a[href='/auth/sign_up']").await;
        window.fill("#username", "alice").await;
        window.fill("#email", "alice@mail.test").await;
        window.fill("#password", PASSWORD).await;
        window.press("#agreement").await;
        window.press("main form button.primary").await;
        window.shows("main", "alice@mail.test").await;
        window.open(&self.mailed_link().await).await;
        window.press("main a.primary[href='/auth/sign_in']").await;
        sign_in(&window, "alice@mail.test").await;
        window
    }

    /// A window with a session of bob, an existing account.
    pub async fn bob(&self, scripts: bool) -> Window {
        let window = self.window(scripts).await;
        window.open("/auth/sign_in").await;
        sign_in(&window, "bob").await;
        window
    }
}

/// Fills in the sign-in page that is open.
pub async fn sign_in(window: &Window, name: &str) {
    window.fill("#email", name).await;
    window.fill("#password", PASSWORD).await;
    window.press("main form button.primary").await;
    window.arrives("/home").await;
}

fn run(folder: &Path, url: &str, arguments: &[&str], input: &str) {
    let mut command = program(folder, url);
    command.args(arguments).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}
