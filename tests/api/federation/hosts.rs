//! Hosts of other servers that fail, hang, are set aside or paused; and their NodeInfo.

use chrono::Duration;
use federation::deliver::{self, HostState, OwedHost};
use serde_json::{Value, json};

use crate::harness::liar::{Person, Reply};
use crate::harness::{Client, Counters, Liar, TestApp};

/// A server with Alice, and followers of hers on two other servers.
struct Scene {
    app: TestApp,
    alice: Client,
    one: Liar,
    carol: Person,
    other: Liar,
    dave: Person,
}

impl Scene {
    async fn new() -> Self {
        let app =
            TestApp::named("localhost:3000", &[("ROOKERY_FEDERATION_ALLOW_PRIVATE_ADDRESSES", "127.0.0.0/8")]).await;
        let alice = app.account("alice").await;
        let (one, other) = (Liar::start().await, Liar::at("127.0.0.2").await);
        let (carol, dave) = (one.person("carol"), other.person("dave"));
        let scene = Self { app, alice, one, carol, other, dave };
        for person in [&scene.carol, &scene.dave] {
            person.follow_alice(&scene.app).await;
        }
        scene
    }

    async fn send(&self, person: &Person, activity: &Value) {
        assert_eq!(person.letter(&self.app, activity).send(&self.app).await.status, 202);
        self.app.run_jobs().await;
    }

    async fn publish(&self, text: &str) -> Value {
        let uri = self.alice.publish(text).await["uri"].clone();
        self.app.run_jobs().await;
        uri
    }

    async fn later(&self, time: Duration) {
        self.app.app.clock.advance(time);
        self.app.run_jobs().await;
    }

    async fn owed(&self) -> i64 {
        self.app.count("deliveries").await
    }

    /// The state of `host` by the clock of the test; commands have their own.
    async fn state(&self, host: &str) -> Option<OwedHost> {
        deliver::hosts(&self.app.app, "", 100).await.unwrap().into_iter().find(|row| row.host == host)
    }

    async fn federation(&self, arguments: &[&str]) -> String {
        let all: Vec<&str> = ["federation"].into_iter().chain(arguments.iter().copied()).collect();
        self.app.run(&all).await.ok()
    }
}

/// The URIs of the statuses that `liar` was sent.
fn statuses(liar: &Liar) -> Vec<Value> {
    let received = liar.received();
    received.iter().filter(|one| one["type"] == "Create").map(|one| one["object"]["id"].clone()).collect()
}

/// A host that does not respond.
fn breaks_down(person: &Person) {
    person.liar.put(&format!("{}/inbox", person.path()), Reply::Hangup);
}

fn recovers(person: &Person) {
    person.liar.put(&format!("{}/inbox", person.path()), Reply::status(202, ""));
}

#[tokio::test]
async fn failing_inbox_delays_no_other_of_its_host() {
    let scene = Scene::new().await;
    let erin = scene.one.person("erin");
    erin.follow_alice(&scene.app).await;
    scene.one.put("/users/carol/inbox", Reply::status(500, ""));
    let (first, second) = (scene.publish("first").await, scene.publish("second").await);
    assert_eq!(scene.one.asked("/users/carol/inbox") - 1, 1, "Carol's inbox is left alone");
    assert_eq!(scene.one.asked("/users/erin/inbox") - 1, 2);
    assert_eq!(statuses(&scene.other), [first.clone(), second.clone()]);
    assert_eq!(scene.owed().await, 2);
    recovers(&scene.carol);
    scene.later(Duration::minutes(1)).await;
    assert_eq!(scene.owed().await, 0);
    assert_eq!(scene.one.asked("/users/carol/inbox") - 1, 3);
}

