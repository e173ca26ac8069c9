//! Lies about deletions.

use serde_json::json;

use super::{Scene, text};
use crate::harness::liar::with;
use crate::harness::{Letter, Liar};

#[tokio::test]
async fn note_of_someone_else_is_not_deleted() {
    let scene = Scene::new().await;
    let (bob, eve) = (scene.liar.person("bob"), Liar::start().await.person("eve"));
    scene.follow(&bob).await;
    let note = bob.note("1");
    scene.receive(&bob, &note).await;
    for object in [note["id"].clone(), json!({ "id": note["id"], "type": "Tombstone" })] {
        let delete = |person: &crate::harness::liar::Person| person.activity("Delete", object.clone());
        assert_eq!(scene.send(&scene.mallory, &delete(&scene.mallory)).await, "Delete not_the_author");
        assert_eq!(scene.send(&eve, &delete(&eve)).await, "Delete foreign_object");
    }
    assert!(scene.status(text(&note, "id")).await.is_some());
}

#[tokio::test]
async fn delete_of_a_coming_note_of_someone_else_does_not_prevent_it() {
    let scene = Scene::new().await;
    let bob = scene.liar.person("bob");
    scene.follow(&bob).await;
    let note = bob.note("1");
    let delete = scene.mallory.activity("Delete", note["id"].clone());
    assert_eq!(scene.send(&scene.mallory, &delete).await, "Delete unknown_status");
    scene.receive(&bob, &note).await;
}

#[tokio::test]
async fn undo_of_a_coming_reblog_of_someone_else_does_not_prevent_it() {
    let scene = Scene::new().await;
    let (bob, status) = (scene.liar.person("bob"), scene.alice.publish("hello").await);
    let announce = bob.activity("Announce", status["uri"].clone());
    let undo = scene.mallory.activity("Undo", announce["id"].clone());
    assert_eq!(scene.send(&scene.mallory, &undo).await, "Undo nothing_to_undo");
    assert_eq!(scene.send(&bob, &announce).await, "Announce ok");
    assert_eq!(scene.alice.status(&status).ok().await["reblogs_count"], 1);
}

#[tokio::test]
async fn actor_of_someone_else_is_not_deleted() {
    let scene = Scene::new().await;
    let (bob, eve) = (scene.liar.person("bob"), Liar::start().await.person("eve"));
    scene.find(&bob).await;
    for object in [json!(bob.uri), json!({ "id": bob.uri, "type": "Person" })] {
        let delete = |person: &crate::harness::liar::Person| person.activity("Delete", object.clone());
        assert_eq!(scene.send(&scene.mallory, &delete(&scene.mallory)).await, "Delete not_the_author");
        assert_eq!(scene.send(&eve, &delete(&eve)).await, "Delete foreign_object");
    }
    // Bob is still there, and his own activities are still believed.
    let actor = with(bob.actor(), &json!({ "name": "Robert" }));
    assert_eq!(scene.send(&bob, &bob.activity("Update", actor)).await, "Update ok");
    assert_eq!(scene.find(&bob).await["display_name"], "Robert");
}

#[tokio::test]
async fn delete_of_an_unknown_actor_of_the_same_host_does_not_prevent_it() {
    let scene = Scene::new().await;
    let bob = scene.liar.person("bob");
    let delete = scene.mallory.activity("Delete", bob.uri.clone());
    assert_eq!(scene.send(&scene.mallory, &delete).await, "Delete unknown_status");
    scene.find(&bob).await;
    assert_eq!(scene.send(&bob, &bob.activity("Follow", scene.alice_uri(""))).await, "Follow ok");
}

#[tokio::test]
async fn local_status_and_account_are_not_deleted() {
    let scene = Scene::new().await;
    let status = scene.alice.publish("mine").await;
    for object in [status["uri"].clone(), json!(scene.alice_uri("")), json!({ "id": status["uri"] })] {
        let delete = scene.mallory.activity("Delete", object);
        assert_eq!(scene.send(&scene.mallory, &delete).await, "Delete foreign_object");
    }
    scene.alice.status(&status).ok().await;
}

#[tokio::test]
async fn unsigned_deletion_of_a_known_actor_is_refused() {
    let scene = Scene::new().await;
    scene.find(&scene.mallory).await;
    let delete = scene.mallory.activity("Delete", scene.mallory.uri.clone());
    let letter = Letter::new(&scene.app, "/inbox", delete.to_string());
    assert_eq!(scene.refuse(&letter).await, (401, "unsigned".to_owned()));
    scene.find(&scene.mallory).await;
}

#[tokio::test]
async fn deletion_of_an_unknown_actor_does_nothing() {
    let scene = Scene::new().await;
    for uri in [scene.mallory.uri.as_str(), "http://192.0.2.1/users/x", "javascript:alert(1)", ""] {
        let delete = with(scene.mallory.activity("Delete", uri), &json!({ "actor": uri }));
        let letter = Letter::new(&scene.app, "/inbox", delete.to_string());
        assert_eq!(scene.deliver(&letter).await, "", "{uri}");
    }
    assert_eq!(scene.app.count("tombstones").await + scene.app.count("inbound_activities").await, 0);
    assert_eq!(scene.liar.asked("/users/mallory"), 0);
}

#[tokio::test]
async fn deleted_actor_does_not_come_back() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    let delete = scene.mallory.activity("Delete", scene.mallory.uri.clone());
    assert_eq!(scene.send(&scene.mallory, &delete).await, "Delete ok");
    assert_eq!(scene.search(&scene.mallory.address()).await, None);
    let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
    scene.app.tick();
    let answer = scene.mallory.letter(&scene.app, &follow).send(&scene.app).await;
    assert!([401, 403].contains(&answer.status.as_u16()), "{}", answer.text());
    assert_eq!(scene.app.count("follows").await, 0);
}

#[tokio::test]
async fn delete_by_someone_else_does_not_undo_what_the_author_deleted() {
    let scene = Scene::new().await;
    let bob = scene.liar.person("bob");
    scene.follow(&bob).await;
    let note = bob.note("1");
    // Mallory says first that it was deleted.
    assert_eq!(
        scene.send(&scene.mallory, &scene.mallory.activity("Delete", note["id"].clone())).await,
        "Delete unknown_status"
    );
    scene.receive(&bob, &note).await;
    assert_eq!(scene.send(&bob, &bob.activity("Delete", note["id"].clone())).await, "Delete ok");
    scene.send(&scene.mallory, &scene.mallory.activity("Delete", note["id"].clone())).await;
    assert_eq!(scene.send(&bob, &bob.activity("Create", note.clone())).await, "Create gone");
    assert!(!scene.has(text(&note, "id")).await);
}

#[tokio::test]
async fn delete_of_an_actor_by_someone_else_does_not_undo_its_own() {
    let scene = Scene::new().await;
    let bob = scene.liar.person("bob");
    assert_eq!(
        scene.send(&scene.mallory, &scene.mallory.activity("Delete", bob.uri.clone())).await,
        "Delete unknown_status"
    );
    scene.find(&bob).await;
    assert_eq!(scene.send(&bob, &bob.activity("Delete", bob.uri.clone())).await, "Delete ok");
    scene.app.app.clock.advance(chrono::Duration::minutes(2));
    assert_eq!(scene.search(&bob.address()).await, None, "who is gone does not come back");
}
