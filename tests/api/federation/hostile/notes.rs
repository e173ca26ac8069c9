//! Lies about the author and the audience of a status.

use std::fmt::Display;

use federation::inbox::Reason;
use serde_json::{Value, json};

use super::{Scene, text};
use crate::harness::liar::{PUBLIC, Reply, with};
use crate::harness::{Letter, Liar};

impl Scene {
    /// A scene in which Alice follows Mallory, so that everything he sends concerns this server.
    async fn with_follower() -> Self {
        let scene = Self::new().await;
        let mallory = scene.mallory.clone();
        scene.follow(&mallory).await;
        scene
    }

    /// Mallory sends a note in a Create, which has this result; it is not stored.
    async fn ignores_note(&self, note: &Value, result: impl Display) {
        let create = self.mallory.activity("Create", note.clone());
        assert_eq!(self.send(&self.mallory, &create).await, format!("Create {result}"), "{note}");
        assert_eq!(self.app.count("statuses WHERE NOT local").await, 0, "{note}");
        assert_eq!(self.home().await, 0);
    }
}

#[tokio::test]
async fn note_of_another_host_is_not_stored() {
    let scene = Scene::with_follower().await;
    let bob = Liar::start().await.person("bob");
    let id = bob.liar.document("/users/bob/notes/1", &bob.note("1"));
    scene.ignores_note(&bob.note("1"), Reason::ForeignObject).await;
    scene.ignores_note(&with(scene.mallory.note("1"), &json!({ "id": id })), Reason::ForeignObject).await;
    scene.ignores_note(&json!(id), Reason::ForeignObject).await;
    assert_eq!(bob.liar.asked("/users/bob/notes/1"), 0, "it is not even fetched");
}

#[tokio::test]
async fn note_of_an_author_on_another_host_is_not_stored() {
    let scene = Scene::with_follower().await;
    let bob = Liar::start().await.person("bob");
    let note = with(scene.mallory.note("1"), &json!({ "attributedTo": bob.uri }));
    scene.ignores_note(&note, "disbelieved").await;
    scene.liar.document("/users/mallory/notes/1", &note);
    scene.ignores_note(&note["id"], "disbelieved").await;
    assert_eq!(scene.open(text(&note, "id")).await, None);
    assert!(!scene.knows(&bob.uri).await);
}

#[tokio::test]
async fn note_of_someone_else_of_the_same_host_is_not_stored() {
    let scene = Scene::with_follower().await;
    let bob = scene.liar.person("bob");
    scene.ignores_note(&bob.note("1"), Reason::NotTheAuthor).await;
    let note = with(scene.mallory.note("1"), &json!({ "attributedTo": [bob.uri, scene.mallory.uri] }));
    scene.ignores_note(&note, Reason::NotTheAuthor).await;
    scene.ignores_note(&with(note, &json!({ "attributedTo": null })), "disbelieved").await;
}

#[tokio::test]
async fn note_with_the_id_of_a_known_status_does_not_show_it_to_others() {
    let scene = Scene::new().await;
    let bob = scene.liar.person("bob");
    scene.follow(&bob).await;
    let carol = scene.app.account("carol").await;
    let secret = with(bob.note("1"), &json!({ "to": [bob.followers()], "cc": [] }));
    let status = scene.receive(&bob, &secret).await;
    carol.status(&status).fails(404).await;

    let to = "http://localhost:3000/users/carol";
    let lie = with(scene.mallory.note("x"), &json!({ "id": secret["id"], "to": [to], "cc": [] }));
    let create = scene.mallory.activity("Create", lie);
    assert_eq!(scene.send(&scene.mallory, &create).await, "Create not_the_author");
    carol.status(&status).fails(404).await;
    let again = scene.status(text(&secret, "id")).await.unwrap();
    assert_eq!((&again["content"], &again["account"]["acct"]), (&status["content"], &json!(bob.address())));
}

#[tokio::test]
async fn note_with_the_id_of_a_local_status_is_not_stored() {
    let scene = Scene::with_follower().await;
    let status = scene.alice.publish("mine").await;
    let own = with(scene.mallory.note("1"), &json!({ "id": status["uri"], "content": "his" }));
    for object in [own.clone(), status["uri"].clone(), with(own, &json!({ "attributedTo": scene.alice_uri("") }))] {
        let create = scene.mallory.activity("Create", object);
        assert_eq!(scene.send(&scene.mallory, &create).await, "Create foreign_object");
    }
    assert_eq!(scene.alice.status(&status).ok().await["content"], status["content"]);
}

#[tokio::test]
async fn capability_for_another_host_is_not_used() {
    let scene = Scene::with_follower().await;
    let carol = scene.app.account("carol").await;
    let secret = carol.publish_to("private", "mine").await;
    let bob = Liar::start().await.person("bob");
    let id = bob.liar.document("/users/bob/notes/1", &bob.note("1"));
    for url in [&id, text(&secret, "uri")] {
        scene.ignores_note(&json!(format!("bear:?t=token&u={url}")), Reason::ForeignObject).await;
    }
    // Nor is it followed to another host, which would get the token.
    let url = scene.liar.put("/moved", Reply::redirect(&id));
    scene.ignores_note(&json!(format!("bear:?t=token&u={url}")), "redirect").await;
    assert_eq!(bob.liar.asked("/users/bob/notes/1"), 0);
}

