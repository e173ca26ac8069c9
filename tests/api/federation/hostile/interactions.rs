//! Lies about follows, favourites and reblogs.

use serde_json::{Value, json};

use super::Scene;
use crate::harness::liar::{PUBLIC, with};
use crate::harness::{Liar, id};

impl Scene {
    /// Makes Alice request to follow `person`; returns the account and the Follow that was sent.
    async fn requested(&self, person: &crate::harness::liar::Person) -> (Value, Value) {
        let account = self.find(person).await;
        self.alice.follow(&account).ok().await;
        self.app.run_jobs().await;
        let follow = person.liar.received().pop().expect("a Follow");
        assert_eq!((&follow["type"], &follow["object"]), (&json!("Follow"), &json!(person.uri)));
        (account, follow)
    }
}

#[tokio::test]
async fn follow_of_someone_else_is_not_undone() {
    let scene = Scene::new().await;
    let (bob, eve) = (scene.liar.person("bob"), Liar::start().await.person("eve"));
    let follow = bob.activity("Follow", scene.alice_uri(""));
    assert_eq!(scene.send(&bob, &follow).await, "Follow ok");
    for liar in [&scene.mallory, &eve] {
        assert_eq!(scene.send(liar, &liar.activity("Undo", follow.clone())).await, "Undo not_the_actor");
        let own = with(follow.clone(), &json!({ "actor": liar.uri }));
        assert_eq!(scene.send(liar, &liar.activity("Undo", own)).await, "Undo nothing_to_undo");
    }
    assert_eq!(scene.send(&eve, &eve.activity("Undo", follow["id"].clone())).await, "Undo foreign_id");
    assert_eq!(scene.app.count("follows").await, 1);
}

#[tokio::test]
async fn favourite_of_someone_else_is_not_undone() {
    let scene = Scene::new().await;
    let (bob, status) = (scene.liar.person("bob"), scene.alice.publish("hello").await);
    let like = bob.activity("Like", status["uri"].clone());
    assert_eq!(scene.send(&bob, &like).await, "Like ok");
    assert_eq!(scene.send(&scene.mallory, &scene.mallory.activity("Undo", like.clone())).await, "Undo not_the_actor");
    let own = with(like, &json!({ "actor": scene.mallory.uri }));
    scene.send(&scene.mallory, &scene.mallory.activity("Undo", own)).await;
    assert_eq!(scene.alice.status(&status).ok().await["favourites_count"], 1);
}

#[tokio::test]
async fn reblog_of_someone_else_is_not_undone() {
    let scene = Scene::new().await;
    let (bob, status) = (scene.liar.person("bob"), scene.alice.publish("hello").await);
    let announce = bob.activity("Announce", status["uri"].clone());
    assert_eq!(scene.send(&bob, &announce).await, "Announce ok");
    let own = with(announce.clone(), &json!({ "actor": scene.mallory.uri }));
    for (object, result) in [
        (announce.clone(), "not_the_actor"),
        (own, "nothing_to_undo"),
        (announce["id"].clone(), "not_the_actor"),
        (json!({ "id": announce["id"] }), "not_the_actor"),
    ] {
        let undo = scene.mallory.activity("Undo", object);
        assert_eq!(scene.send(&scene.mallory, &undo).await, format!("Undo {result}"));
    }
    let delete = scene.mallory.activity("Delete", announce["id"].clone());
    assert_eq!(scene.send(&scene.mallory, &delete).await, "Delete not_the_author");
    assert_eq!(scene.alice.status(&status).ok().await["reblogs_count"], 1);
}

#[tokio::test]
async fn accept_that_nobody_asked_for_is_ignored() {
    let scene = Scene::new().await;
    let account = scene.find(&scene.mallory).await;
    let follow = json!({ "type": "Follow", "actor": scene.alice_uri(""), "object": scene.mallory.uri });
    for object in [follow.clone(), json!(scene.alice_uri("#follows/1")), with(follow, &json!({ "id": "x" }))] {
        let accept = scene.mallory.activity("Accept", object);
        assert_eq!(scene.send(&scene.mallory, &accept).await, "Accept not_requested");
    }
    assert_eq!(scene.relationship(&account).await["following"], false);
    assert_eq!(scene.app.count("follows").await, 0);
}

