//! Notes that mention everyone.

use serde_json::{Value, json};

use super::{Scene, text};
use crate::harness::Client;
use crate::harness::liar::{Person, with};

/// Most strangers that one status notifies (docs/contract/federation.md#7-accepting-activities).
const STRANGERS: usize = 100;
/// Number of people here who follow the author.
const FOLLOWERS: usize = 3;

/// A note that mentions only `people`.
fn mentioning(author: &Person, name: &str, people: &[Client]) -> Value {
    let uris: Vec<String> = people.iter().map(|one| format!("http://localhost:3000/users/{}", one.name)).collect();
    let tags: Vec<Value> = uris.iter().map(|uri| json!({ "type": "Mention", "href": uri })).collect();
    with(author.note(name), &json!({ "to": uris, "cc": [], "tag": tags }))
}

impl Scene {
    /// Many accounts of this server, of which the last ones follow Mallory.
    async fn crowd(&self, number: usize) -> Vec<Client> {
        let mut people = Vec::new();
        for number in 0..number {
            people.push(self.app.named_account(&format!("person{number}")).await);
        }
        let mallory = self.find(&self.mallory).await;
        for follower in &people[number - FOLLOWERS..] {
            follower.follow(&mallory).ok().await;
            let uri = format!("http://localhost:3000/users/{}", follower.name);
            let follow = json!({ "type": "Follow", "actor": uri, "object": self.mallory.uri });
            self.app.run_jobs().await;
            assert_eq!(self.send(&self.mallory, &self.mallory.activity("Accept", follow)).await, "Accept ok");
        }
        people
    }

    async fn is_notified(&self, person: &Client) -> bool {
        let id = i64::from(person.id());
        self.app.count(&format!("notifications WHERE type = 'mention' AND account_id = {id}")).await > 0
    }

    async fn count_notified(&self) -> usize {
        usize::try_from(self.app.count("notifications WHERE type = 'mention'").await).unwrap()
    }

    /// The statements that the processing of a Create of `note` costs.
    async fn cost_of(&self, note: &Value) -> u64 {
        let letter = self.mallory.letter(&self.app, &self.mallory.activity("Create", note.clone()));
        assert_eq!(letter.send(&self.app).await.status, 202);
        self.app.cost(self.app.run_jobs()).await.0
    }
}

#[tokio::test]
async fn note_that_mentions_everyone_notifies_few_strangers() {
    let scene = Scene::new().await;
    let people = scene.crowd(STRANGERS + 20).await;
    let note = mentioning(&scene.mallory, "1", &people);
    assert_eq!(scene.send(&scene.mallory, &scene.mallory.activity("Create", note.clone())).await, "Create ok");
    assert_eq!(scene.count_notified().await, STRANGERS + FOLLOWERS);
    let mut left_out = 0;
    let id = scene.app.number(&format!("SELECT id FROM statuses WHERE uri = '{}'", text(&note, "id"))).await;
    for (number, person) in people.iter().enumerate() {
        let follows = number >= people.len() - FOLLOWERS;
        let notified = scene.is_notified(person).await;
        assert!(notified || !follows, "{}", person.name);
        left_out += usize::from(!notified);
        assert_eq!(person.status(&id).ok().await["mentions"].as_array().unwrap().len(), people.len());
    }
    assert_eq!(left_out, 20 - FOLLOWERS);
    // Nor do those who were left out follow by an edit, or people who are mentioned only then.
    let late = scene.app.account("late").await;
    let all: Vec<Client> = people.into_iter().chain([late]).collect();
    let edit =
        with(mentioning(&scene.mallory, "1", &all), &json!({ "content": "more", "updated": "2026-01-16T00:00:00Z" }));
    scene.app.app.clock.advance(chrono::TimeDelta::days(1));
    assert_eq!(scene.send(&scene.mallory, &scene.mallory.activity("Update", edit)).await, "Update ok");
    assert_eq!(scene.count_notified().await, STRANGERS + FOLLOWERS);
    all.last().unwrap().status(&id).ok().await;
}

#[tokio::test]
async fn edits_that_mention_some_more_each_time_notify_few_strangers() {
    let scene = Scene::new().await;
    let people = scene.crowd(STRANGERS + 20).await;
    let send = async |kind: &str, number: usize| {
        let updated = format!("2026-01-15T12:00:{number:02}Z");
        let members = json!({ "content": format!("{number}"), "updated": updated });
        let note = with(mentioning(&scene.mallory, "1", &people[number * 15..][..15]), &members);
        scene.app.app.clock.advance(chrono::TimeDelta::minutes(1));
        scene.send(&scene.mallory, &scene.mallory.activity(kind, note)).await
    };
    assert_eq!(send("Create", 0).await, "Create ok");
    for number in 1..8 {
        assert_eq!(send("Update", number).await, "Update ok");
    }
    let ever = people.len() - FOLLOWERS;
    assert!(ever > STRANGERS);
    // The notifications of people who are no longer mentioned are withdrawn: who is left was mentioned last.
    assert!(scene.count_notified().await <= 15);
    for person in &people[STRANGERS..people.len() - FOLLOWERS] {
        assert!(!scene.is_notified(person).await, "{}", person.name);
    }
    for person in &people[people.len() - FOLLOWERS..] {
        assert!(scene.is_notified(person).await, "{} follows the author", person.name);
    }
}

#[tokio::test]
async fn mentions_of_everyone_cost_one_statement_more() {
    let scene = Scene::new().await;
    let people = scene.crowd(STRANGERS + 20).await;
    scene.cost_of(&mentioning(&scene.mallory, "1", &people[..2])).await;
    let few = scene.cost_of(&mentioning(&scene.mallory, "2", &people[..2])).await;
    let some = scene.cost_of(&mentioning(&scene.mallory, "3", &people[..STRANGERS])).await;
    let many = scene.cost_of(&mentioning(&scene.mallory, "4", &people[..=STRANGERS])).await;
    let strangers = &people[..people.len() - FOLLOWERS];
    let most = scene.cost_of(&mentioning(&scene.mallory, "5", strangers)).await;
    assert!(some < few + 10, "{few} statements for two people, {some} for a hundred");
    assert_eq!((many, most), (some + 1, some + 1));
}

#[tokio::test]
async fn note_that_mentions_many_unknown_people_is_no_burden() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    let tags: Vec<Value> = (0..1_500)
        .map(|number| json!({ "type": "Mention", "href": format!("http://localhost:3000/users/nobody{number}") }))
        .collect();
    let twice = json!({ "type": "Mention", "href": scene.alice_uri("") });
    let tags: Vec<Value> = std::iter::repeat_n(twice, 900).chain(tags).collect();
    scene.receive(&scene.mallory, &with(scene.mallory.note("1"), &json!({ "tag": tags }))).await;
    assert_eq!(scene.notifications().await, ["mention"], "once, however often she is named");
    assert_eq!(scene.app.count("mentions").await, 1);
}
