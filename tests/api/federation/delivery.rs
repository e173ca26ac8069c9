//! Deliveries to servers that fail, refuse or are no longer wanted.

use chrono::Duration;
use serde_json::{Value, json};

use crate::harness::liar::{Person, Reply};
use crate::harness::{Client, Liar, TestApp};

/// A server with Alice, and her follower Carol on another server.
struct Scene {
    app: TestApp,
    alice: Client,
    other: Liar,
    carol: Person,
}

impl Scene {
    async fn new() -> Self {
        let app = TestApp::named("localhost:3000", &Liar::KEYS).await;
        let alice = app.named_account("alice").await;
        let other = Liar::start().await;
        let carol = other.person("carol");
        let scene = Self { app, alice, other, carol };
        scene.carol.follow_alice(&scene.app).await;
        scene
    }

    /// Types of the activities that the other server was sent since the first `before`.
    fn kinds(&self, before: usize) -> Vec<String> {
        let received = self.other.received();
        received[before..].iter().map(|activity| activity["type"].as_str().unwrap().to_owned()).collect()
    }

    /// The URIs of the statuses that the other server was sent, in their order.
    fn statuses(&self) -> Vec<Value> {
        let received = self.other.received();
        received.iter().filter(|one| one["type"] == "Create").map(|one| one["object"]["id"].clone()).collect()
    }

    async fn later(&self, time: Duration) {
        self.app.app.clock.advance(time);
        self.app.run_jobs().await;
    }

    async fn owed(&self) -> i64 {
        self.app.count("deliveries").await
    }
}

#[tokio::test]
async fn follow_is_accepted_with_its_id() {
    let scene = Scene::new().await;
    let received = scene.other.received();
    assert_eq!(received.len(), 1, "{received:?}");
    assert_eq!(
        (&received[0]["type"], &received[0]["actor"]),
        (&"Accept".into(), &"http://localhost:3000/users/alice".into())
    );
    assert_eq!(received[0]["object"]["actor"], scene.carol.uri.as_str());
    assert!(received[0]["object"]["id"].as_str().unwrap().contains("#Follow/"));
}

#[tokio::test]
async fn featured_hashtags_are_sent_to_followers() {
    let scene = Scene::new().await;
    let before = scene.other.received().len();
    let made = scene.alice.post("/api/v1/featured_tags").json(&json!({ "name": "Rooks" })).ok().await;
    scene.alice.delete(&format!("/api/v1/featured_tags/{}", made["id"].as_str().unwrap())).ok().await;
    // Twice, which changes nothing.
    for act in ["feature", "feature", "unfeature", "unfeature"] {
        scene.alice.post(&format!("/api/v1/tags/rooks/{act}")).ok().await;
    }
    scene.app.run_jobs().await;
    assert_eq!(scene.kinds(before), ["Add", "Remove", "Add", "Remove"]);
    let tag = json!({ "type": "Hashtag", "href": "http://localhost:3000/tags/rooks", "name": "#rooks" });
    for change in &scene.other.received()[before..] {
        assert_eq!((&change["object"], &change["actor"]), (&tag, &"http://localhost:3000/users/alice".into()));
        assert_eq!(change["target"], "http://localhost:3000/users/alice/collections/featured");
    }
}

#[tokio::test]
async fn repeated_follow_is_accepted_again() {
    let scene = Scene::new().await;
    scene.carol.follow_alice(&scene.app).await;
    assert_eq!(scene.kinds(0), ["Accept", "Accept"]);
    let followers = scene.app.count("follows").await;
    assert_eq!(followers, 1);
}

#[tokio::test]
async fn follow_by_a_limited_account_is_a_request() {
    let scene = Scene::new().await;
    let dave = scene.other.person("dave");
    dave.follow_alice(&scene.app).await;
    let undo = dave.activity("Undo", dave.activity("Follow", "http://localhost:3000/users/alice"));
    dave.letter(&scene.app, &undo).send(&scene.app).await;
    scene.app.run_jobs().await;
    scene.app.execute("UPDATE accounts SET limited_at = created_at WHERE username = 'dave'").await;
    dave.follow_alice(&scene.app).await;
    assert_eq!((scene.app.count("follows").await, scene.app.count("follow_requests").await), (1, 1));
}

