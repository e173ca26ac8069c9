//! Lies about what changed.

use serde_json::json;

use super::{Scene, text};
use crate::harness::Liar;
use crate::harness::liar::{PUBLIC, with};

#[tokio::test]
async fn note_of_someone_else_is_not_updated() {
    let scene = Scene::new().await;
    let bob = scene.liar.person("bob");
    scene.follow(&bob).await;
    let status = scene.receive(&bob, &bob.note("1")).await;
    let edit = json!({ "content": "a lie", "updated": "2026-01-15T13:00:00Z" });
    let update = |members| scene.mallory.activity("Update", with(with(bob.note("1"), &edit), members));
    let own = json!({ "attributedTo": scene.mallory.uri });
    for lie in [update(&json!({})), update(&own)] {
        assert_eq!(scene.send(&scene.mallory, &lie).await, "Update not_the_author");
    }
    let eve = Liar::start().await.person("eve");
    let lie = eve.activity("Update", with(with(bob.note("1"), &edit), &json!({ "attributedTo": eve.uri })));
    assert_eq!(scene.send(&eve, &lie).await, "Update foreign_object");
    let again = scene.status(text(&bob.note("1"), "id")).await.unwrap();
    assert_eq!((&again["content"], &again["edited_at"]), (&status["content"], &json!(null)));
}

#[tokio::test]
async fn local_status_is_not_updated() {
    let scene = Scene::new().await;
    let status = scene.alice.publish("mine").await;
    let members = json!({ "id": status["uri"], "updated": "2026-01-15T13:00:00Z" });
    let lie = scene.mallory.activity("Update", with(scene.mallory.note("1"), &members));
    assert_eq!(scene.send(&scene.mallory, &lie).await, "Update foreign_object");
    assert_eq!(scene.alice.status(&status).ok().await["content"], status["content"]);
}

#[tokio::test]
async fn older_update_is_ignored() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    let mut note = scene.mallory.note("1");
    scene.receive(&scene.mallory, &note).await;
    let mut results = Vec::new();
    for (content, updated) in [
        ("a", json!("2026-01-15T12:00:03Z")),
        ("b", json!("2026-01-15T12:00:02Z")),
        ("c", json!("2026-01-15T12:00:03Z")),
        ("d", json!("0000-01-01T00:00:00Z")),
        ("e", json!(null)),
        ("f", json!("later")),
    ] {
        note = with(note, &json!({ "content": content, "updated": updated }));
        results.push(scene.send(&scene.mallory, &scene.mallory.activity("Update", note.clone())).await);
    }
    let old = "Update unknown_or_not_newer";
    assert_eq!(results, ["Update ok", old, old, old, old, old]);
    let status = scene.status(text(&note, "id")).await.unwrap();
    assert!(text(&status, "content").contains('a'), "{status}");
}

#[tokio::test]
async fn update_from_the_future_is_ignored() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    let note = scene.mallory.note("1");
    scene.receive(&scene.mallory, &note).await;
    let update = |content: &str, updated: &str| {
        scene.mallory.activity("Update", with(note.clone(), &json!({ "content": content, "updated": updated })))
    };
    for future in ["9999-01-01T00:00:00Z", "2099-01-01T00:00:00Z", "2026-01-15T14:00:00Z"] {
        assert_eq!(scene.send(&scene.mallory, &update("a", future)).await, "Update unknown_or_not_newer", "{future}");
    }
    // A clock may be ahead for a while; then the order of the edits is still theirs.
    assert_eq!(scene.send(&scene.mallory, &update("b", "2026-01-15T12:50:00Z")).await, "Update ok");
    assert_eq!(scene.send(&scene.mallory, &update("c", "2026-01-15T12:40:00Z")).await, "Update unknown_or_not_newer");
    assert_eq!(scene.send(&scene.mallory, &update("d", "2026-01-15T12:51:00Z")).await, "Update ok");
    let edited = scene.status(text(&note, "id")).await.unwrap();
    assert!(text(&edited, "content").contains('d'), "{edited}");
    assert!(text(&edited, "edited_at").starts_with("2026-01-15T12:51"), "{edited}");
}

