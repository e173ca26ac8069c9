//! Access to streams: tokens, scopes, paths, and the WebSocket protocol.

use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use crate::harness::TestApp;

const ROOT: &str = "/api/v1/streaming";

#[tokio::test]
async fn only_people_with_the_scope_are_let_in() {
    let app = TestApp::new().await;
    let [alice] = app.accounts(["alice"]).await;
    let writer = alice.with_scopes("write").await;
    let reader = alice.with_scopes("read:statuses").await;
    let application = app.application("read").await;
    for path in ["user", "public", "hashtag?tag=x", "direct"] {
        let path = format!("{ROOT}/{path}");
        assert_eq!(app.anonymous().get(&path).fails(401).await, "Missing access token");
        assert_eq!(
            app.anonymous().get(&path).header("authorization", "Bearer x").fails(401).await,
            "Invalid access token"
        );
        assert_eq!(application.get(&path).fails(401).await, "Invalid access token");
    }
    for path in ["user", "user/notification", "direct", "list?list=1"] {
        let refused = writer.get(&format!("{ROOT}/{path}")).fails(401).await;
        assert_eq!(refused, "Access token does not have the required scopes");
    }
    assert!(reader.get(&format!("{ROOT}/user/notification")).fails(401).await.contains("scopes"));
    writer.events("public").await;
    app.anonymous().events(&format!("user?access_token={}", alice.token.as_ref().unwrap())).await;
}

#[tokio::test]
async fn invalid_streams_are_refused_with_a_reason() {
    let app = TestApp::new().await;
    let [alice] = app.accounts(["alice"]).await;
    for (path, status, error) in [
        ("", 404, "Record not found"),
        ("/nonsense", 400, "Unknown stream type"),
        ("/public/nonsense", 400, "Unknown stream type"),
        ("/hashtag", 400, "Missing tag name parameter"),
        ("/hashtag?tag=%21", 400, "This is no name of a hashtag"),
        ("/list", 400, "Missing list name parameter"),
        ("/list?list=x", 401, "Not authorized to stream this list"),
        ("/list?list=99", 401, "Not authorized to stream this list"),
    ] {
        assert_eq!(alice.get(&format!("{ROOT}{path}")).fails(status).await, error, "{path}");
    }
    assert_eq!(alice.post(ROOT).fails(404).await, "Record not found");
    let health = app.anonymous().get(&format!("{ROOT}/health")).send().await;
    assert_eq!((health.status.as_u16(), health.text().as_str()), (200, "OK"));
    assert_eq!(health.header("cache-control"), "private, no-store");
    assert_eq!(
        alice
            .request(axum::http::Method::OPTIONS, &format!("{ROOT}/user"))
            .header("access-control-request-method", "GET")
            .header("origin", "https://app.test")
            .send()
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn streams_at_another_url_are_announced_and_redirected() {
    let app = TestApp::with(&[("ROOKERY_STREAMING_URL", "https://stream.example.test")]).await;
    let [alice] = app.accounts(["alice"]).await;
    let instance = app.anonymous().get("/api/v2/instance").ok().await;
    assert_eq!(instance["configuration"]["urls"]["streaming"], "wss://stream.example.test");
    assert_eq!(
        app.anonymous().get("/api/v1/instance").ok().await["urls"]["streaming_api"],
        "wss://stream.example.test"
    );
    for path in [ROOT, &format!("{ROOT}/user?access_token=x")] {
        let answer = app.anonymous().get(path).send().await;
        assert_eq!(answer.status, 301);
        assert_eq!(answer.header("location"), format!("https://stream.example.test{path}"));
    }
    let there = alice.get(&format!("{ROOT}/nonsense")).header("host", "stream.example.test").send().await;
    assert_eq!(there.status, 400);
    let here = TestApp::new().await;
    let instance = here.anonymous().get("/api/v2/instance").ok().await;
    assert_eq!(instance["configuration"]["urls"]["streaming"], "wss://example.test");
}

#[tokio::test]
async fn socket_has_many_channels() {
    let app = TestApp::new().await;
    let [alice] = app.accounts(["alice"]).await;
    let server = app.listen().await;
    let mut socket = server.socket(&alice, "?stream=hashtag&tag=C%C3%A1t&stream=user").await;
    for message in ["no JSON", "[]", "{\"type\":\"sing\",\"stream\":\"user\"}", "{\"type\":\"subscribe\"}"] {
        socket.send_raw(Message::text(message)).await;
    }
    socket.subscribe(&json!({ "stream": "user" })).await;
    socket.subscribe(&json!({ "stream": "user" })).await;
    let id = alice.publish("#cat").await.into_id();
    let mut told = [socket.next().await, socket.next().await];
    told.sort_by_key(|one| one["stream"].to_string());
    assert_eq!(told[0]["stream"], json!(["hashtag", "Cát"]));
    assert_eq!(told[1]["stream"], json!(["user"]));
    for one in &told {
        assert_eq!(one["event"], "update");
        let payload: serde_json::Value = serde_json::from_str(one["payload"].as_str().unwrap()).unwrap();
        assert_eq!(payload["id"], id.as_str());
    }
    socket.send(&json!({ "type": "unsubscribe", "stream": "hashtag", "tag": "Cát" })).await;
    socket.subscribe(&json!({ "stream": "direct" })).await;
    alice.delete_status(&id).ok().await;
    assert_eq!(socket.next().await, json!({ "stream": ["user"], "event": "delete", "payload": id }));
    let filter = json!({ "title": "T", "context": ["home"] });
    alice.post("/api/v2/filters").json(&filter).ok().await;
    assert_eq!(socket.next().await, json!({ "stream": ["user"], "event": "filters_changed" }));

    socket.send(&json!({ "type": "subscribe", "stream": "list", "list": 7 })).await;
    assert_eq!(socket.next().await, json!({ "error": "Not authorized to stream this list", "status": 401 }));
    socket.send_raw(Message::binary(vec![1])).await;
    assert_eq!(u16::from(socket.closed().await.unwrap().code), 1003);
}

#[tokio::test]
async fn sockets_take_tokens_from_three_places() {
    let app = TestApp::new().await;
    let [alice] = app.accounts(["alice"]).await;
    let token = alice.token.clone().unwrap();
    let server = app.listen().await;
    for (query, headers) in [
        (String::new(), vec![("authorization", format!("Bearer {token}"))]),
        (format!("?access_token={token}"), vec![]),
        (String::new(), vec![("sec-websocket-protocol", token.clone())]),
    ] {
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let mut socket = server.connect(&query, &headers).await.expect("a socket");
        socket.subscribe(&json!({ "stream": "user" })).await;
    }
    for headers in [vec![], vec![("sec-websocket-protocol", "nonsense")], vec![("authorization", "Bearer x")]] {
        let (status, answer) = server.connect("?stream=user", &headers).await.err().expect("a refusal");
        assert_eq!(status, 401);
        assert!(answer["x-error-message"].to_str().unwrap().contains("access token"));
    }
}
