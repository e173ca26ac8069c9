//! Poisoned addresses: inboxes and collections that an actor says are its own.

use serde_json::json;

use super::Scene;
use crate::harness::Liar;
use crate::harness::liar::{Person, Reply, with};

/// URLs that are no address of an inbox.
const UNUSABLE: [&str; 10] = [
    "javascript:alert(1)",
    "http://alice:secret@127.0.0.1:1/inbox",
    "http://alice@127.0.0.1:1/inbox",
    "ftp://127.0.0.1:1/inbox",
    "file:///inbox",
    "//127.0.0.1:1/inbox",
    "/inbox",
    "http://127.0.0.1%3a1/inbox",
    "http:\\\\127.0.0.1:1\\inbox",
    "http://2130706433:1/inbox",
];
/// URLs of this server, and of private networks.
const OUT_OF_REACH: [&str; 8] = [
    "http://localhost:3000/inbox",
    "http://localhost:3000/users/alice/inbox",
    "http://LOCALHOST:3000/inbox",
    "http://127.0.0.2:3000/inbox",
    "http://10.0.0.1/inbox",
    "https://10.0.0.1/inbox",
    "https://[::1]/inbox",
    "https://169.254.169.254/inbox",
];

impl Scene {
    /// Makes `person` a follower of Alice; true when that worked.
    async fn is_followed_by(&self, person: &Person) -> bool {
        self.app.tick();
        let follow = person.activity("Follow", self.alice_uri(""));
        let answer = person.letter(&self.app, &follow).send(&self.app).await;
        self.app.run_jobs().await;
        answer.status == 202
    }

    /// A column of the account of `person`.
    async fn stored(&self, person: &Person, column: &str) -> Option<String> {
        let sql = format!("SELECT {column} FROM accounts WHERE uri = '{}'", person.uri);
        self.app.db().fetch_raw::<(Option<String>,)>(&sql).await.unwrap().pop().expect("an account").0
    }

    async fn publishes(&self) {
        self.alice.publish("hello").await;
        for _ in 0..3 {
            self.app.run_jobs().await;
            self.app.app.clock.advance(chrono::Duration::minutes(2));
        }
    }
}

#[tokio::test]
async fn inbox_that_is_no_address_makes_no_account() {
    let scene = Scene::new().await;
    for (number, inbox) in UNUSABLE.into_iter().enumerate() {
        let person = scene.liar.person(&format!("person{number}"));
        person.change_actor(&json!({ "inbox": inbox }));
        scene.refuses(&person, &person.activity("Follow", scene.alice_uri("")), 401, "no_key").await;
        assert!(!scene.knows(&person.uri).await, "{inbox}");
    }
}

#[tokio::test]
async fn inbox_here_or_in_a_private_network_is_not_posted_to() {
    let scene = Scene::new().await;
    let hidden = Liar::at("127.0.0.2").await;
    let inbox = hidden.put("/inbox", Reply::status(202, ""));
    for (number, inbox) in OUT_OF_REACH.into_iter().chain([inbox.as_str()]).enumerate() {
        let person = scene.liar.person(&format!("person{number}"));
        person.change_actor(&json!({ "inbox": inbox, "endpoints": { "sharedInbox": inbox } }));
        scene.is_followed_by(&person).await;
        assert_eq!(scene.app.count("deliveries").await, 0, "{inbox}: nothing is owed to it");
    }
    let before = scene.app.count("inbound_activities").await;
    scene.publishes().await;
    assert_eq!(scene.app.count("inbound_activities").await, before);
    assert_eq!(scene.app.count("deliveries").await, 0);
    assert_eq!(scene.app.count("jobs WHERE kind = 'deliver_to_host'").await, 0, "nothing is tried again");
    assert!(hidden.received().is_empty());
}