#[tokio::test]
async fn follow_request_of_someone_else_is_not_answered() {
    let scene = Scene::new().await;
    let bob = scene.liar.person("bob");
    let (account, follow) = scene.requested(&bob).await;
    let eve = Liar::start().await.person("eve");
    for liar in [&scene.mallory, &eve] {
        for kind in ["Accept", "Reject"] {
            for object in [follow.clone(), follow["id"].clone()] {
                let answer = liar.activity(kind, object);
                assert_eq!(scene.send(liar, &answer).await, format!("{kind} not_requested"));
            }
        }
    }
    let tie = scene.relationship(&account).await;
    assert_eq!((&tie["following"], &tie["requested"]), (&json!(false), &json!(true)));
}

#[tokio::test]
async fn follow_of_someone_else_is_not_rejected() {
    let scene = Scene::new().await;
    let bob = scene.liar.person("bob");
    let account = scene.follow(&bob).await;
    let id = scene.alice_uri("#follows/1");
    let follow = json!({ "id": id, "type": "Follow", "actor": scene.alice_uri(""), "object": bob.uri });
    let reject = scene.mallory.activity("Reject", follow.clone());
    assert_eq!(scene.send(&scene.mallory, &reject).await, "Reject not_requested");
    let accept = with(scene.mallory.activity("Accept", follow), &json!({ "actor": scene.mallory.uri }));
    assert_eq!(scene.send(&scene.mallory, &scene.mallory.activity("Undo", accept)).await, "Undo nothing_to_undo");
    assert_eq!(scene.relationship(&account).await["following"], true);
}

#[tokio::test]
async fn follow_in_the_name_of_someone_else_is_refused() {
    let scene = Scene::new().await;
    let (bob, far) = (scene.liar.person("bob"), Liar::start().await.person("far"));
    for person in [&bob, &far] {
        let follow = person.activity("Follow", scene.alice_uri(""));
        scene.refuses(&scene.mallory, &follow, 401, "not_the_actor").await;
    }
    assert_eq!(scene.app.count("follows").await, 0);
}

#[tokio::test]
async fn follow_of_an_account_of_another_server_is_ignored() {
    let scene = Scene::new().await;
    let bob = scene.liar.person("bob");
    scene.find(&bob).await;
    for target in [bob.uri.clone(), scene.alice_uri("/nobody"), scene.alice_uri("/"), String::new()] {
        let follow = scene.mallory.activity("Follow", target);
        assert_eq!(scene.send(&scene.mallory, &follow).await, "Follow unknown_target");
    }
    assert_eq!(scene.app.count("follows").await, 0);
}

#[tokio::test]
async fn follow_with_a_foreign_id_is_answered_without_it() {
    let scene = Scene::new().await;
    let bob = Liar::start().await.person("bob");
    let foreign = format!("{}#follows/1", bob.uri);
    let follow = with(scene.mallory.activity("Follow", scene.alice_uri("")), &json!({ "id": foreign }));
    assert_eq!(scene.send(&scene.mallory, &follow).await, "Follow ok");
    let accept = scene.liar.received().pop().expect("an answer");
    assert_eq!(accept["type"], "Accept");
    assert_ne!(accept["object"]["id"], foreign);
}

#[tokio::test]
async fn reblog_with_a_foreign_id_is_ignored() {
    let scene = Scene::new().await;
    let status = scene.alice.publish("hello").await;
    let bob = Liar::start().await.person("bob");
    for foreign in [json!(format!("{}/announce", bob.uri)), status["uri"].clone(), json!(null), json!("x")] {
        let announce = with(scene.mallory.activity("Announce", status["uri"].clone()), &json!({ "id": foreign }));
        assert_eq!(scene.send(&scene.mallory, &announce).await, "Announce foreign_id");
    }
    assert_eq!(scene.alice.status(&status).ok().await["reblogs_count"], 0);
}