#[tokio::test]
async fn inbox_belongs_to_an_account_that_is_there() {
    let scene = Scene::new().await;
    let bob = scene.app.account("bob").await;
    let follow = scene.carol.activity("Follow", "http://localhost:3000/users/bob");
    let send = async |name: &str| {
        let letter = scene.carol.letter_to(&scene.app, &format!("/users/{name}/inbox"), &follow);
        letter.send(&scene.app).await.status.as_u16()
    };
    assert_eq!(send("nobody").await, 404);
    scene.app.suspend(&bob).await;
    assert_eq!(send("bob").await, 202, "a suspension may end");
    assert_eq!(scene.app.run(&["user", "remove", "bob", "--yes"]).await.code, 0);
    assert_eq!(send("bob").await, 410);
}

#[tokio::test]
async fn failed_delivery_is_repeated_in_order() {
    let scene = Scene::new().await;
    scene.other.put("/users/carol/inbox", Reply::status(503, ""));
    let first = scene.alice.publish("first").await;
    scene.app.run_jobs().await;
    let second = scene.alice.publish("second").await;
    scene.app.run_jobs().await;
    assert_eq!(scene.statuses(), [first["uri"].clone()], "the host is left alone after it failed");
    assert_eq!(scene.owed().await, 2);

    scene.other.put("/users/carol/inbox", Reply::status(202, ""));
    scene.later(Duration::minutes(1)).await;
    assert_eq!(scene.statuses(), [first["uri"].clone(), first["uri"].clone(), second["uri"].clone()]);
    assert_eq!(scene.owed().await, 0);
}

#[tokio::test]
async fn delivery_is_given_up_after_its_attempts() {
    let scene = Scene::new().await;
    scene.other.put("/users/carol/inbox", Reply::status(500, ""));
    scene.alice.publish("hello").await;
    for _ in 0..20 {
        scene.later(Duration::days(1)).await;
    }
    assert_eq!(scene.owed().await, 0);
    assert_eq!(scene.statuses().len(), 16);
}

#[tokio::test]
async fn refusal_ends_a_delivery_and_not_the_others() {
    let scene = Scene::new().await;
    let inbox = "/users/carol/inbox";
    for status in [400, 403, 404, 410, 422, 501] {
        scene.other.script(inbox, [Reply::status(status, "no"), Reply::status(202, "")]);
        let before = scene.statuses().len();
        scene.alice.publish("one").await;
        scene.alice.publish("two").await;
        scene.app.run_jobs().await;
        assert_eq!(scene.statuses().len() - before, 2, "{status}");
        assert_eq!(scene.owed().await, 0, "{status}");
    }
}

#[tokio::test]
async fn status_that_may_pass_is_tried_again() {
    let scene = Scene::new().await;
    for status in [401, 408, 429, 500, 502, 503] {
        scene.other.script("/users/carol/inbox", [Reply::status(status, ""), Reply::status(202, "")]);
        scene.alice.publish("hello").await;
        scene.app.run_jobs().await;
        assert_eq!(scene.owed().await, 1, "{status}");
        scene.later(Duration::minutes(1)).await;
        assert_eq!(scene.owed().await, 0, "{status}");
    }
}

#[tokio::test]
async fn shared_inbox_gets_one_copy() {
    let scene = Scene::new().await;
    let shared = json!({ "endpoints": { "sharedInbox": scene.other.put("/inbox", Reply::status(202, "")) } });
    for name in ["dave", "erin"] {
        let person = scene.other.person(name);
        person.change_actor(&shared);
        person.follow_alice(&scene.app).await;
    }
    let status = scene.alice.publish("hello").await;
    scene.app.run_jobs().await;
    assert_eq!(scene.other.asked("/inbox"), 1);
    assert_eq!(scene.statuses(), [status["uri"].clone(), status["uri"].clone()], "Carol has no shared inbox");
    assert_eq!(scene.app.count("outbound_documents WHERE body LIKE '%\"Create\"%'").await, 1);
}

