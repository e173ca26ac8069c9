//! Activities that come in the wrong order, or twice.

use serde_json::{Value, json};

use super::{Scene, text};
use crate::harness::liar::with;

impl Scene {
    /// Sends an activity of Mallory, and returns the kind and the result.
    async fn sends(&self, kind: &str, object: impl Into<Value>) -> String {
        self.send(&self.mallory, &self.mallory.activity(kind, object)).await
    }
}

#[tokio::test]
async fn undone_favourite_reblog_and_block_do_not_come_later() {
    let scene = Scene::new().await;
    let status = scene.alice.publish("hello").await;
    let mallory = &scene.mallory;
    for (activity, table) in [
        (mallory.activity("Like", status["uri"].clone()), "favourites"),
        (mallory.activity("Announce", status["uri"].clone()), "statuses WHERE reblog_of_id IS NOT NULL"),
        (mallory.activity("Block", scene.alice_uri("")), "blocks"),
    ] {
        let kind = text(&activity, "type").to_owned();
        let undone = scene.sends("Undo", activity.clone()).await;
        assert!(["Undo ok", "Undo nothing_to_undo"].contains(&undone.as_str()), "{kind}: {undone}");
        assert_eq!(scene.send(mallory, &activity).await, format!("{kind} deleted_before"));
        assert_eq!(scene.app.count(table).await, 0, "{kind}");
        // Another activity is another decision.
        let again = mallory.activity(&kind, activity["object"].clone());
        assert_eq!(scene.send(mallory, &again).await, format!("{kind} ok"));
        assert_eq!(scene.app.count(table).await, 1, "{kind}");
    }
}

#[tokio::test]
async fn activity_that_someone_else_undid_is_not_undone() {
    let scene = Scene::new().await;
    let (status, bob) = (scene.alice.publish("hello").await, scene.liar.person("bob"));
    for kind in ["Like", "Announce", "Block"] {
        let target = if kind == "Block" { json!(scene.alice_uri("")) } else { status["uri"].clone() };
        let theirs = bob.activity(kind, target);
        // Mallory undoes an act of his own that he says had the id of Bob's.
        let own = with(theirs.clone(), &json!({ "actor": scene.mallory.uri }));
        scene.sends("Undo", own).await;
        assert_eq!(scene.send(&bob, &theirs).await, format!("{kind} ok"));
    }
}

#[tokio::test]
async fn undone_follow_may_come_again_with_its_id() {
    let scene = Scene::new().await;
    let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
    assert_eq!(scene.sends("Undo", follow.clone()).await, "Undo nothing_to_undo");
    assert_eq!(scene.send(&scene.mallory, &follow).await, "Follow ok");
    assert_eq!(scene.sends("Undo", follow.clone()).await, "Undo ok");
    // Sent again, with a new signature.
    assert_eq!(scene.send(&scene.mallory, &follow).await, "Follow ok");
    assert_eq!(scene.app.count("follows").await, 1);
}

#[tokio::test]
async fn update_before_its_note_is_not_kept() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    let note = scene.mallory.note("1");
    let edit = with(note.clone(), &json!({ "content": "new", "updated": "2026-01-15T12:00:30Z" }));
    assert_eq!(scene.sends("Update", edit.clone()).await, "Update unknown_or_not_newer");
    assert_eq!(scene.receive(&scene.mallory, &note).await["content"], "<p>1</p>");
    let again = with(edit, &json!({ "content": "newer" }));
    assert_eq!(scene.sends("Update", again).await, "Update ok");
    assert_eq!(scene.status(text(&note, "id")).await.unwrap()["content"], "newer");
}

#[tokio::test]
async fn create_after_its_update_changes_nothing() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    let note = scene.mallory.note("1");
    scene.receive(&scene.mallory, &note).await;
    let edit = with(note.clone(), &json!({ "content": "new", "updated": "2026-01-15T12:00:30Z" }));
    assert_eq!(scene.sends("Update", edit).await, "Update ok");
    let again = scene.receive(&scene.mallory, &with(note, &json!({ "content": "old" }))).await;
    assert_eq!(again["content"], "new");
}

#[tokio::test]
async fn update_and_delete_after_a_delete_do_nothing() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    let note = scene.mallory.note("1");
    scene.receive(&scene.mallory, &note).await;
    assert_eq!(scene.sends("Delete", note["id"].clone()).await, "Delete ok");
    assert_eq!(scene.sends("Delete", note["id"].clone()).await, "Delete unknown_status");
    let edit = with(note.clone(), &json!({ "content": "new", "updated": "2026-01-15T12:10:00Z" }));
    assert_eq!(scene.sends("Update", edit).await, "Update gone");
    assert_eq!(scene.sends("Create", note.clone()).await, "Create gone");
    assert!(!scene.has(text(&note, "id")).await);
}