#[tokio::test]
async fn reblog_with_the_id_of_a_status_does_not_replace_it() {
    let scene = Scene::new().await;
    let bob = scene.liar.person("bob");
    scene.follow(&bob).await;
    let (status, note) = (scene.alice.publish("hello").await, bob.note("1"));
    let theirs = scene.receive(&bob, &note).await;
    let announce = with(scene.mallory.activity("Announce", status["uri"].clone()), &json!({ "id": note["id"] }));
    scene.send(&scene.mallory, &announce).await;
    assert_eq!(scene.alice.status(&status).ok().await["reblogs_count"], 0);
    assert_eq!(scene.alice.status(&theirs).ok().await["content"], theirs["content"]);
    assert_eq!(scene.app.count("statuses").await, 2);
}

#[tokio::test]
async fn status_that_the_sender_may_not_see_is_out_of_reach() {
    let scene = Scene::new().await;
    let private = scene.alice.publish_to("private", "for followers").await;
    let direct = scene.alice.publish_to("direct", "for nobody").await;
    for status in [&private, &direct] {
        for kind in ["Like", "Announce"] {
            let activity = scene.mallory.activity(kind, status["uri"].clone());
            assert_eq!(scene.send(&scene.mallory, &activity).await, format!("{kind} not_visible"));
        }
        let seen = scene.alice.status(status).ok().await;
        assert_eq!((&seen["favourites_count"], &seen["reblogs_count"]), (&json!(0), &json!(0)));
    }
    assert_eq!(scene.notifications().await, Vec::<String>::new());
}

#[tokio::test]
async fn private_status_of_someone_else_is_not_reblogged_by_followers() {
    let scene = Scene::new().await;
    let carol = scene.app.account("carol").await;
    assert_eq!(scene.send(&scene.mallory, &scene.mallory.activity("Follow", scene.alice_uri(""))).await, "Follow ok");
    let private = scene.alice.publish_to("private", "for followers").await;
    let announce = with(scene.mallory.activity("Announce", private["uri"].clone()), &json!({ "to": [PUBLIC] }));
    assert_eq!(scene.send(&scene.mallory, &announce).await, "Announce not_visible");
    assert_eq!(scene.app.count("statuses").await, 1);
    carol.status(&private).fails(404).await;
}

#[tokio::test]
async fn reblog_of_a_stranger_fetches_nothing() {
    let scene = Scene::new().await;
    let bob = Liar::start().await.person("bob");
    let id = bob.liar.document("/users/bob/notes/1", &bob.note("1"));
    for kind in ["Announce", "Like"] {
        let result = scene.send(&scene.mallory, &scene.mallory.activity(kind, id.clone())).await;
        assert!(["Announce unrelated", "Like unknown_status"].contains(&result.as_str()), "{result}");
    }
    assert_eq!(bob.liar.asked("/users/bob/notes/1"), 0);
}

#[tokio::test]
async fn reblog_of_a_local_status_that_does_not_exist_is_ignored() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    for target in [scene.alice_uri("/statuses/1"), "http://localhost:3000/".to_owned(), "http://10.0.0.1/1".to_owned()]
    {
        let result = scene.send(&scene.mallory, &scene.mallory.activity("Announce", target)).await;
        assert!(["Announce own_domain", "Announce private_address"].contains(&result.as_str()), "{result}");
    }
    assert_eq!(scene.app.count("statuses").await, 0);
}

#[tokio::test]
async fn blocked_sender_reaches_nobody() {
    let scene = Scene::new().await;
    let status = scene.alice.publish("hello").await;
    let account = scene.find(&scene.mallory).await;
    scene.alice.block(&id(&account)).ok().await;
    scene.app.run_jobs().await;
    assert_eq!(scene.send(&scene.mallory, &scene.mallory.activity("Follow", scene.alice_uri(""))).await, "Follow ok");
    let mention = json!([{ "type": "Mention", "href": scene.alice_uri("") }]);
    let note = with(scene.mallory.note("1"), &json!({ "tag": mention, "inReplyTo": status["uri"] }));
    scene.send_to_alice(&scene.mallory, &scene.mallory.activity("Create", note)).await;
    assert_eq!(scene.app.count("follows").await, 0);
    assert_eq!(scene.liar.received().pop().unwrap()["type"], "Reject");
    assert_eq!(scene.notifications().await, Vec::<String>::new());
}