#[tokio::test]
async fn suspended_host_is_sent_nothing() {
    let scene = Scene::new().await;
    scene.other.put("/users/carol/inbox", Reply::status(503, ""));
    scene.alice.publish("owed").await;
    scene.app.run_jobs().await;
    let before = scene.other.received().len();
    let said = scene.app.run(&["domain", "block", &scene.other.domain, "--severity", "suspend"]).await;
    assert_eq!(said.code, 0, "{said:?}");
    scene.app.app.reload().await.unwrap();
    scene.app.make_jobs_due().await;
    scene.alice.publish("not for you").await;
    scene.later(Duration::hours(1)).await;
    assert_eq!(scene.kinds(before), [""; 0]);
    assert_eq!(scene.owed().await, 0);
}

#[tokio::test]
async fn delivery_of_a_killed_worker_is_sent_when_its_claim_ends() {
    let scene = Scene::new().await;
    scene.other.put("/users/carol/inbox", Reply::status(503, ""));
    scene.alice.publish("hello").await;
    scene.app.run_jobs().await;
    scene.other.put("/users/carol/inbox", Reply::status(202, ""));
    let until = scene.app.app.clock.now() + Duration::minutes(5);
    let sql = match scene.app.db().engine() {
        database::Engine::Sqlite => format!("UPDATE deliveries SET claimed_until = {}", until.timestamp_micros()),
        database::Engine::Postgres => format!("UPDATE deliveries SET claimed_until = '{}'", until.to_api()),
    };
    scene.app.execute(&sql).await;
    scene.later(Duration::minutes(1)).await;
    assert_eq!(scene.statuses().len(), 1, "another worker may be sending it");
    let again = scene.alice.publish("again").await;
    scene.app.run_jobs().await;
    assert_eq!(scene.statuses().len(), 1, "later ones do not overtake it");
    scene.later(Duration::minutes(5)).await;
    assert_eq!((scene.statuses().len(), &scene.statuses()[2]), (3, &again["uri"]));
    assert_eq!(scene.owed().await, 0);
}

#[tokio::test]
async fn sent_documents_and_old_rows_are_cleaned() {
    let scene = Scene::new().await;
    let status = scene.alice.publish("hello").await;
    scene.alice.delete_status(&status).ok().await;
    scene.app.run_jobs().await;
    assert!(scene.app.count("outbound_documents").await > 0 && scene.app.count("inbound_activities").await > 0);
    assert_eq!(scene.app.count("tombstones").await, 1);
    worker::cron::schedule(&scene.app.app).await.unwrap();
    scene.later(Duration::days(91)).await;
    for table in ["outbound_documents", "inbound_activities", "tombstones"] {
        assert_eq!(scene.app.count(table).await, 0, "{table}");
    }
}

#[tokio::test]
async fn first_act_of_an_account_makes_its_key_and_pauses_no_inbox() {
    let scene = Scene::new().await;
    scene.app.execute("UPDATE accounts SET private_key = NULL, public_key = '' WHERE username = 'alice'").await;
    scene.alice.publish("hello").await;
    scene.app.run_jobs().await;
    assert_eq!((scene.statuses().len(), scene.owed().await), (1, 0));
    assert_eq!(scene.app.count("inbox_pauses").await, 0);
}

#[tokio::test]
async fn server_releases_the_claims_of_its_last_process() {
    let scene = Scene::new().await;
    scene.other.put("/users/carol/inbox", Reply::status(503, ""));
    scene.alice.publish("hello").await;
    scene.app.run_jobs().await;
    scene.app.execute("UPDATE deliveries SET claimed_until = created_at").await;
    federation::deliver::release_claims(&scene.app.app).await.unwrap();
    assert_eq!(scene.app.count("deliveries WHERE claimed_until IS NULL").await, 1);
}