#[tokio::test]
async fn host_that_fails_on_seven_days_is_set_aside_and_tried_daily() {
    let scene = Scene::new().await;
    breaks_down(&scene.carol);
    scene.publish("first").await;
    for day in 1..7 {
        assert_eq!(scene.state(&scene.one.domain).await.unwrap().state, HostState::Waiting, "{day}");
        scene.later(Duration::days(1)).await;
    }
    let state = scene.state(&scene.one.domain).await.unwrap();
    assert_eq!(state.state, HostState::SetAside, "{state:?}");
    assert!(state.failures >= 7 && state.error.is_some(), "{state:?}");
    let listed = scene.federation(&["hosts"]).await;
    assert!(listed.contains("set_aside") && listed.contains("failures"), "{listed}");

    let owed = scene.owed().await;
    let tried = scene.publish("a trial").await;
    assert_eq!(scene.owed().await, owed + 1, "one delivery a day is a trial");
    let missed = scene.publish("not queued").await;
    assert_eq!(scene.owed().await, owed + 1);
    assert_eq!(statuses(&scene.other).last(), Some(&missed), "others receive it");
    scene.later(Duration::days(1)).await;
    scene.publish("the next trial").await;
    assert_eq!(scene.owed().await, owed + 2);

    // Anything that comes from there ends it.
    recovers(&scene.carol);
    scene.send(&scene.carol, &scene.carol.activity("Like", tried.clone())).await;
    assert_eq!(scene.owed().await, 0);
    assert!(scene.state(&scene.one.domain).await.is_none());
    assert!(statuses(&scene.one).contains(&tried) && !statuses(&scene.one).contains(&missed));
    let after = scene.publish("received").await;
    assert!(statuses(&scene.one).contains(&after));
}

#[tokio::test]
async fn follow_request_is_sent_to_a_host_that_is_set_aside() {
    let scene = Scene::new().await;
    let carol = scene.alice.search_account(&scene.carol.address()).await;
    breaks_down(&scene.carol);
    scene.publish("first").await;
    for _ in 1..8 {
        scene.later(Duration::days(1)).await;
    }
    scene.publish("a trial").await;
    let owed = scene.owed().await;
    scene.alice.follow(&carol).ok().await;
    scene.app.run_jobs().await;
    assert_eq!(scene.owed().await, owed + 1);
}

#[tokio::test]
async fn paused_host_waits_until_it_is_resumed() {
    let scene = Scene::new().await;
    assert!(scene.federation(&["pause", &scene.one.domain]).await.contains("wait now"));
    assert!(scene.federation(&["pause", &scene.one.domain]).await.contains("waited already"));
    let status = scene.publish("hello").await;
    scene.later(Duration::days(2)).await;
    assert_eq!((statuses(&scene.one), statuses(&scene.other)), (vec![], vec![status.clone()]));
    assert_eq!(scene.state(&scene.one.domain).await.unwrap().state, HostState::Paused);
    assert!(scene.federation(&["resume", &scene.one.domain]).await.contains("continue"));
    scene.app.make_jobs_due().await;
    scene.app.run_jobs().await;
    assert_eq!(statuses(&scene.one), [status]);
    assert_eq!(scene.app.count("remote_hosts").await, 0);
    assert_ne!(scene.app.run(&["federation", "pause", "not a host"]).await.code, 0);
}

#[tokio::test]
async fn pause_of_a_host_that_fails_lasts() {
    let scene = Scene::new().await;
    breaks_down(&scene.carol);
    scene.publish("hello").await;
    let asked = scene.one.asked("/users/carol/inbox");
    scene.federation(&["pause", &scene.one.domain]).await;
    scene.later(Duration::days(1)).await;
    scene.publish("more").await;
    assert_eq!(scene.one.asked("/users/carol/inbox"), asked, "a paused host is not tried");
    let state = scene.state(&scene.one.domain).await.unwrap();
    assert_eq!((state.state, state.failures, state.owed), (HostState::Paused, 1, 2), "{state:?}");
    recovers(&scene.carol);
    scene.federation(&["resume", &scene.one.domain]).await;
    scene.app.make_jobs_due().await;
    scene.app.run_jobs().await;
    assert_eq!((scene.owed().await, scene.app.count("remote_hosts").await), (0, 0));
}

