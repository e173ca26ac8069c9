//! Generated requests to every route: every response conforms to the contract.
//!
//! Never a 5xx or a panic, an error text in every error response, and no partial effects: a failed request leaves the
//! number of rows unchanged. `FUZZ_REQUESTS` sets the number of requests (5,000 by default), `FUZZ_SEED` the seed:
//! the default is fixed, so that results are reproducible.

#[cfg(feature = "plugins")]
mod wide;

use axum::body::{Body, Bytes};
use axum::http::{Method, Request, header};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::harness::{Answer, Client, TestApp};
use crate::platform::contract;
use crate::platform::declarations::{plain, routed};
use crate::seed::{Seed, Status};

/// Number of requests without `FUZZ_REQUESTS`: enough to send each kind of body to each route.
const CASES: u32 = 5_000;

#[expect(clippy::disallowed_methods, reason = "a test's environment says how long to go on")]
fn cases() -> u32 {
    std::env::var("FUZZ_REQUESTS").ok().and_then(|text| text.parse().ok()).unwrap_or(CASES)
}

/// Requests drawn from `FUZZ_SEED`.
fn draw<S: Strategy>(strategy: S, requests: u32) -> impl Iterator<Item = S::Value> {
    #[expect(clippy::disallowed_methods, reason = "a test's environment says what it draws")]
    let seed = std::env::var("FUZZ_SEED").ok().and_then(|text| text.parse::<u64>().ok());
    let rng = match seed {
        None => TestRng::deterministic_rng(RngAlgorithm::ChaCha),
        Some(seed) => TestRng::from_seed(RngAlgorithm::ChaCha, &seed.to_le_bytes().repeat(4)),
    };
    let mut runner = TestRunner::new_with_rng(Config { cases: requests, ..Config::default() }, rng);
    (0..requests).map(move |_| strategy.new_tree(&mut runner).unwrap().current())
}

/// Tables whose number of rows a failed request must not change.
const TABLES: &[&str] = &[
    "accounts",
    "users",
    "statuses",
    "status_edits",
    "mentions",
    "media_attachments",
    "favourites",
    "bookmarks",
    "status_pins",
    "follows",
    "follow_requests",
    "blocks",
    "mutes",
    "notifications",
    "notification_groups",
    "notification_permissions",
    "notification_policies",
    "notification_requests",
    "markers",
    "oauth_apps",
    "oauth_tokens",
    "conversations",
    "account_conversations",
    "announcement_reactions",
    "reports",
    "conversation_mutes",
    "idempotency_keys",
    "account_notes",
    "endorsements",
    "filters",
    "filter_keywords",
    "filter_statuses",
    "tags",
    "status_tags",
    "lists",
    "list_accounts",
    "tag_follows",
    "featured_tags",
    "polls",
    "poll_options",
    "poll_votes",
    "scheduled_statuses",
    "suggestion_dismissals",
];

#[derive(Clone, Debug)]
struct Wild {
    method: String,
    path: String,
    token: u8,
    content_type: &'static str,
    body: Vec<u8>,
}

/// A route and its parameters in the table.
#[derive(Clone, Debug)]
struct Target {
    method: String,
    path: String,
    parameters: Vec<String>,
}

fn targets() -> Vec<Target> {
    let rows = contract::routes();
    let target = |name: &String| {
        let (method, path) = name.split_once(' ').unwrap();
        let row = rows.iter().find(|row| row.method == method && plain(&row.path) == path);
        let parameters = parameters(row.map_or("", |row| row.params.as_str())).collect();
        Target { method: method.to_owned(), path: path.to_owned(), parameters }
    };
    routed().iter().map(target).collect()
}

/// The names in the column `params` of a table, and common parameter names.
fn parameters(column: &str) -> impl Iterator<Item = String> {
    let names = column.split([';', ',']).filter_map(|text| text.split(':').next());
    let names = names.map(|text| text.trim_end_matches('*').trim().to_owned());
    let known = ["limit", "max_id", "since_id", "min_id", "access_token"].map(str::to_owned);
    names.chain(known).filter(|name| !name.is_empty())
}

