//! Rows of the group `streaming`: tokens, scopes, parameters and the start of the response, by both protocols.
//!
//! A response never ends, so only its first bytes are read. Every problem with a token is 401
//! (docs/contract/streaming.md#2-authentication), where other rows have 403 and 422. The module `streaming` tests the
//! events.

use std::time::Duration;

use axum::http::header;
use axum::response::Response;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{Faults, STREAMS};
use crate::harness::{ALL_SCOPES, Answer, Client, Listening, Socket, TestApp};
use crate::platform::contract::{self, Route};

/// Prefix of every path of the group.
const ROOT: &str = "/api/v1/streaming";
/// Time limit of the first bytes, for a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Requests for the channel of a row, as paths below [`ROOT`].
struct Channel {
    opens: Vec<String>,
    /// With the expected HTTP status for a token with every scope.
    refused: Vec<(String, u16)>,
}

/// A server, and accounts in every state.
struct World {
    app: TestApp,
    server: Listening,
    alice: Client,
    bob: Client,
    pending: Client,
    suspended: Client,
}

impl World {
    async fn on(app: TestApp) -> Self {
        let [alice, bob, pending, suspended] = app.accounts(["alice", "bob", "pending", "suspended"]).await;
        app.unapprove(&pending).await;
        app.suspend(&suspended).await;
        let server = app.listen().await;
        Self { app, server, alice, bob, pending, suspended }
    }

    /// A channel with an id parameter: only ids that the caller created with a request to `path` are accepted.
    async fn owned(&self, name: &str, path: &str) -> Channel {
        let new = json!({ "title": "Rooks" });
        let [own, others] = [self.alice.post(path).json(&new).ok().await, self.bob.post(path).json(&new).ok().await];
        let with = |id: &str| format!("{name}?{name}={id}");
        let id = |made: &Value| made["id"].as_str().unwrap().to_owned();
        Channel {
            opens: vec![with(&id(&own))],
            refused: vec![
                (name.to_owned(), 400),
                (with(""), 400),
                (with("nonsense"), 401),
                (with("99"), 401),
                (with(&id(&others)), 401),
            ],
        }
    }

    /// The channel of a row; `None` if there is no case for it.
    async fn channel(&self, row: &Route) -> Option<Channel> {
        let name = row.path.strip_prefix(ROOT)?.trim_start_matches('/').to_owned();
        let plain = |opens: Vec<String>| Channel { opens, refused: Vec::new() };
        Some(match name.as_str() {
            "user" | "user/notification" | "direct" => plain(vec![name]),
            "public" | "public/local" | "public/remote" => plain(vec![format!("{name}?only_media=true"), name]),
            "hashtag" | "hashtag/local" => Channel {
                opens: vec![format!("{name}?tag=Rooks")],
                refused: ["", "?tag=", "?tag=%21"].map(|query| (format!("{name}{query}"), 400)).to_vec(),
            },
            "list" => self.owned("list", "/api/v1/lists").await,
            "antenna" => self.owned("antenna", "/api/v1/antennas").await,
            _ => return None,
        })
    }
}

/// Reads a response; of an event stream only the first bytes.
async fn beginning(response: Response) -> Answer {
    if response.headers().get(header::CONTENT_TYPE).is_none_or(|kind| kind != "text/event-stream") {
        return Answer::read(response).await;
    }
    let (parts, body) = response.into_parts();
    let first = timeout(PATIENCE, body.into_data_stream().next()).await.expect("a stream starts immediately");
    let body = first.map_or_else(Vec::new, |bytes| bytes.unwrap().to_vec());
    Answer { status: parts.status, headers: parts.headers, body }
}

async fn ask(client: &Client, path: &str) -> Answer {
    beginning(client.open_events(path).await).await
}

/// Checks the start of a stream against docs/contract/streaming.md#5-server-sent-events.
fn expect_stream(row: &Route, who: &str, answer: &Answer, faults: &mut Faults) {
    faults.expect_success(row, who, answer);
    if answer.status.as_u16() != row.success_status {
        return;
    }
    let found = (answer.header("content-type"), answer.header("cache-control"), answer.text());
    if found != ("text/event-stream", "private, no-store", ":)\n".to_owned()) {
        faults.0.push(format!("{}: {who}: begins with {found:?}", row.name()));
    }
}

/// The WebSocket message that subscribes to the channel of `path`.
fn subscription(path: &str) -> Value {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let mut message = json!({ "type": "subscribe", "stream": path.replace('/', ":") });
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        match &*name {
            "only_media" => message["stream"] = json!(format!("{}:media", path.replace('/', ":"))),
            name => message[name] = json!(value),
        }
    }
    message
}

