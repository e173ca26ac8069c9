//! Relays of both kinds: how they are followed, what they receive, and what comes from them.

use serde_json::{Value, json};

use super::scene::Scene;
use crate::harness::liar::{PUBLIC, Person};
use crate::harness::{Client, Liar, id};

const RELAYS: &str = "/api/v1/admin/relays";
/// Statuses that a relay may pass on in a minute.
const A_MINUTE: usize = 300;

/// A server with a relay, and the relay.
struct Relayed {
    scene: Scene,
    admin: Client,
    relay: Person,
    /// As the staff sees it.
    row: Value,
}

impl Relayed {
    /// `url`: from the actor of the relay.
    async fn pending(url: impl Fn(&Person) -> String) -> Self {
        let scene = Scene::new().await;
        let admin = scene.app.staff("admin", "Admin").await;
        let relay = Liar::start().await.person("relay");
        let row = admin.post(RELAYS).json(&json!({ "url": url(&relay) })).ok().await;
        scene.app.run_jobs().await;
        Self { scene, admin, relay, row }
    }

    async fn accepted(url: impl Fn(&Person) -> String) -> Self {
        let relayed = Self::pending(url).await;
        let follow = relayed.received("Follow").pop().expect("a follow");
        relayed.scene.send(&relayed.relay, "Accept", follow["id"].clone()).await;
        assert_eq!(relayed.state().await, "accepted");
        relayed
    }

    async fn of_mastodon() -> Self {
        Self::accepted(|relay| format!("{}/inbox", relay.uri)).await
    }

    async fn of_litepub() -> Self {
        Self::accepted(|relay| relay.uri.clone()).await
    }

    async fn state(&self) -> String {
        let rows = self.admin.get(RELAYS).ok().await;
        rows[0]["state"].as_str().unwrap_or("none").to_owned()
    }

    /// The activities of a type that the relay received.
    fn received(&self, kind: &str) -> Vec<Value> {
        self.relay.liar.received().into_iter().filter(|activity| activity["type"] == kind).collect()
    }

    /// The URIs on the federated timeline.
    async fn federated(&self) -> Vec<String> {
        let page = self.scene.alice.get("/api/v1/timelines/public?remote=true").ok().await;
        page.as_array().unwrap().iter().map(|status| status["uri"].as_str().unwrap().to_owned()).collect()
    }
}

/// A note of someone whom nobody follows, which is served.
async fn note_of_a_stranger() -> (Person, Value) {
    let dave = Liar::start().await.person("dave");
    let note = dave.note("1");
    dave.liar.document("/users/dave/notes/1", &note);
    (dave, note)
}

#[tokio::test]
async fn relay_of_mastodons_kind_receives_public_statuses() {
    let relayed = Relayed::of_mastodon().await;
    let follow = relayed.received("Follow").remove(0);
    assert_eq!((&follow["actor"], &follow["object"]), (&json!("http://localhost:3000/actor"), &json!(PUBLIC)));
    assert!(follow["id"].as_str().unwrap().starts_with("http://localhost:3000/payloads/"), "{follow}");
    assert_eq!((&relayed.row["kind"], &relayed.row["state"]), (&json!("mastodon"), &json!("pending")));

    let alice = &relayed.scene.alice;
    let status = alice.publish("to the relay").await;
    for visibility in ["unlisted", "private", "direct"] {
        alice.publish_to(visibility, "not to the relay").await;
    }
    relayed.scene.app.run_jobs().await;
    let created = relayed.received("Create");
    assert_eq!(created.len(), 1, "{created:?}");
    assert_eq!((&created[0]["object"]["id"], &created[0]["actor"]), (&status["uri"], &json!(super::scene::ALICE)));
    alice.edit(&status, "changed").ok().await;
    relayed.scene.app.run_jobs().await;
    alice.delete_status(&status).ok().await;
    relayed.scene.app.run_jobs().await;
    assert_eq!((relayed.received("Update").len(), relayed.received("Delete").len()), (1, 1));

    relayed.admin.delete(&format!("{RELAYS}/{}", id(&relayed.row))).ok().await;
    alice.publish("after the relay").await;
    relayed.scene.app.run_jobs().await;
    assert_eq!(relayed.received("Create").len(), 1);
    let undone = relayed.received("Undo");
    assert_eq!(undone[0]["object"]["id"], follow["id"]);
    assert_eq!(relayed.state().await, "none");
}

#[tokio::test]
async fn status_that_a_relay_passes_on_comes_from_its_own_server() {
    let relayed = Relayed::of_mastodon().await;
    let (dave, note) = note_of_a_stranger().await;
    let mut forged = note.clone();
    forged["content"] = "<p>forged</p>".into();
    let letter = relayed.relay.letter(&relayed.scene.app, &dave.activity("Create", forged));
    assert_eq!(letter.send(&relayed.scene.app).await.status, 202);
    relayed.scene.app.run_jobs().await;
    assert_eq!(relayed.federated().await, [note["id"].as_str().unwrap()]);
    let status = relayed.scene.status(&note).await.expect("stored");
    assert_eq!(status["content"], "<p>1</p>");
    assert_eq!(relayed.scene.notifications().await, Vec::<String>::new());
}