/// A value that clients send, or should not send.
fn value(ids: &[String]) -> impl Strategy<Value = serde_json::Value> + use<> {
    let odd = vec![
        serde_json::json!(null),
        serde_json::json!(true),
        serde_json::json!(0),
        serde_json::json!(-1),
        serde_json::json!(1e308),
        serde_json::json!(u64::MAX),
        serde_json::json!(i64::MIN),
        serde_json::json!([]),
        serde_json::json!({}),
        serde_json::json!([[["a"]]]),
        serde_json::json!({ "0": { "name": "a", "value": null } }),
        serde_json::json!(["", null, 1, "a"]),
        serde_json::json!("\u{0}"),
        serde_json::json!("a\u{0}b"),
        serde_json::json!(""),
        serde_json::json!("public"),
        serde_json::json!("nonsense"),
        serde_json::json!("99999999999999999999999"),
        serde_json::json!("-9223372036854775808"),
        serde_json::json!("2026-13-45T99:00:00Z"),
        serde_json::json!("https://["),
        serde_json::json!("@alice #tag https://example.test/\u{202e}\u{feff}👩‍👩‍👧‍👦"),
        serde_json::json!("x".repeat(20_000)),
        serde_json::json!("日".repeat(600)),
    ];
    prop_oneof![
        select(odd),
        select(ids.to_vec()).prop_map(serde_json::Value::String),
        ".{0,40}".prop_map(serde_json::Value::String)
    ]
}

fn segment(ids: &[String]) -> impl Strategy<Value = String> + use<> {
    let odd = [
        "0",
        "-1",
        "nonsense",
        "99999999999999999999",
        "%00",
        "%ff%fe",
        "..%2f..",
        "a%20b",
        "1.5",
        "%E6%97%A5",
        "null",
    ];
    let odd: Vec<String> = odd.into_iter().map(str::to_owned).chain(["9".repeat(3_000)]).collect();
    prop_oneof![3 => select(ids.to_vec()), 2 => select(odd)]
}

fn bodies(parameters: Vec<String>, ids: &[String]) -> impl Strategy<Value = (&'static str, Vec<u8>)> + use<> {
    let fields = proptest::collection::vec((select(parameters), value(ids)), 0..5);
    (fields, 0..12_u8, any::<prop::sample::Index>()).prop_map(|(fields, kind, cut)| {
        let json = || {
            let members: Vec<String> =
                fields.iter().map(|(name, value)| format!("{}:{value}", serde_json::json!(name.trim_end_matches("[]")))).collect();
            format!("{{{}}}", members.join(",")).into_bytes()
        };
        let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let form = || {
            let mut form = url::form_urlencoded::Serializer::new(String::new());
            fields.iter().for_each(|(name, value)| {
                form.append_pair(name, &text(value));
            });
            form.finish().into_bytes()
        };
        let multipart = || {
            let mut body = Vec::new();
            for (name, value) in &fields {
                body.extend(format!("--B\r\nContent-Disposition: form-data; name=\"{}\"\r\n\r\n", name.replace('"', "")).bytes());
                body.extend(text(value).bytes());
                body.extend(b"\r\n");
            }
            body.extend(b"--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.png\"\r\n\r\n\x89PNG broken\r\n--B--\r\n");
            body
        };
        let truncated = |mut body: Vec<u8>| {
            let length = if body.is_empty() { 0 } else { cut.index(body.len()) };
            body.truncate(length);
            body
        };
        match kind {
            0 => ("", Vec::new()),
            1..=3 => ("application/json", json()),
            4 => ("application/json", truncated(json())),
            5 => ("application/json", [b"{\"status\":".to_vec(), vec![b'['; 50_000]].concat()),
            6 => ("application/json", b"{\"status\":\"a\",\"status\":{\"b\":1},\"limit\":1,\"limit\":2}".to_vec()),
            7 => ("application/json; charset=utf-16", vec![0xff, 0xfe, 0, 1, 2, 3]),
            8 => ("application/x-www-form-urlencoded", form()),
            9 => ("multipart/form-data; boundary=B", multipart()),
            10 => ("multipart/form-data; boundary=B", truncated(multipart())),
            _ => ("multipart/form-data", form()),
        }
    })
}

