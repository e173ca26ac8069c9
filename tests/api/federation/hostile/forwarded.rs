//! Lies about what others did: activities that Mallory passes on, without and with an original that agrees.

use serde_json::{Value, json};

use super::{Scene, text};
use crate::harness::Liar;
use crate::harness::liar::{Person, Reply, with};

/// Bob of another server, with a status that his follower Alice received.
async fn bob(scene: &Scene) -> (Person, Value) {
    let bob = Liar::start().await.person("bob");
    scene.follow(&bob).await;
    let note = bob.note("1");
    scene.receive(&bob, &note).await;
    (bob, note)
}

/// A reply of Carol, who is on a third server, to `parent`.
async fn reply(parent: &Value) -> (Person, Value) {
    let carol = Liar::start().await.person("carol");
    let note = with(carol.note("reply"), &json!({ "inReplyTo": parent["id"] }));
    (carol, note)
}

#[tokio::test]
async fn status_that_its_server_does_not_have_is_not_created() {
    let scene = Scene::new().await;
    let (bob, parent) = bob(&scene).await;
    let (carol, note) = reply(&parent).await;
    let create = carol.activity("Create", note.clone());
    assert_eq!(scene.send(&bob, &create).await, "Create status");
    assert!(!scene.has(text(&note, "id")).await);
}

#[tokio::test]
async fn forwarded_status_is_what_the_original_says() {
    let scene = Scene::new().await;
    let (bob, parent) = bob(&scene).await;
    let (carol, note) = reply(&parent).await;
    carol.liar.document("/users/carol/notes/reply", &note);
    let forged = with(note.clone(), &json!({ "content": "forged" }));
    assert_eq!(scene.send(&bob, &carol.activity("Create", forged)).await, "Create ok");
    let seen = scene.status(text(&note, "id")).await.unwrap();
    assert!(text(&seen, "content").contains("reply") && !text(&seen, "content").contains("forged"), "{seen}");
    assert!(seen["in_reply_to_id"].is_string());

    let edited = with(note.clone(), &json!({ "content": "edited", "updated": "2026-01-15T12:00:01Z" }));
    carol.liar.document("/users/carol/notes/reply", &edited);
    let forged = with(edited, &json!({ "content": "forged", "updated": "2026-01-16T12:00:01Z" }));
    assert_eq!(scene.send(&bob, &carol.activity("Update", forged)).await, "Update ok");
    let seen = scene.status(text(&note, "id")).await.unwrap();
    assert!(text(&seen, "content").contains("edited"), "{seen}");
}

#[tokio::test]
async fn original_of_another_author_is_not_created() {
    let scene = Scene::new().await;
    let (bob, parent) = bob(&scene).await;
    let (carol, note) = reply(&parent).await;
    let dave = carol.liar.person("dave");
    carol.liar.document("/users/carol/notes/reply", &with(note.clone(), &json!({ "attributedTo": dave.uri })));
    assert_eq!(scene.send(&bob, &carol.activity("Create", note.clone())).await, "Create not_the_author");
    assert!(!scene.has(text(&note, "id")).await);
}

#[tokio::test]
async fn deletion_counts_when_the_original_is_gone() {
    let scene = Scene::new().await;
    let (bob, parent) = bob(&scene).await;
    let (carol, note) = reply(&parent).await;
    carol.liar.document("/users/carol/notes/reply", &note);
    assert_eq!(scene.send(&bob, &carol.activity("Create", note.clone())).await, "Create ok");
    let delete = carol.activity("Delete", note["id"].clone());
    assert_eq!(scene.send(&bob, &delete).await, "Delete original_exists");
    assert!(scene.has(text(&note, "id")).await);
    carol.liar.put("/users/carol/notes/reply", Reply::status(410, ""));
    let delete = carol.activity("Delete", note["id"].clone());
    assert_eq!(scene.send(&bob, &delete).await, "Delete ok");
    assert!(!scene.has(text(&note, "id")).await);
}

#[tokio::test]
async fn absence_proves_no_deletion() {
    let scene = Scene::new().await;
    let bob = Liar::start().await.person("bob");
    scene.follow(&bob).await;
    // Bob's server answers as all do for objects that are hidden from the server's actor, and even that it is gone.
    let private = with(bob.note("private"), &json!({ "to": [bob.followers()], "cc": [] }));
    let direct = with(bob.note("direct"), &json!({ "to": [scene.alice_uri("")], "cc": [] }));
    for note in [&private, &direct] {
        scene.receive(&bob, note).await;
        for status in [404, 403, 401, 410] {
            let path = format!("/users/bob/notes/{}", if note == &private { "private" } else { "direct" });
            bob.liar.put(&path, Reply::status(status, ""));
            let delete = bob.activity("Delete", note["id"].clone());
            assert_eq!(scene.send(&scene.mallory, &delete).await, "Delete not_public", "{status}");
            let tombstone = json!({ "id": note["id"], "type": "Tombstone" });
            let delete = bob.activity("Delete", tombstone);
            assert_eq!(scene.send(&scene.mallory, &delete).await, "Delete not_public", "{status}");
        }
        assert!(scene.has(text(note, "id")).await);
    }
    // Nor is a public one gone that is not found.
    let public = bob.note("public");
    scene.receive(&bob, &public).await;
    let delete = bob.activity("Delete", public["id"].clone());
    assert_eq!(scene.send(&scene.mallory, &delete).await, "Delete status");
    assert!(scene.has(text(&public, "id")).await);
    // Bob himself deletes his statuses.
    assert_eq!(scene.send(&bob, &bob.activity("Delete", private["id"].clone())).await, "Delete ok");
    assert!(!scene.has(text(&private, "id")).await);
}

#[tokio::test]
async fn stranger_makes_this_server_fetch_nothing() {
    let scene = Scene::new().await;
    let (carol, note) = reply(&json!({ "id": "https://elsewhere.test/1" })).await;
    carol.liar.document("/users/carol/notes/reply", &note);
    let create = carol.activity("Create", note.clone());
    assert_eq!(scene.send(&scene.mallory, &create).await, "Create unrelated");
    let update = carol.activity("Update", note.clone());
    assert_eq!(scene.send(&scene.mallory, &update).await, "Update unknown_status");
    let delete = carol.activity("Delete", note["id"].clone());
    assert_eq!(scene.send(&scene.mallory, &delete).await, "Delete unknown_status");
    assert_eq!(carol.liar.asked("/users/carol/notes/reply"), 0);
}

#[tokio::test]
async fn other_activities_are_not_passed_on() {
    let scene = Scene::new().await;
    let (bob, parent) = bob(&scene).await;
    let carol = Liar::start().await.person("carol");
    for kind in ["Like", "Announce", "Add", "Block", "Undo", "Follow", "Accept"] {
        scene.refuses(&bob, &carol.activity(kind, parent["id"].clone()), 401, "not_the_actor").await;
    }
}
