//! Chromium without a window, driven over WebDriver: one program of chromedriver for each test.
//!
//! A client for the commands that the tests need. The crates for WebDriver enable features of common dependencies, so that
//! the server would be compiled twice, for the program and for its tests.
//!
//! `.ci/browser` installs Chromium, its driver and axe-core. Without one of them, the tests print a line and are skipped.
//!
//! Spec: <https://www.w3.org/TR/webdriver2/>

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use axum::http::{Method, Request, header};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};

use crate::platform::crash::PATIENCE;

/// Pause between two looks at a page.
const INTERVAL: Duration = Duration::from_millis(50);

/// The origin of the pages. Chromium resolves its domain to the server of the test.
pub const ORIGIN: &str = "http://example.test";

/// The script of axe-core, which is not part of a release.
pub fn axe() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tools/axe/axe.min.js")
}

/// A process of chromedriver. Its windows are closed when it is dropped.
pub struct Chromium {
    driver: Child,
    address: SocketAddr,
}

impl Chromium {
    /// `None`, with a printed line, when chromedriver or axe-core is missing.
    pub fn start(test: &str) -> Option<Self> {
        let missing = |what: &str| {
            // Written directly: the test runner captures `eprintln!`.
            let _ = writeln!(std::io::stderr(), "skipped {test}: there is no {what}; `make browser` gets it");
            None
        };
        if !axe().exists() {
            return missing("axe-core");
        }
        let started = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut driver) = started else { return missing("chromedriver") };
        // The driver chooses a port and prints it.
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = loop {
            let line = lines.next().expect("chromedriver says its port").unwrap();
            let last = line.trim_end_matches('.').rsplit(' ').next().and_then(|word| word.parse().ok());
            if line.contains("started successfully")
                && let Some(port) = last
            {
                break port;
            }
        };
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self { driver, address: SocketAddr::from(([127, 0, 0, 1], port)) })
    }

    /// A window with its own cookies, whose requests to [`ORIGIN`] reach `server`. With `scripts`, JavaScript is on.
    pub async fn window(&self, server: SocketAddr, scripts: bool) -> Window {
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1280,1000",
            // Smooth scrolling would delay clicks.
            "--force-prefers-reduced-motion",
            &format!("--unsafely-treat-insecure-origin-as-secure={ORIGIN}"),
            &format!("--host-resolver-rules=MAP example.test:80 {server}"),
        ];
        let preferences = json!({
            "intl.accept_languages": "en",
            "profile.managed_default_content_settings.javascript": if scripts { 1 } else { 2 },
        });
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            // axe-core is slow on a busy machine.
            "timeouts": { "script": 300_000, "pageLoad": 300_000 },
            "goog:chromeOptions": { "args": arguments, "prefs": preferences },
        } } });
        let begun = command(self.address, Method::POST, "/session", &wanted).await.unwrap();
        let session = begun["sessionId"].as_str().unwrap().to_owned();
        Window { driver: self.address, session }
    }
}

/// Sends a command to chromedriver; returns its value, or the error with its message.
async fn command(driver: SocketAddr, method: Method, path: &str, body: &Value) -> Result<Value, String> {
    let stream = tokio::net::TcpStream::connect(driver).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let body = if method == Method::POST { body.to_string() } else { String::new() };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, driver.to_string())
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::<axum::body::Bytes>::from(body))
        .unwrap();
    let response = sender.send_request(request).await.unwrap();
    let done = response.status().is_success();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let mut answer: Value = serde_json::from_slice(&bytes).unwrap();
    match done {
        true => Ok(answer["value"].take()),
        false => Err(format!("{}: {}", answer["value"]["error"], answer["value"]["message"])),
    }
}