#[tokio::test]
async fn relay_of_litepubs_kind_and_this_server_announce() {
    let relayed = Relayed::of_litepub().await;
    assert_eq!(relayed.row["kind"], "litepub");
    assert_eq!(relayed.received("Follow")[0]["object"], relayed.relay.uri);
    let status = relayed.scene.alice.publish("announced").await;
    relayed.scene.app.run_jobs().await;
    let announced = relayed.received("Announce");
    assert_eq!(announced.len(), 1, "{announced:?}");
    assert_eq!(
        (&announced[0]["object"], &announced[0]["actor"]),
        (&status["uri"], &json!("http://localhost:3000/actor"))
    );
    assert_eq!(relayed.received("Create").len(), 0);

    // It follows back.
    relayed.scene.send(&relayed.relay, "Follow", "http://localhost:3000/actor").await;
    assert_eq!((relayed.received("Accept").len(), relayed.received("Reject").len()), (1, 0));

    let (_, note) = note_of_a_stranger().await;
    relayed.scene.send(&relayed.relay, "Announce", note["id"].clone()).await;
    assert_eq!(relayed.federated().await, [note["id"].as_str().unwrap()]);
    assert_eq!(relayed.scene.app.count("statuses WHERE reblog_of_id IS NOT NULL").await, 0, "no reblog");
    assert_eq!(relayed.scene.notifications().await, Vec::<String>::new());
}

#[tokio::test]
async fn flood_of_a_relay_ends_with_its_minute() {
    let relayed = Relayed::of_litepub().await;
    let scene = &relayed.scene;
    let ((_, early), (_, late), (_, other)) =
        (note_of_a_stranger().await, note_of_a_stranger().await, note_of_a_stranger().await);
    // Without a tick: all in one minute.
    let announce = async |object: &Value| {
        let letter = relayed.relay.letter(&scene.app, &relayed.relay.activity("Announce", object.clone()));
        assert_eq!(letter.send(&scene.app).await.status, 202);
    };
    announce(&early["id"]).await;
    for number in 1..A_MINUTE {
        announce(&json!(relayed.relay.liar.url(&format!("/missing/{number}")))).await;
    }
    announce(&late["id"]).await;
    scene.app.run_jobs().await;
    assert_eq!(relayed.federated().await, [early["id"].as_str().unwrap()]);
    // Traffic that is not of the relay does not suffer.
    scene.receive(&scene.carol.note("1")).await;

    scene.app.app.clock.advance(chrono::Duration::minutes(1));
    announce(&other["id"]).await;
    scene.app.run_jobs().await;
    assert!(relayed.federated().await.contains(&other["id"].as_str().unwrap().to_owned()));
    assert!(scene.status(&late).await.is_none(), "what was refused is not fetched later");
}

#[tokio::test]
async fn refused_relay_may_be_followed_again() {
    let relayed = Relayed::pending(|relay| format!("{}/inbox", relay.uri)).await;
    let follow = relayed.received("Follow").remove(0);
    relayed.scene.send(&relayed.relay, "Reject", follow["id"].clone()).await;
    assert_eq!(relayed.state().await, "rejected");
    let path = format!("{RELAYS}/{}", id(&relayed.row));
    relayed.admin.post(&format!("{path}/enable")).ok().await;
    relayed.scene.app.run_jobs().await;
    let again = relayed.received("Follow");
    assert_eq!((again.len(), relayed.state().await), (2, "pending".to_owned()));
    assert_ne!(again[1]["id"], follow["id"]);
    relayed.admin.post(&format!("{path}/disable")).ok().await;
    relayed.scene.app.run_jobs().await;
    assert_eq!((relayed.received("Undo").len(), relayed.state().await), (1, "idle".to_owned()));
}

#[tokio::test]
async fn command_manages_relays() {
    let scene = Scene::new().await;
    let relay = Liar::start().await.person("relay");
    let inbox = format!("{}/inbox", relay.uri);
    let run = |arguments: Vec<String>| {
        let app = &scene.app;
        async move {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            app.run_set(&Liar::KEYS, &arguments).await
        }
    };
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    let added = run(words(&["relay", "add", &inbox, "--json"])).await.json();
    assert_eq!((&added[0]["inbox_url"], &added[0]["kind"]), (&json!(inbox), &json!("mastodon")));
    let listed = run(words(&["relay", "list", "--json"])).await.list();
    assert_eq!(listed[0]["id"], added[0]["id"]);
    run(words(&["relay", "remove", &inbox, "--json"])).await.json();
    assert_eq!(scene.app.count("relays").await, 0);
}
