//! Lies about polls: votes that nobody may cast, and counts that are impossible or someone else's.

use serde_json::{Value, json};

use super::{Scene, text};
use crate::harness::liar::{Person, with};
use crate::harness::{Liar, Published};

impl Scene {
    async fn asks(&self, poll: Value) -> Published {
        self.alice.publish(json!({ "status": "which?", "poll": poll })).await
    }

    /// Number of voters in Alice's poll, and the votes of each option.
    async fn votes(&self, status: &Published) -> (i64, Vec<i64>) {
        let poll = self.alice.status(status).ok().await["poll"].clone();
        let options = poll["options"].as_array().unwrap().iter();
        (poll["voters_count"].as_i64().unwrap(), options.map(|one| one["votes_count"].as_i64().unwrap()).collect())
    }
}

/// A vote of `person` for the option `title`.
fn vote(person: &Person, name: &str, status: &Published, title: &str) -> Value {
    let note = json!({
        "id": format!("{}#votes/{name}", person.uri), "type": "Note", "name": title, "attributedTo": person.uri,
        "inReplyTo": status["uri"], "to": status["account"]["uri"],
    });
    person.activity("Create", note)
}

/// A question of `person` with two options.
fn question(person: &Person, name: &str, counts: [i64; 2]) -> Value {
    let option = |title: &str, count: i64| json!({ "type": "Note", "name": title, "replies": { "type": "Collection", "totalItems": count } });
    with(
        person.note(name),
        &json!({
            "type": "Question", "oneOf": [option("a", counts[0]), option("b", counts[1])],
            "endTime": "2026-02-01T00:00:00Z", "votersCount": counts[0] + counts[1],
        }),
    )
}

#[tokio::test]
async fn second_vote_of_one_person_does_not_count() {
    let scene = Scene::new().await;
    let status = scene.asks(json!({ "options": ["a", "b"], "expires_in": 600 })).await;
    for (name, title, result) in [
        ("1", "a", "Create ok"),
        ("2", "b", "Create not_votable"),
        ("3", "a", "Create not_votable"),
        ("4", "c", "Create no_such_option"),
        ("5", "", "Create no_such_option"),
    ] {
        assert_eq!(scene.send(&scene.mallory, &vote(&scene.mallory, name, &status, title)).await, result, "{name}");
    }
    assert_eq!(scene.votes(&status).await, (1, vec![1, 0]));
    assert!(scene.notifications().await.is_empty(), "a vote is no mention");
    assert_eq!(scene.app.count("statuses").await, 1);
}

#[tokio::test]
async fn choices_of_a_poll_with_several_count_once_each() {
    let scene = Scene::new().await;
    let status = scene.asks(json!({ "options": ["a", "b"], "expires_in": 600, "multiple": true })).await;
    for (name, title, result) in [("1", "a", "Create ok"), ("2", "b", "Create ok"), ("3", "b", "Create not_votable")] {
        assert_eq!(scene.send(&scene.mallory, &vote(&scene.mallory, name, &status, title)).await, result, "{name}");
    }
    assert_eq!(scene.votes(&status).await, (1, vec![1, 1]));
}

#[tokio::test]
async fn vote_after_the_end_or_in_a_hidden_poll_does_not_count() {
    let scene = Scene::new().await;
    let status = scene.asks(json!({ "options": ["a", "b"], "expires_in": 600 })).await;
    let poll = json!({ "options": ["a", "b"], "expires_in": 600 });
    let hidden = json!({ "status": "who?", "visibility": "private", "poll": poll });
    let hidden = scene.alice.publish(hidden).await;
    assert_eq!(scene.send(&scene.mallory, &vote(&scene.mallory, "1", &hidden, "a")).await, "Create not_visible");
    scene.app.app.clock.advance(chrono::TimeDelta::seconds(600));
    assert_eq!(scene.send(&scene.mallory, &vote(&scene.mallory, "2", &status, "a")).await, "Create not_votable");
    assert_eq!(scene.votes(&status).await, (0, vec![0, 0]));
    assert_eq!(scene.votes(&hidden).await, (0, vec![0, 0]));
}

#[tokio::test]
async fn vote_of_someone_whom_the_author_blocks_does_not_count() {
    let scene = Scene::new().await;
    let status = scene.asks(json!({ "options": ["a", "b"], "expires_in": 600 })).await;
    let mallory = scene.find(&scene.mallory).await;
    scene.alice.block(&mallory).ok().await;
    assert_eq!(scene.send(&scene.mallory, &vote(&scene.mallory, "1", &status, "a")).await, "Create not_visible");
    assert_eq!(scene.votes(&status).await, (0, vec![0, 0]));
}

#[tokio::test]
async fn counts_are_those_of_the_author_and_not_negative() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    let bob = Liar::start().await.person("bob");
    let status = scene.receive(&scene.mallory, &question(&scene.mallory, "q", [2, 1])).await;
    assert_eq!(status["poll"]["votes_count"], 3, "{status}");
    let own = |counts| question(&scene.mallory, "q", counts);
    let foreign = bob.activity("Update", own([90, 90]));
    assert_eq!(scene.send(&bob, &foreign).await, "Update foreign_object");
    let negative = scene.mallory.activity("Update", own([-5, 4]));
    assert_eq!(scene.send(&scene.mallory, &negative).await, "Update ok");
    let poll = scene.status(text(&own([0, 0]), "id")).await.unwrap()["poll"].clone();
    assert_eq!((&poll["options"][0]["votes_count"], &poll["options"][1]["votes_count"]), (&0.into(), &4.into()));
    assert_eq!(poll["voters_count"], 0);
}

#[tokio::test]
async fn question_with_too_many_or_endless_options_is_cut() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    let options: Vec<Value> =
        (0..500).map(|number| json!({ "type": "Note", "name": format!("{number}{}", "x".repeat(1_500)) })).collect();
    let note = with(scene.mallory.note("q"), &json!({ "type": "Question", "anyOf": options }));
    let status = scene.receive(&scene.mallory, &note).await;
    let shown = status["poll"]["options"].as_array().unwrap();
    assert_eq!(shown.len(), 20);
    assert!(shown.iter().all(|option| text(option, "title").chars().count() == 500));
    assert_eq!(status["poll"]["expires_at"], Value::Null);
}