impl Drop for Chromium {
    /// Shuts the driver down by its own command, which closes the windows; a signal would not.
    fn drop(&mut self) {
        if let Ok(mut stream) = TcpStream::connect(self.address) {
            let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
            let request = "GET /shutdown HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
            let _ = stream.write_all(request.as_bytes());
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// How a page is shown.
#[derive(Clone, Copy)]
pub struct Look {
    pub name: &'static str,
    pub dark: bool,
    /// Width and height in pixels.
    pub size: (u32, u32),
}

/// An element of the page that is open.
struct Element(String);

/// A window of Chromium. Methods wait for an element for at most [`PATIENCE`].
pub struct Window {
    driver: SocketAddr,
    session: String,
}

impl Window {
    async fn send(&self, method: Method, path: &str, body: Value) -> Result<Value, String> {
        command(self.driver, method, &format!("/session/{}{path}", self.session), &body).await
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        self.send(Method::POST, path, body).await.unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// A command of the protocol of Chromium's developer tools.
    async fn tools(&self, name: &str, parameters: Value) -> Value {
        self.post("/goog/cdp/execute", json!({ "cmd": name, "params": parameters })).await
    }

    /// Opens a page of the server.
    pub async fn open(&self, path: &str) {
        self.post("/url", json!({ "url": format!("{ORIGIN}{path}") })).await;
    }

    /// Path and query of the page.
    pub async fn path(&self) -> String {
        let url = self.send(Method::GET, "/url", Value::Null).await.unwrap();
        let url = url::Url::parse(url.as_str().unwrap()).unwrap();
        url[url::Position::BeforePath..url::Position::AfterQuery].to_owned()
    }

    /// Waits until the path of the page is `path`.
    pub async fn arrives(&self, path: &str) {
        self.until(&format!("the page {path}"), async || self.path().await == path).await;
    }

    async fn until(&self, what: &str, holds: impl AsyncFn() -> bool) {
        let begun = Instant::now();
        while !holds().await {
            if begun.elapsed() > PATIENCE {
                panic!("{what} did not come; the page {} says: {}", self.path().await, self.text("body").await);
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// The first element that the CSS selector finds now.
    async fn look_for(&self, css: &str) -> Option<Element> {
        let found = self.send(Method::POST, "/element", json!({ "using": "css selector", "value": css })).await.ok()?;
        // The only member is the id; the protocol defines its name.
        let id = found.as_object()?.values().next()?.as_str()?.to_owned();
        Some(Element(id))
    }

    /// Sends a command about an element.
    async fn of(&self, element: &Element, method: Method, what: &str, body: Value) -> Result<Value, String> {
        self.send(method, &format!("/element/{}/{what}", element.0), body).await
    }

    /// The visible text of the first element that the CSS selector finds; empty while there is none.
    pub async fn text(&self, css: &str) -> String {
        let Some(element) = self.look_for(css).await else { return String::new() };
        let text = self.of(&element, Method::GET, "text", Value::Null).await.unwrap_or_default();
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until an element shows `text`.
    pub async fn shows(&self, css: &str, text: &str) {
        self.until(&format!("{text:?} in {css}"), async || self.text(css).await.contains(text)).await;
    }

    /// Waits until there is an element.
    pub async fn has(&self, css: &str) {
        self.until(css, async || self.look_for(css).await.is_some()).await;
    }

    /// Whether there is an element now.
    pub async fn exists(&self, css: &str) -> bool {
        self.look_for(css).await.is_some()
    }

    /// An attribute of an element; `None` without it.
    pub async fn attribute(&self, css: &str, name: &str) -> Option<String> {
        self.has(css).await;
        let element = self.look_for(css).await?;
        let value = self.of(&element, Method::GET, &format!("attribute/{name}"), Value::Null).await.ok()?;
        value.as_str().map(str::to_owned)
    }

    /// Clicks on an element once it can be clicked; waits for the page that follows.
    pub async fn press(&self, css: &str) {
        self.until(&format!("{css} that can be clicked"), async || {
            let Some(element) = self.look_for(css).await else { return false };
            self.of(&element, Method::POST, "click", json!({})).await.is_ok()
        })
        .await;
    }

    /// Opens a fold, unless it is open.
    pub async fn unfold(&self, details: &str) {
        if self.attribute(details, "open").await.is_none() {
            self.press(&format!("{details} > summary")).await;
        }
    }

    /// Appends text to a field, or chooses a file by its path.
    pub async fn fill(&self, css: &str, text: &str) {
        self.until(&format!("{css} that takes text"), async || {
            let Some(element) = self.look_for(css).await else { return false };
            self.of(&element, Method::POST, "value", json!({ "text": text })).await.is_ok()
        })
        .await;
    }

    /// Replaces the text of a field.
    pub async fn refill(&self, css: &str, text: &str) {
        self.has(css).await;
        let element = self.look_for(css).await.unwrap();
        self.of(&element, Method::POST, "clear", json!({})).await.unwrap();
        self.fill(css, text).await;
    }

    /// Sends keys to what has the focus.
    pub async fn keys(&self, keys: &str) {
        let steps: Vec<Value> = keys
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|what| json!({ "type": what, "value": key.to_string() })))
            .collect();
        self.post("/actions", json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": steps }] })).await;
    }

    /// Runs a script in the page; returns its result.
    pub async fn evaluate(&self, script: &str) -> Value {
        self.post("/execute/sync", json!({ "script": script, "args": [] })).await
    }

    /// Sets the size and the colour scheme of this and all later pages.
    pub async fn look(&self, look: Look) {
        let scheme = if look.dark { "dark" } else { "light" };
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        self.tools("Emulation.setEmulatedMedia", json!({ "features": features })).await;
        let (width, height) = look.size;
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.tools("Emulation.setDeviceMetricsOverride", metrics).await;
    }

    /// Violations of rules of axe-core on the page, each with the rule, the elements and the remedy.
    pub async fn findings(&self) -> Vec<String> {
        let rules = std::fs::read_to_string(axe()).unwrap();
        self.evaluate(&rules).await;
        let run = "const done = arguments[arguments.length - 1]; \
                   axe.run(document, { resultTypes: ['violations'] }) \
                      .then((found) => done(found.violations), (error) => done([{ id: String(error), nodes: [] }]));";
        let found = self.post("/execute/async", json!({ "script": run, "args": [] })).await;
        let finding = |rule: &Value| {
            let nodes = rule["nodes"].as_array().unwrap().iter();
            let places: Vec<_> = nodes.map(|node| format!("{} ({})", node["html"], node["failureSummary"])).collect();
            format!("{}: {}", rule["id"], places.join("; "))
        };
        found.as_array().unwrap().iter().map(finding).collect()
    }

    /// Keeps a picture of the whole page in a file.
    pub async fn keep_picture(&self, file: &Path) {
        let wanted = json!({ "format": "png", "captureBeyondViewport": true });
        let shot = self.tools("Page.captureScreenshot", wanted).await;
        let engine = &base64::engine::general_purpose::STANDARD;
        let bytes = base64::Engine::decode(engine, shot["data"].as_str().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
    }
}