#[tokio::test]
async fn document_of_another_type_is_not_a_note() {
    let scene = Scene::with_follower().await;
    for kind in ["Tombstone", "Person", "OrderedCollection", "Create", "note"] {
        scene.ignores_note(&with(scene.mallory.note("1"), &json!({ "type": kind })), "disbelieved").await;
    }
    scene.ignores_note(&with(scene.mallory.note("1"), &json!({ "type": null })), Reason::NotANote).await;
    scene.ignores_note(&scene.mallory.actor(), "disbelieved").await;
    scene.ignores_note(&with(scene.mallory.note("1"), &json!({ "id": null })), Reason::NoObject).await;
    let two = json!([scene.mallory.note("1"), scene.mallory.note("2")]);
    scene.ignores_note(&two, Reason::NoObject).await;
}

#[tokio::test]
async fn note_with_two_ids_is_not_stored() {
    let scene = Scene::with_follower().await;
    let bob = Liar::start().await.person("bob");
    let create = scene.mallory.activity("Create", scene.mallory.note("1")).to_string();
    let own = format!(r#""id":"{}/notes/1""#, scene.mallory.uri);
    let body = create.replace(&own, &format!(r#"{own},"id":"{}/notes/1""#, bob.uri));
    assert_ne!(body, create);
    let letter = Letter::new(&scene.app, "/inbox", body);
    let letter = letter.signed(&scene.mallory.key_id, &crate::harness::liar::KEY);
    assert_eq!(scene.deliver(&letter).await, "Create no_object");
    assert_eq!(scene.app.count("statuses").await, 0);
}

#[tokio::test]
async fn note_that_concerns_nobody_here_is_not_stored() {
    let scene = Scene::new().await;
    scene.ignores_note(&scene.mallory.note("1"), Reason::Unrelated).await;
    // A mention that addresses an account of another server, named like Alice.
    let mention =
        json!([{ "type": "Mention", "href": scene.liar.url("/users/alice"), "name": "@alice@localhost:3000" }]);
    scene.ignores_note(&with(scene.mallory.note("1"), &json!({ "tag": mention })), Reason::Unrelated).await;
    assert_eq!(scene.notifications().await, Vec::<String>::new());
}

#[tokio::test]
async fn followers_of_someone_else_are_no_audience() {
    let scene = Scene::new().await;
    let (bob, far) = (scene.liar.person("bob"), Liar::start().await.person("far"));
    // Mallory says that the followers of Far are his.
    scene.mallory.change_actor(&json!({ "followers": far.followers() }));
    for person in [&bob, &far, &scene.mallory] {
        scene.follow(person).await;
    }
    for (name, to) in [("1", bob.followers()), ("2", far.followers()), ("3", scene.alice_uri("/followers"))] {
        let note = with(scene.mallory.note(name), &json!({ "to": [to], "cc": [] }));
        assert_eq!(scene.send(&scene.mallory, &scene.mallory.activity("Create", note.clone())).await, "Create ok");
        assert_eq!(scene.status(text(&note, "id")).await, None, "{to}");
    }
    assert_eq!(scene.home().await, 0);
}

#[tokio::test]
async fn note_does_not_come_after_its_delete() {
    let scene = Scene::with_follower().await;
    let note = scene.mallory.note("1");
    let tombstone = json!({ "id": note["id"], "type": "Tombstone" });
    assert_eq!(scene.send(&scene.mallory, &scene.mallory.activity("Delete", tombstone)).await, "Delete unknown_status");
    scene.ignores_note(&note, "gone").await;
    scene.liar.document("/users/mallory/notes/1", &note);
    assert_eq!(scene.open(text(&note, "id")).await, None, "nor is it fetched");
    scene.ignores_note(&note["id"], "gone").await;
}

#[tokio::test]
async fn deleted_note_is_not_created_again() {
    let scene = Scene::with_follower().await;
    let note = scene.mallory.note("1");
    scene.receive(&scene.mallory, &note).await;
    let delete = scene.mallory.activity("Delete", note["id"].clone());
    assert_eq!(scene.send(&scene.mallory, &delete).await, "Delete ok");
    scene.ignores_note(&with(note, &json!({ "content": "again", "to": [PUBLIC] })), "gone").await;
}

#[tokio::test]
async fn absurd_dates_are_ignored() {
    let scene = Scene::with_follower().await;
    let now = "2026-01-15T12:00";
    let dates = [
        ("1", "0000-01-01T00:00:00Z", now),
        ("2", "99999-01-01T00:00:00Z", now),
        ("3", "+099999-01-01T00:00:00Z", now),
        ("4", "2999-01-01T00:00:00Z", now),
        ("5", "-2026-01-01T00:00:00Z", now),
        ("6", "yesterday", now),
        ("7", "2025-02-30T00:00:00Z", now),
        ("8", "0001-01-01T00:00:00Z", "0001-01-01T00:00"),
        ("9", "9999-12-31T23:59:60Z", now),
    ];
    for (name, published, shown) in dates {
        let note = with(scene.mallory.note(name), &json!({ "published": published }));
        let status = scene.receive(&scene.mallory, &note).await;
        assert!(text(&status, "created_at").starts_with(shown), "{published}: {status}");
    }
    assert_eq!(scene.home().await, 9);
}
