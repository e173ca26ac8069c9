//! Channels of streams when their plugin is replaced.

use std::time::Duration;

use context::change::Change;
use plugins::{admin, life};
use serde_json::{Value, json};

use super::shelf::{Shelf, broken_channels, channels, manifest};
use crate::harness::{Client, Events, Listening, Socket, TestApp};

const HOOK: &str = "[permissions]\ntopics = [\"bell\"]\n[[hook]]\non = \"channels\"\nkinds = [\"bells\"]\n";

/// Serves the next generation of the plugin, with this component.
async fn replace(shelf: &Shelf, version: u8, wasm: &[u8]) {
    shelf.put_component("bells", &manifest("bells", &format!("1.0.{version}"), HOOK), wasm);
    shelf.reload("bells").await.unwrap();
}

/// A server whose plugin shows the topic `bell:1` to everyone, and a client subscribed by both protocols.
async fn world() -> (Shelf, Client, Listening) {
    let shelf = Shelf::in_development().await;
    shelf.put_component("bells", &manifest("bells", "1.0.0", HOOK), &channels(Ok("bell:1")));
    shelf.enable("bells").await.unwrap();
    let alice = shelf.app.account("alice").await;
    let server = shelf.app.listen().await;
    (shelf, alice, server)
}

/// Sends an event to a topic of the plugin.
fn ring(app: &TestApp, bell: u8, event: &str) {
    app.app.live.tell(Change::TopicMessage {
        topic: format!("bells/bell:{bell}"),
        event: event.to_owned(),
        payload: "{}".to_owned(),
        scopes: Vec::new(),
    });
}

/// Rings `bell` until both streams receive it.
async fn heard(app: &TestApp, bell: u8, socket: &mut Socket, events: &mut Events) {
    for _ in 0..400 {
        ring(app, bell, "again");
        let (here, there) = (socket.try_next(SOON).await, events.try_next(SOON).await);
        if here.is_some() && there.is_some() {
            return;
        }
    }
    panic!("the bell {bell} was never received");
}

const SOON: Duration = Duration::from_millis(50);

/// The next message of the socket, without the rings of [`heard`].
async fn said(socket: &mut Socket) -> Value {
    loop {
        let message = socket.next().await;
        if message["event"] != "again" {
            return message;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn open_channels_follow_topics_of_new_generation() {
    let (shelf, alice, server) = world().await;
    let app = &shelf.app;
    let (mut socket, mut events) = (server.socket(&alice, "?stream=bells").await, alice.events("bells").await);
    heard(app, 1, &mut socket, &mut events).await;

    replace(&shelf, 1, &channels(Ok("bell:2"))).await;
    heard(app, 2, &mut socket, &mut events).await;
    ring(app, 1, "before");
    ring(app, 2, "now");
    assert_eq!(said(&mut socket).await, json!({ "stream": ["bells"], "event": "now", "payload": "{}" }));
    while let Some(event) = events.next().await {
        assert_ne!(event.name, "before", "the topic of the previous generation has ended");
        if event.name == "now" {
            break;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn channels_close_when_refused_by_new_generation_or_plugin_is_disabled() {
    let (shelf, alice, server) = world().await;
    let app = &shelf.app;
    let (mut socket, events) = (server.socket(&alice, "?stream=bells").await, alice.events("bells").await);

    replace(&shelf, 1, &channels(Err((403, "not for you")))).await;
    assert_eq!(said(&mut socket).await, json!({ "error": "not for you", "status": 403, "stream": ["bells"] }));
    assert!(events.rest().await.contains(":The plugin that serves this stream refuses it now"));
    assert_eq!(alice.get("/api/v1/streaming/bells").fails(403).await, "not for you");

    // The connection stays open, and can subscribe again to the closed channel.
    replace(&shelf, 2, &channels(Ok("bell:1"))).await;
    socket.subscribe(&json!({ "stream": "bells" })).await;
    let mut events = alice.events("bells").await;
    heard(app, 1, &mut socket, &mut events).await;
    admin::disable(&app.plugins(), &model::Staff::operator(), "bells").await.unwrap();
    life::follow(&app.plugins()).await;
    let off = json!({ "error": "This stream has ended: the plugin that served it is off", "status": 404, "stream": ["bells"] });
    assert_eq!(said(&mut socket).await, off);
    assert!(events.rest().await.contains(":The plugin that served this stream is off"));

    shelf.enable("bells").await.unwrap();
    socket.subscribe(&json!({ "stream": "bells" })).await;
    let mut events = alice.events("bells").await;
    heard(app, 1, &mut socket, &mut events).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn channels_close_when_new_generation_does_not_respond() {
    let (shelf, alice, server) = world().await;
    let (mut socket, events) = (server.socket(&alice, "?stream=bells").await, alice.events("bells").await);
    replace(&shelf, 1, &broken_channels()).await;
    let told = said(&mut socket).await;
    assert_eq!((&told["status"], &told["stream"]), (&json!(503), &json!(["bells"])), "{told}");
    assert!(events.rest().await.contains(":The plugin that serves this stream gives no answer"));
    socket.subscribe(&json!({ "stream": "direct" })).await;
}