/// Subscribes by WebSocket; returns the status of the error, or 200.
async fn subscribe(socket: &mut Socket, path: &str) -> u64 {
    socket.send(&subscription(path)).await;
    // Messages are processed in order, and this one always fails.
    socket.send(&json!({ "type": "subscribe", "stream": "nonsense" })).await;
    let first = socket.next().await;
    if first["error"] == "Unknown stream type" {
        return 200;
    }
    socket.next().await;
    first["status"].as_u64().unwrap_or_default()
}

/// Checks the row of a channel by server-sent events.
async fn check_events(world: &World, row: &Route, channel: &Channel, faults: &mut Faults) {
    let path = &channel.opens[0];
    let stale = Client::new(world.app.clone(), None, "", Some("no-token-of-ours".to_owned()));
    let application = world.app.application(ALL_SCOPES).await;
    let nobody = world.app.anonymous();
    for (who, client) in [
        ("no token", &nobody),
        ("a bad token", &stale),
        ("app token", &application),
        ("pending", &world.pending),
        ("suspended", &world.suspended),
    ] {
        faults.expect(row, who, 401, &ask(client, path).await);
    }
    let wrong = ask(&world.alice.with_scopes("push").await, path).await;
    match row.scopes.is_empty() {
        true => expect_stream(row, "any scope", &wrong, faults),
        false => faults.expect(row, "wrong scope", 401, &wrong),
    }
    for scope in row.scopes.iter().map(String::as_str).chain([ALL_SCOPES]) {
        let client = world.alice.with_scopes(scope).await;
        for path in &channel.opens {
            expect_stream(row, &format!("scope {scope}: {path}"), &ask(&client, path).await, faults);
        }
    }
    let token = world.alice.token.as_deref().unwrap();
    let with_token = format!("{path}{}access_token={token}", if path.contains('?') { '&' } else { '?' });
    expect_stream(row, "a token in the query", &ask(&nobody, &with_token).await, faults);
    for (path, status) in &channel.refused {
        faults.expect(row, &format!("refused {path}"), *status, &ask(&world.alice, path).await);
    }
}

/// Checks the row of a channel by WebSocket, with a token that has every scope and with one that has a wrong scope.
async fn check_sockets(world: &World, row: &Route, channel: &Channel, faults: &mut Faults) {
    let mut socket = world.server.socket(&world.alice, "").await;
    let mut wrong = world.server.socket(&world.alice.with_scopes("push").await, "").await;
    let mut expect = |who: &str, path: &str, wanted: u64, status: u64| {
        if status != wanted {
            faults.0.push(format!("{}: {who}, by WebSocket: {path}: {status} instead of {wanted}", row.name()));
        }
    };
    for path in &channel.opens {
        expect("every scope", path, 200, subscribe(&mut socket, path).await);
        let wanted = if row.scopes.is_empty() { 200 } else { 401 };
        expect("another scope", path, wanted, subscribe(&mut wrong, path).await);
    }
    for (path, status) in &channel.refused {
        expect("every scope", path, (*status).into(), subscribe(&mut socket, path).await);
    }
}

async fn check(world: &World, row: &Route, faults: &mut Faults) {
    match row.path.as_str() {
        ROOT => {
            let here = world.app.anonymous().get(ROOT).send().await;
            faults.expect(row, "streams are here", 404, &here);
            let there = TestApp::with(&[("ROOKERY_STREAMING_URL", "https://stream.example.test")]).await;
            faults.expect_success(row, "streams are elsewhere", &there.anonymous().get(ROOT).send().await);
        }
        "/api/v1/streaming/health" => {
            let answer = world.app.anonymous().get(&row.path).send().await;
            faults.expect_success(row, "no token", &answer);
            assert_eq!((answer.text().as_str(), answer.header("cache-control")), ("OK", "private, no-store"));
        }
        _ => {
            let Some(channel) = world.channel(row).await else {
                return faults.0.push(format!("{}: nobody wrote a case for this row", row.name()));
            };
            check_events(world, row, &channel, faults).await;
            check_sockets(world, row, &channel, faults).await;
        }
    }
}

async fn check_rows(app: TestApp, rows: Vec<Route>) {
    let world = World::on(app).await;
    let mut faults = Faults::default();
    let rows: Vec<Route> = rows.into_iter().filter(|row| row.group == STREAMS).collect();
    assert!(!rows.is_empty());
    for row in &rows {
        check(&world, row, &mut faults).await;
    }
    assert!(faults.0.is_empty(), "{} faults in {} rows:\n  {}", faults.0.len(), rows.len(), faults.0.join("\n  "));
}

#[tokio::test]
async fn stream_rows_match_the_contract() {
    check_rows(TestApp::new().await, contract::routes()).await;
}

#[cfg(feature = "plugins")]
#[tokio::test]
async fn antenna_stream_row_matches_the_contract() {
    check_rows(crate::plugins::guest::serve("antennas", &[]).await, contract::extensions()).await;
}
