//! Lies about polls: forbidden votes, and counts that are impossible or someone else's.

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

#[tokio::test]
async fn votes_that_arrive_at_once_count_once() {
    let scene = Scene::new().await;
    let status = scene.asks(json!({ "options": ["a", "b"], "expires_in": 600 })).await;
    let votes: Vec<_> = (0..8)
        .map(|number| {
            let name = if number < 4 { "same".to_owned() } else { number.to_string() };
            scene.mallory.letter(&scene.app, &vote(&scene.mallory, &name, &status, "a"))
        })
        .collect();
    let answers = futures_util::future::join_all(votes.iter().map(|letter| letter.send(&scene.app))).await;
    assert!(answers.iter().any(|answer| answer.status == 202), "one of them finds the key");
    tokio::join!(scene.app.run_jobs(), scene.app.run_jobs());
    assert_eq!(scene.votes(&status).await, (1, vec![1, 0]));
}

#[tokio::test]
async fn votes_that_are_counted_at_once_count_once() {
    let scene = Scene::new().await;
    let single = scene.asks(json!({ "options": ["a", "b"], "expires_in": 600 })).await;
    let multiple = scene.asks(json!({ "options": ["a", "b"], "expires_in": 600, "multiple": true })).await;
    let voter = scene.find(&scene.mallory).await;
    let voter = model::AccountId::from(text(&voter, "id").parse::<i64>().unwrap());
    for (status, expected) in [(&single, 1), (&multiple, 2)] {
        let poll = model::StatusId::from(status.number());
        let vote = async |number: usize| {
            let title = if number.is_multiple_of(2) { "a" } else { "b" };
            service::remote::poll::vote(&scene.app.app, voter, poll, title).await
        };
        let done = futures_util::future::join_all((0..8).map(vote)).await;
        assert_eq!(done.iter().filter(|done| matches!(done, Ok(true))).count(), expected, "{done:?}");
        assert!(
            done.iter().flat_map(|done| done.as_ref().err()).all(|error| matches!(error, context::Error::Invalid(_)))
        );
        let (voters, counts) = scene.votes(status).await;
        assert_eq!((voters, counts.iter().sum::<i64>()), (1, i64::try_from(expected).unwrap()));
    }
}

#[tokio::test]
async fn vote_in_two_activities_counts_once() {
    let scene = Scene::new().await;
    let status = scene.asks(json!({ "options": ["a", "b"], "expires_in": 600 })).await;
    let note = vote(&scene.mallory, "1", &status, "a")["object"].clone();
    // The same vote, in an activity with another id, and the other way round.
    let again = scene.mallory.activity("Create", note.clone());
    let other = with(
        again.clone(),
        &json!({ "object": with(note.clone(), &json!({ "id": format!("{}#votes/2", scene.mallory.uri) })) }),
    );
    assert_eq!(scene.send(&scene.mallory, &scene.mallory.activity("Create", note)).await, "Create ok");
    for activity in [again, other] {
        assert_eq!(scene.send(&scene.mallory, &activity).await, "Create not_votable");
    }
    assert_eq!(scene.votes(&status).await, (1, vec![1, 0]));
}

#[tokio::test]
async fn vote_in_an_unknown_or_foreign_poll_does_nothing() {
    let scene = Scene::new().await;
    let status = scene.asks(json!({ "options": ["a", "b"], "expires_in": 600 })).await;
    let bob = scene.liar.person("bob");
    for parent in [scene.alice_uri("/statuses/1"), format!("{}/notes/q", bob.uri), "http://10.0.0.1/1".to_owned()] {
        let note = vote(&scene.mallory, "1", &status, "a")["object"].clone();
        let vote = scene.mallory.activity("Create", with(note, &json!({ "inReplyTo": parent, "to": [] })));
        assert_eq!(scene.send(&scene.mallory, &vote).await, "Create unrelated", "{parent}");
    }
    // A vote that came too early does not count later, and does not prevent the vote.
    assert_eq!(scene.send(&scene.mallory, &vote(&scene.mallory, "1", &status, "a")).await, "Create ok");
    assert_eq!(scene.app.count("statuses").await, 1);
}

#[tokio::test]
async fn impossible_numbers_of_votes_fail_no_page() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    let bob = Liar::start().await.person("bob");
    scene.follow(&bob).await;
    for (name, counts) in [("1", [1 << 61, 1 << 61]), ("2", [i64::MAX, 0]), ("3", [i64::MIN, -5])] {
        let question = with(
            question(&scene.mallory, name, [0, 0]),
            &json!({
                "oneOf": [
                    json!({ "type": "Note", "name": "a", "replies": { "type": "Collection", "totalItems": counts[0] } }),
                    json!({ "type": "Note", "name": "b", "replies": { "type": "Collection", "totalItems": counts[1] } }),
                ],
                "votersCount": i64::MAX,
            }),
        );
        let status = scene.receive(&scene.mallory, &question).await;
        let poll = &status["poll"];
        assert!(poll["votes_count"].as_i64().is_some_and(|count| (0..=2_000_000_000).contains(&count)), "{poll}");
        assert!(poll["voters_count"].as_i64().is_some_and(|count| (0..=1_000_000_000).contains(&count)), "{poll}");
        let path = format!("/api/v1/polls/{}/votes", text(poll, "id"));
        let voted = scene.alice.post(&path).json(&json!({ "choices": [0] })).ok().await;
        assert_eq!(voted["voted"], true);
        // The profile of an account that reblogs it works.
        let boost = bob.activity("Announce", question["id"].clone());
        assert_eq!(scene.send(&bob, &boost).await, "Announce ok");
        scene.alice.reblog(&status).ok().await;
    }
    let page = scene.app.anonymous().get("/@alice").send().await;
    assert_eq!(page.status, 200, "{}", page.text());
    assert!(page.text().contains('%'), "the shares of the votes: {}", page.text());
}