fn requests(targets: Vec<Target>, ids: Vec<String>) -> impl Strategy<Value = Wild> + use<> {
    select(targets).prop_flat_map(move |target| {
        let holes = target.path.matches(':').count();
        let segments = proptest::collection::vec(segment(&ids), holes);
        let query = proptest::collection::vec((select(target.parameters.clone()), value(&ids)), 0..4);
        let bodies = bodies(target.parameters.clone(), &ids);
        (Just(target), segments, query, bodies, 0..4_u8).prop_map(
            |(target, segments, query, (content_type, body), token)| {
                let mut path = String::new();
                let mut segments = segments.into_iter();
                for part in target.path.split_inclusive(':') {
                    match part.strip_suffix(':') {
                        Some(part) => path.extend([part.to_owned(), segments.next().unwrap_or_default()]),
                        None => path.push_str(part),
                    }
                }
                let mut pairs = url::form_urlencoded::Serializer::new(String::new());
                for (name, value) in &query {
                    // Invalid tokens are among the cases, but they would hide all other errors.
                    if name != "access_token" || token == 0 {
                        pairs.append_pair(name, value.as_str().unwrap_or("[1]"));
                    }
                }
                let path = format!("{path}?{}", pairs.finish());
                let has_body = target.method != "GET";
                let body = if has_body { body } else { Vec::new() };
                Wild { method: target.method, path, token, content_type, body }
            },
        )
    })
}

struct World {
    app: TestApp,
    clients: [Client; 3],
    ids: Vec<String>,
}

impl World {
    async fn new() -> Self {
        Self::on(TestApp::new().await).await
    }

    /// With accounts and records on a server.
    async fn on(app: TestApp) -> Self {
        let [alice, bob] = app.accounts(["alice", "bob"]).await;
        app.run_jobs().await;
        let (one, other) = (i64::from(alice.id()), i64::from(bob.id()));
        let mut seed = Seed::new(app.db().engine(), "example.test");
        let mut ids = vec![one, other];
        for visibility in ["public", "private", "direct"] {
            for author in [one, other] {
                let status = seed.status(&Status { author, visibility, ..Status::default() });
                seed.poll(status, &["a", "b"]);
                ids.push(status);
            }
        }
        ids.push(seed.notification(one, other, "follow", None));
        ids.push(seed.list(one, "list"));
        seed.write(app.db()).await;
        let application = app.application("read write").await;
        let ids = ids.iter().map(ToString::to_string).chain(["alice", "bob"].map(str::to_owned)).collect();
        Self { clients: [app.anonymous(), application, alice], app, ids }
    }

    async fn send(&self, wild: &Wild) -> Option<Answer> {
        Some(self.app.send(self.request(wild)?).await)
    }

    /// `None` for an invalid URL, which never reaches a server.
    fn request(&self, wild: &Wild) -> Option<Request<Body>> {
        let client = &self.clients[usize::from(wild.token).min(2)];
        let mut request =
            Request::builder().method(Method::from_bytes(wild.method.as_bytes()).unwrap()).uri(&wild.path);
        request = request.header(header::HOST, "example.test");
        if !wild.content_type.is_empty() {
            request = request.header(header::CONTENT_TYPE, wild.content_type);
        }
        if let Some(token) = &client.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        request.body(Body::from(wild.body.clone())).ok()
    }

