//! Lies about pinned statuses and blocks.

use serde_json::json;

use super::{Scene, text};
use crate::harness::liar::with;

#[tokio::test]
async fn pins_of_others_and_of_other_collections_are_ignored() {
    let scene = Scene::new().await;
    let featured = format!("{}/featured", scene.mallory.uri);
    scene.mallory.change_actor(&json!({ "featured": featured }));
    scene.follow(&scene.mallory).await;
    let bob = scene.liar.person("bob");
    let note = scene.mallory.note("1");
    scene.receive(&scene.mallory, &note).await;
    let theirs = bob.note("2");
    scene.liar.document("/users/bob/notes/2", &theirs);
    let private = with(scene.mallory.note("3"), &json!({ "to": [scene.alice_uri("")], "cc": [] }));
    let tag = json!({ "type": "Mention", "href": scene.alice_uri("") });
    scene.receive(&scene.mallory, &with(private.clone(), &json!({ "tag": [tag] }))).await;
    let add = |object: &str, target: &str| with(scene.mallory.activity("Add", object), &json!({ "target": target }));
    for (object, target, result) in [
        (text(&note, "id"), scene.mallory.followers().as_str(), "Add not_featured"),
        (text(&note, "id"), "", "Add not_featured"),
        (text(&theirs, "id"), &featured, "Add not_pinnable"),
        (text(&private, "id"), &featured, "Add not_pinnable"),
        ("https://elsewhere.test/1", &featured, "Add foreign_object"),
        (text(&note, "id"), &featured, "Add ok"),
        (text(&note, "id"), &featured, "Add ok"),
    ] {
        assert_eq!(scene.send(&scene.mallory, &add(object, target)).await, result, "{object} {target}");
    }
    assert_eq!(scene.app.count("status_pins").await, 1);
    let remove = with(bob.activity("Remove", text(&note, "id")), &json!({ "target": featured }));
    assert_eq!(scene.send(&bob, &remove).await, "Remove not_featured");
    assert_eq!(scene.app.count("status_pins").await, 1);
}

#[tokio::test]
async fn profile_does_not_fill_with_pins() {
    let scene = Scene::new().await;
    let featured = format!("{}/featured", scene.mallory.uri);
    scene.mallory.change_actor(&json!({ "featured": featured }));
    scene.follow(&scene.mallory).await;
    let mut results = Vec::new();
    for number in 0..22 {
        let note = scene.mallory.note(&number.to_string());
        scene.receive(&scene.mallory, &note).await;
        let add = with(scene.mallory.activity("Add", text(&note, "id")), &json!({ "target": featured }));
        results.push(scene.send(&scene.mallory, &add).await);
    }
    assert_eq!(results.iter().filter(|result| *result == "Add ok").count(), 20, "{results:?}");
    assert_eq!(scene.app.count("status_pins").await, 20);
}

#[tokio::test]
async fn block_on_behalf_of_someone_else_has_no_effect() {
    let scene = Scene::new().await;
    let bob = scene.liar.person("bob");
    let account = scene.follow(&bob).await;
    let block = bob.activity("Block", scene.alice_uri(""));
    scene.refuses(&scene.mallory, &block, 401, "not_the_actor").await;
    assert_eq!(scene.relationship(&account).await["following"], true);
    assert_eq!(scene.send(&bob, &block).await, "Block ok");
    let tie = scene.relationship(&account).await;
    assert_eq!((&tie["following"], &tie["blocked_by"]), (&false.into(), &true.into()));
    let undo = scene.mallory.activity("Undo", block.clone());
    assert_eq!(scene.send(&scene.mallory, &undo).await, "Undo not_the_actor");
    assert_eq!(scene.relationship(&account).await["blocked_by"], true);
    assert_eq!(scene.send(&bob, &bob.activity("Undo", block)).await, "Undo ok");
    assert_eq!(scene.relationship(&account).await["blocked_by"], false);
    assert_eq!(
        scene.send(&bob, &bob.activity("Block", "http://localhost:3000/users/nobody")).await,
        "Block unknown_target"
    );
}
