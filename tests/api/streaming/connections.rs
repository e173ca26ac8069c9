//! Limits, and when connections end.

use std::time::Duration;

use serde_json::json;

use super::personal::follow;
use crate::harness::TestApp;
use context::change::Change;
use service::oauth::revoke;

#[tokio::test]
async fn slow_consumer_is_disconnected_with_reason() {
    let app = TestApp::with(&[("ROOKERY_STREAMING_QUEUE", "16")]).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let (slow, mut quick) = (alice.events("user").await, bob.events("user").await);
    for person in [&alice, &bob] {
        for number in 0..40 {
            app.app.live.tell(Change::TopicMessage {
                topic: format!("user:{}", person.id()),
                event: "told".to_owned(),
                payload: number.to_string(),
                scopes: Vec::new(),
            });
            if person.name == "bob" {
                assert_eq!(quick.next().await.unwrap().payload, number.to_string());
            }
        }
    }
    let rest = slow.rest().await;
    assert!(rest.contains(":Messages were not taken in time"), "{rest}");
    assert_eq!(app.streams.hub.connected(), 1);
}

#[tokio::test]
async fn connection_ends_with_its_token() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let server = app.listen().await;
    let other = alice.with_scopes("read").await;
    let (mut ended, mut kept) =
        (server.socket(&other, "?stream=user").await, server.socket(&alice, "?stream=user").await);
    let events = other.events("user").await;
    let token = app.number("SELECT max(id) FROM oauth_tokens").await;
    revoke::one(&app.app, token.into()).await.unwrap();
    let frame = ended.closed().await.unwrap();
    assert_eq!((u16::from(frame.code), frame.reason.as_str()), (1008, "The access token is not valid any more"));
    assert!(events.rest().await.contains(":The access token is not valid any more"));
    kept.subscribe(&json!({ "stream": "direct" })).await;

    // Another process made the change, so this process receives no event for it.
    for change in ["disabled = TRUE", "confirmed_at = NULL"] {
        let mut socket = server.socket(&bob, "?stream=user").await;
        app.set_user(&bob, change).await;
        assert_eq!(u16::from(socket.closed().await.unwrap().code), 1008, "{change}");
        app.set_user(&bob, "disabled = FALSE, confirmed_at = created_at").await;
    }
}

#[tokio::test]
async fn connections_are_limited() {
    let app = TestApp::with(&[
        ("ROOKERY_STREAMING_MAX_PER_PERSON", "2"),
        ("ROOKERY_STREAMING_MAX_PER_ADDRESS", "3"),
        ("ROOKERY_STREAMING_MAX_SUBSCRIPTIONS", "2"),
    ])
    .await;
    let [alice, bob, eve] = app.accounts(["alice", "bob", "eve"]).await;
    let first = alice.events("user").await;
    let _second = alice.events("public").await;
    let path = "/api/v1/streaming/user";
    assert_eq!(alice.get(path).fails(503).await, "You have too many streams open");
    let _third = bob.events("user").await;
    assert_eq!(eve.get(path).fails(503).await, "There are too many streams open from this address");
    drop(first);
    let server = app.listen().await;
    let mut socket = server.socket(&eve, "?stream=user").await;
    socket.subscribe(&json!({ "stream": "public" })).await;
    socket.send(&json!({ "type": "subscribe", "stream": "direct" })).await;
    assert_eq!(socket.next().await, json!({ "error": "This connection has too many subscriptions", "status": 429 }));
    drop(socket);
    while app.streams.hub.connected() > 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn client_that_sends_too_many_messages_is_disconnected() {
    let app = TestApp::with(&[("ROOKERY_RATE_LIMITS_ENABLED", "true")]).await;
    let alice = app.account("alice").await;
    let server = app.listen().await;
    let noise = json!({ "type": "unsubscribe", "stream": "direct" });
    // 300 per minute for each connection, and 1,500 in five minutes for all connections.
    for connection in 0..6 {
        let mut socket = server.socket(&alice, "").await;
        for _ in 0..if connection < 5 { 298 } else { 5 } {
            socket.send(&noise).await;
        }
        if connection < 5 {
            socket.subscribe(&json!({ "stream": "user" })).await;
            continue;
        }
        assert_eq!(u16::from(socket.closed().await.unwrap().code), 1008);
    }
    let bob = app.account("bob").await;
    let mut socket = server.socket(&bob, "?stream=user").await;
    for _ in 0..301 {
        socket.send(&noise).await;
    }
    let frame = socket.closed().await.unwrap();
    assert_eq!(
        (u16::from(frame.code), frame.reason.as_str()),
        (1008, "Too many messages: wait a few minutes before you connect again")
    );
}

#[tokio::test]
async fn message_that_is_nested_too_deep_is_not_parsed() {
    let app = TestApp::core().await;
    let alice = app.account("alice").await;
    let server = app.listen().await;
    let mut socket = server.socket(&alice, "").await;
    let mut deep = json!("x");
    for _ in 0..40 {
        deep = json!([deep]);
    }
    // Reading it would cause another error: a list is named by its id.
    socket.send(&json!({ "type": "subscribe", "stream": "list", "x": deep })).await;
    socket.subscribe(&json!({ "stream": "user" })).await;
}

#[tokio::test]
async fn stopping_server_notifies_streams() {
    let app = TestApp::core().await;
    let [alice] = app.accounts(["alice"]).await;
    let server = app.listen().await;
    let (mut socket, events) = (server.socket(&alice, "?stream=user").await, alice.events("user").await);
    let hub = std::sync::Arc::clone(&app.streams.hub);
    let closed = tokio::spawn(async move { hub.close(Duration::from_secs(5)).await });
    let frame = socket.closed().await.unwrap();
    assert_eq!(
        (u16::from(frame.code), frame.reason.as_str()),
        (1012, "The server restarts: connect again in a moment")
    );
    assert!(events.rest().await.contains(":The server restarts"));
    closed.await.unwrap();
    assert_eq!(alice.get("/api/v1/streaming/user").fails(503).await, "The server restarts, try again in a moment");
}

#[tokio::test]
async fn many_receivers_cost_same_statements_as_few() {
    let app = TestApp::core().await;
    let [alice] = app.accounts(["alice"]).await;
    let mut costs = Vec::new();
    let mut streams = Vec::new();
    for names in [&["r1", "r2"][..], &["r3", "r4", "r5", "r6", "r7", "r8", "r9"]] {
        for name in names {
            let person = app.account(name).await;
            follow(&person, &alice).await;
            streams.push((person.events("user").await, person.events("public").await));
        }
        // The first round fills the caches of each receiver.
        for round in 0..2 {
            let id = alice.publish("hello").await.into_id();
            app.run_jobs().await;
            for (home, public) in &mut streams {
                for events in [home, public] {
                    while events.next().await.unwrap().json()["id"] != id.as_str() {}
                }
            }
            if round == 0 {
                continue;
            }
            let follows = "SELECT account_id FROM follows";
            let owners: Vec<(i64,)> = app.db().fetch_raw(follows).await.unwrap();
            let owners = owners.into_iter().map(|(id,)| id).collect();
            let status = id.parse::<i64>().unwrap().into();
            let told = async {
                app.app.live.tell(Change::FeedEntered { kind: 0, owners, status });
                for (home, _) in &mut streams {
                    assert_eq!(home.next().await.unwrap().name, "update");
                }
            };
            costs.push(app.cost(told).await.0);
        }
    }
    assert_eq!(costs[0], costs[1], "{costs:?}");
}