#[tokio::test]
async fn older_edit_after_a_newer_one_does_nothing() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    let note = scene.mallory.note("1");
    scene.receive(&scene.mallory, &note).await;
    scene.app.app.clock.advance(chrono::Duration::minutes(5));
    for (content, updated, result) in [
        ("second", "2026-01-15T12:02:00Z", "Update ok"),
        ("first", "2026-01-15T12:01:00Z", "Update unknown_or_not_newer"),
        ("second, again", "2026-01-15T12:02:00+00:00", "Update unknown_or_not_newer"),
        ("first, as it seems", "2026-01-15T13:01:00+01:00", "Update unknown_or_not_newer"),
    ] {
        let edit = with(note.clone(), &json!({ "content": content, "updated": updated }));
        assert_eq!(scene.sends("Update", edit).await, result, "{content}");
    }
    assert_eq!(scene.status(text(&note, "id")).await.unwrap()["content"], "second");
}

#[tokio::test]
async fn acceptance_of_a_follow_that_was_undone_does_not_bring_it_back() {
    let scene = Scene::new().await;
    let account = scene.find(&scene.mallory).await;
    scene.alice.follow(&account).ok().await;
    scene.app.run_jobs().await;
    let follow = scene.liar.received().pop().expect("a Follow");
    assert_eq!(follow["type"], "Follow");
    scene.alice.unfollow(&account).ok().await;
    scene.app.run_jobs().await;
    for object in [follow.clone(), follow["id"].clone()] {
        assert_eq!(scene.sends("Accept", object).await, "Accept not_requested");
    }
    let tie = scene.relationship(&account).await;
    assert_eq!((&tie["following"], &tie["requested"]), (&json!(false), &json!(false)));
}

#[tokio::test]
async fn rejection_after_the_acceptance_ends_the_follow_and_not_the_other_way_round() {
    let scene = Scene::new().await;
    let account = scene.follow(&scene.mallory).await;
    let follow = json!({ "type": "Follow", "actor": scene.alice_uri(""), "object": scene.mallory.uri });
    assert_eq!(scene.sends("Reject", follow.clone()).await, "Reject ok");
    assert_eq!(scene.sends("Reject", follow.clone()).await, "Reject not_requested");
    assert_eq!(scene.sends("Accept", follow).await, "Accept not_requested");
    assert_eq!(scene.relationship(&account).await["following"], false);
}

#[tokio::test]
async fn removal_before_the_pin_is_not_kept() {
    let scene = Scene::new().await;
    let featured = format!("{}/featured", scene.mallory.uri);
    scene.mallory.change_actor(&json!({ "featured": featured }));
    scene.follow(&scene.mallory).await;
    let note = scene.mallory.note("1");
    scene.receive(&scene.mallory, &note).await;
    let mut results = Vec::new();
    for kind in ["Remove", "Add", "Add", "Remove", "Remove"] {
        let activity = with(scene.mallory.activity(kind, note["id"].clone()), &json!({ "target": featured }));
        results.push(scene.send(&scene.mallory, &activity).await);
    }
    assert_eq!(results, ["Remove not_pinned", "Add ok", "Add ok", "Remove ok", "Remove not_pinned"]);
}

#[tokio::test]
async fn endless_id_is_harmless() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    // Random, so that no database can compress it.
    let mut bytes = vec![0; 20_000];
    crypto::fill_random(&mut bytes);
    let long: String = bytes.iter().map(|byte| char::from(b'a' + byte % 26)).collect();
    let id = scene.liar.url(&format!("/{long}"));
    let undone = with(scene.mallory.activity("Like", scene.alice_uri("")), &json!({ "id": id }));
    for activity in [
        scene.mallory.activity("Delete", id.clone()),
        scene.mallory.activity("Undo", id.clone()),
        scene.mallory.activity("Undo", undone),
        with(scene.mallory.activity("Follow", scene.alice_uri("")), &json!({ "id": id })),
        with(scene.mallory.activity("Announce", scene.alice.publish("x").await["uri"].clone()), &json!({ "id": id })),
        scene.mallory.activity("Create", with(scene.mallory.note("1"), &json!({ "id": id }))),
        scene
            .mallory
            .activity("Create", with(scene.mallory.note("2"), &json!({ "conversation": id, "inReplyTo": id }))),
        scene.mallory.activity("Create", with(scene.mallory.note("3"), &json!({ "url": id, "replies": id }))),
    ] {
        let result = scene.send(&scene.mallory, &activity).await;
        assert!(!result.is_empty() && !result.ends_with("local"), "{result}");
    }
    assert_eq!(scene.app.count("jobs WHERE kind = 'retry_activity'").await, 0, "nothing failed, to be tried again");
}
