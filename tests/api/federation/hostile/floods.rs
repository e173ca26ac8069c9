//! Floods from one domain: of actors, of servers under one domain, and of statuses.

use chrono::Duration;
use serde_json::{Value, json};

use super::spending::scene;
use super::{Scene, text};
use crate::harness::Liar;
use crate::harness::liar::{OTHER_KEY, Reply, with};

/// Most new actors of one domain, and most statuses that are fetched from it (docs/contract/federation.md#11-security-checks).
const ACTORS: usize = 400;
const STATUSES: usize = 1_000;
/// Most new servers under one domain.
const SERVERS: usize = 10;

impl Scene {
    /// Looks up actors of the host of Mallory, who is known, until no more of them are wanted. They have no WebFinger, but
    /// count.
    async fn flood_with_actors(&self) {
        for number in 1..ACTORS {
            let path = format!("/actors/{number}");
            let id = self.liar.url(&path);
            self.liar
                .document(&path, &with(self.mallory.actor(), &json!({ "id": id, "preferredUsername": path[1..2] })));
            let failure = federation::fetch::account(&self.app.app, &id).await.expect_err("nobody vouches for it");
            assert_eq!(failure.as_str(), "status", "{number}: {failure}");
        }
    }

    /// Fetches notes of Mallory's host that are not believed, until no more of them are wanted.
    async fn flood_with_statuses(&self, id: &str) {
        for number in 0..STATUSES {
            let failure = federation::fetch::status(&self.app.app, id).await.expect_err("its author is elsewhere");
            assert_eq!(failure.as_str(), "disbelieved", "{number}: {failure}");
        }
    }

    async fn waiting(&self) -> i64 {
        self.app.count("jobs WHERE kind = 'retry_activity'").await
    }
}

#[tokio::test]
async fn flood_of_actors_of_one_domain_ends_with_its_window() {
    let scene = scene().await;
    scene.follow(&scene.mallory).await;
    // Another port is the same domain, another address is not.
    let (late, far) = (Liar::start().await.person("late"), Liar::at("127.0.0.2").await.person("far"));
    late.liar.document("/users/late/notes/1", &late.note("1"));
    scene.flood_with_actors().await;

    // People get an answer, other servers a refusal, jobs come again.
    assert_eq!(scene.search(&late.address()).await, None);
    scene.refuses(&late, &late.activity("Follow", scene.alice_uri("")), 503, "no_key").await;
    let announce = scene.mallory.activity("Announce", late.note("1")["id"].clone());
    assert_eq!(scene.send(&scene.mallory, &announce).await, "Announce flood");
    assert!(!scene.knows(&late.uri).await);
    assert_eq!(scene.waiting().await, 1);
    // Known actors of the domain, and other domains, do not suffer.
    assert_eq!(scene.send(&scene.mallory, &scene.mallory.activity("Follow", scene.alice_uri(""))).await, "Follow ok");
    scene.find(&far).await;

    scene.app.app.clock.advance(Duration::minutes(5));
    scene.app.run_jobs().await;
    assert!(scene.has(text(&late.note("1"), "id")).await, "the job tried again");
    assert_eq!(scene.waiting().await, 0);
    assert_eq!(scene.send(&late, &late.activity("Follow", scene.alice_uri(""))).await, "Follow ok");
}

#[tokio::test]
async fn flood_of_servers_under_one_domain_ends_with_its_window() {
    let scene = Scene::new().await;
    // Servers of this machine end alike, as those of one domain do.
    for number in 0..SERVERS {
        let person = Liar::start().await.person("bob");
        assert!(scene.search(&person.address()).await.is_some(), "{number}");
    }
    let late = Liar::start().await.person("late");
    assert_eq!(scene.search(&late.address()).await, None);
    let follow = late.activity("Follow", scene.alice_uri(""));
    scene.refuses(&late, &follow, 503, "no_key").await;
    assert_eq!(scene.app.count("instances").await, 10);
    scene.app.app.clock.advance(Duration::minutes(1));
    assert_eq!(scene.send(&late, &follow).await, "Follow ok");
}

#[tokio::test]
async fn flood_of_fetched_statuses_of_one_domain_ends_with_its_window() {
    let scene = scene().await;
    scene.follow(&scene.mallory).await;
    let far = Liar::at("127.0.0.2").await.person("far");
    let foreign = with(scene.mallory.note("lie"), &json!({ "attributedTo": far.uri }));
    let lie = scene.liar.document("/users/mallory/notes/lie", &foreign);
    let note = scene.mallory.note("1");
    let id = scene.liar.document("/users/mallory/notes/1", &note);
    scene.flood_with_statuses(&lie).await;

    assert_eq!(scene.open(&id).await, None);
    let announce = scene.mallory.activity("Announce", id.clone());
    assert_eq!(scene.send(&scene.mallory, &announce).await, "Announce flood");
    assert_eq!(scene.waiting().await, 1);
    // Nor does a quote fetch it.
    let quoting = with(scene.mallory.note("2"), &json!({ "quoteUrl": id }));
    scene.receive(&scene.mallory, &quoting).await;
    assert!(!scene.has(&id).await);
    // A status that is sent is not fetched.
    scene.receive(&scene.mallory, &scene.mallory.note("3")).await;
    let theirs = far.liar.document("/users/far/notes/1", &far.note("1"));
    assert!(scene.open(&theirs).await.is_some(), "another domain");

    scene.app.app.clock.advance(Duration::minutes(5));
    scene.app.run_jobs().await;
    assert!(scene.has(&id).await, "the job tried again");
}

#[tokio::test]
async fn quotes_count_as_fetched_statuses() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    let far = Liar::start().await.person("far");
    let foreign = with(scene.mallory.note("lie"), &json!({ "attributedTo": far.uri }));
    let lie = scene.liar.document("/users/mallory/notes/lie", &foreign);
    for _ in 1..STATUSES {
        federation::fetch::status(&scene.app.app, &lie).await.expect_err("its author is elsewhere");
    }
    // One more is wanted: the quoted one.
    let quoted = scene.liar.document("/users/mallory/notes/1", &scene.mallory.note("1"));
    scene.receive(&scene.mallory, &with(scene.mallory.note("2"), &json!({ "quoteUrl": quoted }))).await;
    assert!(scene.has(&quoted).await);
    let other = scene.liar.document("/users/mallory/notes/3", &scene.mallory.note("3"));
    assert_eq!(scene.open(&other).await, None);
}

#[tokio::test]
async fn keys_are_not_fetched_again_and_again() {
    let scene = Scene::new().await;
    scene.find(&scene.mallory).await;
    let asked = scene.liar.asked("/users/mallory");
    for _ in 0..20 {
        let follow: Value = scene.mallory.activity("Follow", scene.alice_uri(""));
        let letter = crate::harness::Letter::new(&scene.app, "/inbox", follow.to_string());
        let letter = letter.signed(&scene.mallory.key_id, &OTHER_KEY);
        assert_eq!(scene.refuse(&letter).await, (401, "forged".to_owned()));
    }
    assert_eq!(scene.liar.asked("/users/mallory") - asked, 1);
}

#[tokio::test]
async fn host_that_always_fails_is_not_asked_about_everyone() {
    let scene = Scene::new().await;
    for number in 0..30 {
        let path = format!("/users/nobody{number}");
        scene.liar.put(&path, Reply::status(500, ""));
        assert_eq!(scene.open(&scene.liar.url(&path)).await, None);
    }
    let asked = (0..30).filter(|number| scene.liar.asked(&format!("/users/nobody{number}")) > 0).count();
    assert!(asked < 30, "the host is spared after {asked} failures");
}
