//! Lies about relays: answers of others, relays that did not accept, and addresses that are none.

use serde_json::json;

use super::Scene;
use crate::harness::Liar;

const RELAYS: &str = "/api/v1/admin/relays";

#[tokio::test]
async fn only_the_relay_answers_its_follow() {
    let scene = Scene::new().await;
    let admin = scene.app.staff("admin", "Admin").await;
    let relay = Liar::start().await.person("relay");
    admin.post(RELAYS).json(&json!({ "url": format!("{}/inbox", relay.uri) })).ok().await;
    scene.app.run_jobs().await;
    let follow = relay.liar.received().pop().expect("a follow")["id"].clone();

    let accept = |id: serde_json::Value| scene.mallory.activity("Accept", id);
    assert_eq!(scene.send(&scene.mallory, &accept(follow.clone())).await, "Accept unknown_follow");
    let guessed = json!("http://localhost:3000/payloads/00000000-0000-4000-8000-000000000000");
    assert_eq!(scene.send(&relay, &relay.activity("Accept", guessed)).await, "Accept unknown_follow");
    assert_eq!(admin.get(RELAYS).ok().await[0]["state"], "pending");

    // Before it accepted, it passes on nothing.
    let note = scene.mallory.note("1");
    scene.liar.document("/users/mallory/notes/1", &note);
    assert_eq!(scene.send(&relay, &relay.activity("Announce", note["id"].clone())).await, "Announce unrelated");

    assert_eq!(scene.send(&relay, &relay.activity("Accept", follow.clone())).await, "Accept ok");
    assert_eq!(admin.get(RELAYS).ok().await[0]["state"], "accepted");
    // Someone else on its host is not the relay.
    let other = relay.liar.person("other");
    assert_eq!(scene.send(&other, &other.activity("Reject", follow)).await, "Reject unknown_follow");
    assert_eq!(scene.send(&other, &other.activity("Announce", note["id"].clone())).await, "Announce unrelated");
    assert_eq!(scene.send(&relay, &relay.activity("Announce", note["id"].clone())).await, "Announce ok");
    assert_eq!(scene.send(&relay, &relay.activity("Announce", note["id"].clone())).await, "Announce known_status");
}

#[tokio::test]
async fn relay_speaks_for_nobody() {
    let scene = Scene::new().await;
    let admin = scene.app.staff("admin", "Admin").await;
    let relay = Liar::start().await.person("relay");
    admin.post(RELAYS).json(&json!({ "url": format!("{}/inbox", relay.uri) })).ok().await;
    scene.app.run_jobs().await;
    let follow = relay.liar.received().pop().expect("a follow")["id"].clone();
    assert_eq!(scene.send(&relay, &relay.activity("Accept", follow)).await, "Accept ok");

    // A note that its own server does not have, and one on another host than its actor's.
    let note = scene.mallory.note("missing");
    let letter = relay.letter(&scene.app, &scene.mallory.activity("Create", note.clone()));
    assert_ne!(scene.deliver(&letter).await, "Create ok");
    let letter = relay.letter(&scene.app, &scene.mallory.activity("Create", "https://elsewhere.test/1"));
    assert_eq!(scene.deliver(&letter).await, "Create foreign_object");
    assert!(!scene.has(note["id"].as_str().unwrap()).await);
    // A follow or a like of someone else is not passed on.
    let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
    assert_eq!(scene.refuse(&relay.letter(&scene.app, &follow)).await, (401, "not_the_actor".to_owned()));
}

#[tokio::test]
async fn address_that_is_no_relay_is_refused() {
    let scene = Scene::new().await;
    let admin = scene.app.staff("admin", "Admin").await;
    for url in ["", "relay", "ftp://relay.test/inbox", "http://localhost:3000/inbox", "https://relay.test/a b/inbox"] {
        let answer = admin.post(RELAYS).json(&json!({ "url": url })).send().await;
        assert_eq!(answer.status, 422, "{url}: {}", answer.text());
    }
    let nobody = scene.liar.url("/users/nobody");
    assert_eq!(admin.post(RELAYS).json(&json!({ "url": nobody })).send().await.status, 422);
    let inbox = json!({ "url": "https://relay.test/inbox" });
    admin.post(RELAYS).json(&inbox).ok().await;
    assert_eq!(admin.post(RELAYS).json(&inbox).send().await.status, 422, "twice");
    for number in 1..20 {
        admin.post(RELAYS).json(&json!({ "url": format!("https://relay{number}.test/inbox") })).ok().await;
    }
    assert_eq!(admin.post(RELAYS).json(&json!({ "url": "https://relay20.test/inbox" })).send().await.status, 422);
    assert_eq!(scene.app.count("relays").await, 20);
}

#[tokio::test]
async fn limited_federation_has_no_relays() {
    let scene = Scene::with(&[Liar::KEYS[0], ("ROOKERY_ACCESS_LIMITED_FEDERATION", "true")]).await;
    let admin = scene.app.staff("admin", "Admin").await;
    let answer = admin.post(RELAYS).json(&json!({ "url": "https://relay.test/inbox" })).send().await;
    assert_eq!(answer.status, 422, "{}", answer.text());
    assert!(answer.text().contains("limited federation"), "{}", answer.text());
}