#[tokio::test]
async fn shared_inbox_on_another_host_is_not_used() {
    let scene = Scene::new().await;
    let victim = Liar::start().await;
    victim.put("/inbox", Reply::status(202, ""));
    let victims = victim.url("/inbox");
    let all = UNUSABLE.into_iter().chain(OUT_OF_REACH).chain([victims.as_str()]);
    for (number, shared) in all.enumerate() {
        let person = scene.liar.person(&format!("person{number}"));
        person.change_actor(&json!({ "endpoints": { "sharedInbox": shared } }));
        assert!(scene.is_followed_by(&person).await, "{shared}");
        assert_eq!(scene.stored(&person, "shared_inbox_url").await, None, "{shared}");
    }
    let before = scene.liar.received().len();
    scene.publishes().await;
    assert_eq!(scene.liar.received().len() - before, UNUSABLE.len() + OUT_OF_REACH.len() + 1, "each has its own inbox");
    assert!(victim.received().is_empty());
}

#[tokio::test]
async fn inbox_elsewhere_takes_its_shared_inbox_along() {
    let scene = Scene::new().await;
    let host = Liar::start().await;
    host.put("/box", Reply::status(202, ""));
    host.put("/boxes/mallory", Reply::status(202, ""));
    let endpoints = json!({ "sharedInbox": host.url("/box") });
    scene.mallory.change_actor(&json!({ "inbox": host.url("/boxes/mallory"), "endpoints": endpoints }));
    assert!(scene.is_followed_by(&scene.mallory).await);
    assert_eq!(scene.stored(&scene.mallory, "shared_inbox_url").await, Some(host.url("/box")));
}

#[tokio::test]
async fn several_ways_to_write_an_inbox_are_one_inbox() {
    let scene = Scene::new().await;
    let inbox = scene.liar.put("/inbox", Reply::status(202, ""));
    let upper = inbox.replace("http://", "HTTP://");
    for (number, inbox) in
        [inbox.clone(), upper, format!("{inbox}#1"), format!("{inbox}#2"), inbox.replace("/inbox", "/x/../inbox")]
            .into_iter()
            .enumerate()
    {
        let person = scene.liar.person(&format!("person{number}"));
        person.change_actor(&json!({ "inbox": inbox }));
        assert!(scene.is_followed_by(&person).await, "{inbox}");
    }
    let before = scene.liar.received().len();
    scene.publishes().await;
    assert_eq!(scene.liar.received().len() - before, 1, "one activity for one inbox");
}

#[tokio::test]
async fn collections_on_other_hosts_are_not_read() {
    let scene = Scene::new().await;
    let victim = Liar::start().await.person("bob");
    let theirs = victim.liar.url("/collection");
    let all = UNUSABLE.into_iter().chain(OUT_OF_REACH).chain([theirs.as_str()]);
    for (number, url) in all.enumerate() {
        let person = scene.liar.person(&format!("person{number}"));
        let members = json!({ "outbox": url, "followers": url, "following": url, "featured": url });
        person.set_actor(&with(person.actor(), &members));
        scene.find(&person).await;
        for column in ["outbox_url", "followers_url", "following_url", "featured_url"] {
            assert_eq!(scene.stored(&person, column).await, None, "{url}");
        }
    }
    scene.app.run_jobs().await;
    assert_eq!(victim.liar.asked("/collection"), 0);
    assert_eq!(scene.app.count("inbound_activities").await, 0);
}

#[tokio::test]
async fn pictures_here_and_in_private_networks_are_not_fetched() {
    let scene = Scene::new().await;
    let hidden = Liar::at("127.0.0.2").await;
    hidden.put("/a.png", Reply::of("image/png", "x"));
    for (number, url) in OUT_OF_REACH.into_iter().chain([hidden.url("/a.png").as_str()]).enumerate() {
        let person = scene.liar.person(&format!("person{number}"));
        let picture = json!({ "type": "Image", "mediaType": "image/png", "url": url });
        person.change_actor(&json!({ "icon": picture, "image": picture }));
        scene.find(&person).await;
        scene.app.run_jobs().await;
    }
    assert_eq!(hidden.asked("/a.png"), 0);
}
