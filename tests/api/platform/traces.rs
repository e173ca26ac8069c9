//! Spans of use cases and SQL statements, and their export by OTLP.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use tracing::Subscriber;
use tracing::span::{Attributes, Id};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

use crate::harness::TestApp;
use crate::platform::serve::Running;

/// A collector that stores all requests.
#[derive(Clone)]
struct Collector {
    address: String,
    requests: Arc<Mutex<Vec<ExportTraceServiceRequest>>>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let collector = Self { address, requests: Arc::default() };
        let requests = Arc::clone(&collector.requests);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                requests.lock().unwrap().push(receive(stream.unwrap()));
            }
        });
        collector
    }

    fn spans(&self) -> Vec<Span> {
        let requests = self.requests.lock().unwrap();
        let resources = requests.iter().flat_map(|request| request.resource_spans.clone());
        resources.flat_map(|resource| resource.scope_spans).flat_map(|scope| scope.spans).collect()
    }
}

/// Reads one request and responds to it.
fn receive(stream: TcpStream) -> ExportTraceServiceRequest {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).unwrap();
    assert!(first.starts_with("POST /v1/traces "), "{first}");
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse().unwrap(),
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    reader.get_mut().write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
    ExportTraceServiceRequest::decode(body.as_slice()).unwrap()
}

/// Waits until the collector has spans that satisfy `is_there`.
fn wait_for(collector: &Collector, is_there: impl Fn(&[Span]) -> bool) -> Vec<Span> {
    let begun = Instant::now();
    loop {
        let spans = collector.spans();
        if is_there(&spans) {
            return spans;
        }
        let names: Vec<_> = spans.iter().map(|span| span.name.as_str()).collect();
        assert!(begun.elapsed() < Duration::from_secs(60), "only {names:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[tokio::test]
async fn collector_gets_use_cases_with_their_statements() {
    let app = TestApp::new().await;
    app.account("corvina").await;
    let collector = Collector::start();
    let keys =
        [("ROOKERY_TELEMETRY_OTLP_ENDPOINT", collector.address.as_str()), ("ROOKERY_TELEMETRY_SERVICE_NAME", "rooks")];
    let server = Running::start_with(&app, &keys);
    let answer = server.get("/api/v1/accounts/lookup?acct=corvina");
    assert!(answer.contains("\"corvina\""), "{answer}");
    // Pending spans are sent when the server stops.
    assert!(Command::new("kill").arg(server.pid().to_string()).status().unwrap().success());
    let is_case = |span: &Span| span.name == "service::access::accounts::lookup";
    let spans = wait_for(&collector, |spans| spans.iter().any(is_case));

    let case = spans.iter().find(|span| is_case(span)).unwrap();
    let statement = spans.iter().find(|span| span.parent_span_id == case.span_id && span.name.starts_with("store::"));
    assert_eq!(statement.expect("a statement below").trace_id, case.trace_id);
    let request = spans.iter().find(|span| span.span_id == case.parent_span_id).expect("a request above");
    assert_eq!(request.name, "request");
    let roots = spans.iter().filter(|span| span.parent_span_id.is_empty());
    assert!(roots.clone().all(|span| !span.name.starts_with("store::")), "{roots:?}");
    let whole = format!("{:?}", collector.requests.lock().unwrap());
    assert!(whole.contains("rooks") && !whole.contains("corvina") && !whole.contains("SELECT"), "{whole}");
}

/// Counts spans by their target.
#[derive(Clone, Default)]
struct Made(Arc<Mutex<BTreeMap<String, usize>>>);

impl<S: Subscriber> Layer<S> for Made {
    fn on_new_span(&self, attributes: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        *self.0.lock().unwrap().entry(attributes.metadata().target().to_owned()).or_default() += 1;
    }
}

/// Targets of the spans of a request with the log filter `level`.
async fn targets(app: &TestApp, level: &str) -> Vec<String> {
    let made = Made::default();
    let subscriber = tracing_subscriber::registry().with(made.clone()).with(rookery_server::logging::filter(level));
    let _guard = tracing::subscriber::set_default(subscriber);
    assert_eq!(app.anonymous().get("/api/v1/accounts/lookup?acct=corvina").send().await.status, 200);
    let made = made.0.lock().unwrap();
    made.keys().filter(|target| target.starts_with("rookery")).cloned().collect()
}

#[tokio::test]
async fn spans_below_request_are_created_only_when_enabled() {
    let app = TestApp::new().await;
    app.account("corvina").await;
    for level in ["info", "debug", "trace"] {
        assert_eq!(targets(&app, level).await, ["rookery_http::observe"], "{level}");
    }
    let named = targets(&app, "info,rookery::use_case=debug,rookery::statement=trace").await;
    assert_eq!(named, ["rookery::statement", "rookery::use_case", "rookery_http::observe"]);
}

/// The Rust files of a folder of `src`: names of their modules, and text.
fn sources(folder: &Path) -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            let below = sources(&path).into_iter();
            found.extend(below.map(|(modules, text)| ([modules, vec![name.clone()]].concat(), text)));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push((vec![name], std::fs::read_to_string(&path).unwrap()));
        }
    }
    found
}

#[test]
fn jobs_and_functions_called_by_other_layers_are_use_cases() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let callers = ["cli", "entity", "http", "plugins", "server", "streaming", "worker"];
    let callers: Vec<_> = callers.iter().flat_map(|layer| sources(&src.join(layer))).map(|(_, text)| text).collect();
    let is_called = |path: String| {
        let calls = |text: &String| {
            let before = |at: usize| text[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
            text.match_indices(&path).any(|(at, _)| !before(at))
        };
        callers.iter().any(calls)
    };
    let mut missing = Vec::new();
    for (mut modules, text) in sources(&src.join("service")) {
        modules.push("service".to_owned());
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let declared = line.split_once("async fn ").filter(|(before, _)| !before.starts_with([' ', '/']));
            let Some((visibility, rest)) = declared else { continue };
            let name = rest.split(['(', '<']).next().unwrap();
            let before = lines[..number].iter().rev();
            let attributes: Vec<&str> = before.take_while(|line| line.starts_with("#[")).copied().collect();
            let called = || modules.iter().any(|module| is_called(format!("{module}::{name}(")));
            if !attributes.contains(&"#[model::use_case]")
                && (attributes.contains(&"#[job]") || visibility == "pub " && called())
            {
                missing.push(format!("{}::{name}", modules[0]));
            }
        }
    }
    assert!(missing.is_empty(), "without #[model::use_case]: {missing:?}");
}