#[tokio::test]
async fn delivery_that_was_given_up_is_listed_and_tried_again() {
    let scene = Scene::new().await;
    scene.one.put("/users/carol/inbox", Reply::status(500, ""));
    let status = scene.publish("hello").await;
    for _ in 0..20 {
        scene.later(Duration::days(1)).await;
    }
    assert_eq!(scene.owed().await, 0);
    let dead: Value = serde_json::from_str(&scene.federation(&["dead", "--json"]).await).unwrap();
    assert_eq!(dead.as_array().unwrap().len(), 1, "{dead}");
    assert_eq!((&dead[0]["error"], &dead[0]["host"]), (&"status 500".into(), &scene.one.domain.as_str().into()));
    assert!(scene.federation(&["dead", &scene.other.domain]).await.contains("No delivery"));
    recovers(&scene.carol);
    let before = statuses(&scene.one).len();
    scene.federation(&["retry", &scene.one.domain]).await;
    scene.app.make_jobs_due().await;
    scene.app.run_jobs().await;
    assert_eq!(statuses(&scene.one)[before..], [status]);
    assert_eq!(scene.app.count("dead_deliveries").await, 0);
}

#[tokio::test]
async fn peers_are_the_servers_that_are_known() {
    let scene = Scene::new().await;
    let peers = scene.alice.get("/api/v1/instance/peers").ok().await;
    assert_eq!(peers.as_array().unwrap().len(), 2, "{peers}");
    let prefix = &scene.other.domain[..9];
    let found = scene.alice.get(&format!("/api/v1/peers/search?q={prefix}")).ok().await;
    assert_eq!(found, json!([scene.other.domain]));
}

#[tokio::test]
async fn node_info_is_fetched_once_a_day() {
    let scene = Scene::new().await;
    let liar = Liar::at("127.0.0.3").await;
    let erin = liar.person("erin");
    let links = json!({ "links": [
        { "rel": "http://nodeinfo.diaspora.software/ns/schema/2.0", "href": liar.url("/nodeinfo/2.0") },
    ] });
    liar.put("/.well-known/nodeinfo", Reply::of("application/json", links.to_string()));
    let info = json!({ "software": { "name": "Misskey", "version": "1" }, "metadata": { "features": ["a", 5, "b"] } });
    liar.put("/nodeinfo/2.0", Reply::of("application/json; charset=utf-8", info.to_string()));
    scene.alice.search_account(&erin.address()).await;
    scene.alice.search_account(&liar.person("frank").address()).await;
    scene.app.run_jobs().await;
    assert_eq!(liar.asked("/nodeinfo/2.0"), 1);
    let sql =
        format!("instances WHERE domain = '{}' AND software = 'misskey' AND features = '[\"a\",\"b\"]'", liar.domain);
    assert_eq!(scene.app.count(&sql).await, 1);
    scene.app.app.clock.advance(Duration::hours(25));
    scene.alice.search_account(&erin.address()).await;
    scene.app.run_jobs().await;
    assert_eq!(liar.asked("/nodeinfo/2.0"), 2);

    // Such software states neither who may find a status nor its language.
    let uri = liar.document("/users/erin/notes/1", &erin.note("1"));
    let status = scene.alice.search_status(&uri.into()).await;
    assert_eq!((&status["searchability"], &status["language"]), (&"public".into(), &"ja".into()), "{status}");
    let uri = scene.one.document("/users/carol/notes/1", &scene.carol.note("1"));
    let status = scene.alice.search_status(&uri.into()).await;
    assert_eq!((&status["searchability"], &status["language"]), (&"direct".into(), &Value::Null), "{status}");
}

#[tokio::test]
async fn host_that_hangs_is_spared_for_a_while() {
    let (counters, _counting) = Counters::of_this_thread();
    let scene = Scene::new().await;
    let liar = Liar::at("127.0.0.4").await;
    liar.put("/.well-known/webfinger", Reply::Hangup);
    let search = async |name: &str| {
        counters.take("rookery_lookups_total");
        let path = format!("/api/v2/search?q=@{name}@{}&resolve=true&type=accounts", liar.domain);
        assert_eq!(scene.alice.get(&path).ok().await["accounts"], json!([]));
        counters.take("rookery_lookups_total")
    };
    assert_eq!(search("a").await, ["connection"]);
    assert_eq!(search("b").await, ["spared"]);
    assert_eq!(liar.asked("/.well-known/webfinger"), 1);
    scene.app.app.clock.advance(Duration::minutes(1));
    let erin = liar.person("erin");
    scene.alice.search_account(&erin.address()).await;
}