    async fn rows(&self) -> Vec<i64> {
        let counts: Vec<String> = TABLES.iter().map(|table| format!("(SELECT COUNT(*) FROM {table})")).collect();
        let rows: Vec<(i64,)> = self
            .app
            .db()
            .fetch_raw(&counts.iter().map(|count| format!("SELECT {count}")).collect::<Vec<_>>().join(" UNION ALL "))
            .await
            .unwrap();
        rows.into_iter().map(|(count,)| count).collect()
    }
}

/// The fault of a response, if any.
fn fault(wild: &Wild, answer: &Answer) -> Option<String> {
    let status = answer.status.as_u16();
    if status >= 500 {
        return Some(format!("{status}: {}", answer.text()));
    }
    let no_text = ["/.well-known/webfinger", "/api/v1/instance/", "/api/v1/peers/"]
        .iter()
        .any(|path| wild.path.starts_with(path));
    if status >= 400 && wild.path.starts_with("/api/") && !no_text && answer.error().is_none() {
        return Some(format!("{status} without an error text: {}", answer.text()));
    }
    None
}

#[tokio::test]
async fn generated_requests_are_answered() {
    let world = World::new().await;
    let strategy = requests(targets(), world.ids.clone());
    let cases = cases();
    let mut faults = Vec::new();
    let mut met = std::collections::BTreeMap::<u16, u32>::new();
    let mut before = world.rows().await;
    for wild in draw(strategy, cases) {
        let Some(answer) = world.send(&wild).await else { continue };
        *met.entry(answer.status.as_u16()).or_default() += 1;
        let after = world.rows().await;
        let mut fault = fault(&wild, &answer);
        if answer.status.is_client_error() && before != after {
            let changed: Vec<_> = TABLES.iter().zip(before.iter().zip(&after)).filter(|(_, (a, b))| a != b).collect();
            fault = Some(format!("{} and yet it changed {changed:?}", answer.status));
        }
        before = after;
        if let Some(fault) = fault {
            let body: String = String::from_utf8_lossy(&wild.body).chars().take(300).collect();
            let path: String = wild.path.chars().take(300).collect();
            faults.push(format!("{} {path}\n    {} {body:?}\n    -> {fault}", wild.method, wild.content_type));
        }
    }
    for status in [200, 400, 401, 404, 422] {
        assert!(met.get(&status).is_some_and(|count| *count > 20), "the requests reach too little: {met:?}");
    }
    let shown: Vec<_> = faults.iter().take(15).cloned().collect();
    assert!(faults.is_empty(), "{} of {cases} requests got a wrong answer:\n  {}", faults.len(), shown.join("\n  "));
}

#[tokio::test]
async fn oversized_body_is_refused_unread() {
    let world = World::new().await;
    for (path, content_type) in [
        ("/api/v1/statuses", "application/json"),
        ("/api/v1/statuses", "application/x-www-form-urlencoded"),
        ("/api/v1/statuses", "multipart/form-data; boundary=B"),
        ("/api/v1/apps", "application/json"),
    ] {
        let read = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counted = std::sync::Arc::clone(&read);
        let chunk = Bytes::from(vec![b'a'; 64 * 1024]);
        let head = Bytes::from_static(b"--B\r\nContent-Disposition: form-data; name=\"status\"\r\n\r\n");
        let chunks = std::iter::once(head).chain((0..1_600).map(move |_| chunk.clone())).map(move |chunk| {
            counted.fetch_add(chunk.len(), std::sync::atomic::Ordering::Relaxed);
            Ok::<_, std::convert::Infallible>(chunk)
        });
        let token = world.clients[2].token.clone().unwrap();
        let request = Request::post(path)
            .header(header::HOST, "example.test")
            .header(header::CONTENT_TYPE, content_type)
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .body(Body::from_stream(futures_util::stream::iter(chunks)))
            .unwrap();
        let answer = world.app.send(request).await;
        assert_eq!(answer.status, 413, "{path} {content_type}: {}", answer.text());
        assert!(answer.error().is_some());
        assert!(
            read.load(std::sync::atomic::Ordering::Relaxed) < 20 * 1024 * 1024,
            "{content_type}: all of it was read"
        );
    }
}