#[tokio::test]
async fn edits_fill_no_database() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    let note = scene.mallory.note("1");
    scene.receive(&scene.mallory, &note).await;
    let status = scene.status(text(&note, "id")).await.unwrap();
    let history = format!("/api/v1/statuses/{}/history", text(&status, "id"));
    let tags: Vec<_> = (0..300).map(|n| json!({ "type": "Hashtag", "name": format!("#t{n}") })).collect();
    for number in 1..=40 {
        let content = format!("{number} {}", "x".repeat(500_000));
        let updated = format!("2026-01-15T12:{number:02}:00Z");
        let edited = with(note.clone(), &json!({ "content": content, "updated": updated, "tag": tags }));
        assert_eq!(scene.send(&scene.mallory, &scene.mallory.activity("Update", edited)).await, "Update ok");
    }
    let shown = scene.app.anonymous().get(&history).send().await;
    assert!(shown.text().len() < 1024 * 1024, "{} bytes", shown.text().len());
    let (first, last) = (shown.json()[0].clone(), shown.json().as_array().unwrap().last().unwrap().clone());
    assert!(text(&first, "content").contains("<p>1</p>"), "the first text stays: {first}");
    assert!(text(&last, "content").contains("40 x"));
    assert_eq!(scene.alice.status(&status).ok().await["tags"].as_array().unwrap().len(), 100);
    for number in 1..=150 {
        let updated = format!("2026-01-15T12:50:00.{number:03}Z");
        let edited = with(note.clone(), &json!({ "content": number.to_string(), "updated": updated }));
        assert_eq!(scene.send(&scene.mallory, &scene.mallory.activity("Update", edited)).await, "Update ok");
    }
    let shown = scene.alice.get(&history).ok().await;
    assert_eq!(shown.as_array().unwrap().len(), 101, "a hundred former revisions and the current one");
    assert!(text(&shown[0], "content").contains("<p>1</p>") && text(&shown[100], "content").contains("150"));
}

#[tokio::test]
async fn update_does_not_change_visibility() {
    let scene = Scene::new().await;
    let carol = scene.app.account("carol").await;
    scene.follow(&scene.mallory).await;
    let note = with(scene.mallory.note("1"), &json!({ "to": [scene.mallory.followers()], "cc": [] }));
    let status = scene.receive(&scene.mallory, &note).await;
    let edit = json!({ "to": [PUBLIC], "content": "for all", "updated": "2026-01-15T12:00:03Z" });
    assert_eq!(
        scene.send(&scene.mallory, &scene.mallory.activity("Update", with(note.clone(), &edit))).await,
        "Update ok"
    );
    let again = scene.status(text(&note, "id")).await.unwrap();
    assert_eq!((&again["visibility"], &again["content"]), (&json!("private"), &json!("for all")));
    carol.status(&status).fails(404).await;
}

#[tokio::test]
async fn update_of_an_unknown_note_does_not_create_it() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    let note = with(scene.mallory.note("1"), &json!({ "updated": "2026-01-15T12:00:03Z" }));
    let update = scene.mallory.activity("Update", note);
    assert_eq!(scene.send(&scene.mallory, &update).await, "Update unknown_or_not_newer");
    assert_eq!(scene.app.count("statuses").await, 0);
}

#[tokio::test]
async fn profile_of_someone_else_is_not_updated() {
    let scene = Scene::new().await;
    let bob = scene.liar.person("bob");
    let account = scene.find(&bob).await;
    let lie = with(bob.actor(), &json!({ "name": "Not Bob" }));
    assert_eq!(scene.send(&scene.mallory, &scene.mallory.activity("Update", lie.clone())).await, "Update disbelieved");
    let eve = Liar::start().await.person("eve");
    assert_eq!(scene.send(&eve, &eve.activity("Update", lie)).await, "Update foreign_object");
    assert_eq!(scene.find(&bob).await["display_name"], account["display_name"]);
    let lie = json!({ "id": scene.alice_uri(""), "type": "Person", "name": "Not Alice" });
    assert_eq!(scene.send(&scene.mallory, &scene.mallory.activity("Update", lie)).await, "Update foreign_object");
}

#[tokio::test]
async fn update_does_not_change_the_address() {
    let scene = Scene::new().await;
    let account = scene.find(&scene.mallory).await;
    let actor = with(scene.mallory.actor(), &json!({ "preferredUsername": "bob", "name": "Bob" }));
    assert_eq!(scene.send(&scene.mallory, &scene.mallory.activity("Update", actor)).await, "Update ok");
    let again = scene.find(&scene.mallory).await;
    assert_eq!((&again["id"], &again["acct"]), (&account["id"], &account["acct"]));
    assert_eq!(again["display_name"], "Bob");
}
