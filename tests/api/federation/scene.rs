//! A server under test with Alice, and a server of other software; Alice follows Carol there.

use serde_json::{Value, json};

use crate::harness::liar::Person;
use crate::harness::{Client, Liar, TestApp};

/// The actor of Alice, whose id is from before ids had numbers.
pub(super) const ALICE: &str = "http://localhost:3000/users/alice";

pub(super) struct Scene {
    pub(super) app: TestApp,
    pub(super) alice: Client,
    pub(super) liar: Liar,
    pub(super) carol: Person,
}

impl Scene {
    pub(super) async fn new() -> Self {
        Self::with(&Liar::KEYS).await
    }

    /// With other configuration keys.
    pub(super) async fn with(keys: &[(&str, &str)]) -> Self {
        let app = TestApp::named("localhost:3000", keys).await;
        let alice = app.named_account("alice").await;
        let liar = Liar::start().await;
        let carol = liar.person("carol");
        let scene = Self { app, alice, liar, carol };
        scene.follow(&scene.carol).await;
        scene
    }

    /// Makes Alice a follower of `person`, who accepts; returns the account.
    pub(super) async fn follow(&self, person: &Person) -> Value {
        let address: String = url::form_urlencoded::byte_serialize(person.address().as_bytes()).collect();
        let path = format!("/api/v2/search?q=@{address}&resolve=true&type=accounts");
        let account = self.alice.get(&path).ok().await["accounts"][0].clone();
        assert!(account.is_object(), "{} was not found", person.address());
        self.alice.follow(&account).ok().await;
        self.app.run_jobs().await;
        let follow = json!({ "type": "Follow", "actor": ALICE, "object": person.uri });
        self.send(person, "Accept", follow).await;
        account
    }

    /// Sends an activity of `person`, which is accepted for processing.
    pub(super) async fn send(&self, person: &Person, kind: &str, object: impl Into<Value>) {
        self.app.tick();
        let letter = person.letter(&self.app, &person.activity(kind, object));
        let answer = letter.send(&self.app).await;
        assert_eq!(answer.status, 202, "{}", answer.text());
        self.app.run_jobs().await;
    }

    /// Sends a note of Carol; returns the status as Alice sees it.
    pub(super) async fn receive(&self, note: &Value) -> Value {
        self.send(&self.carol, "Create", note.clone()).await;
        self.status(note).await.unwrap_or_else(|| panic!("not stored: {note}"))
    }

    /// The status of a note as Alice sees it; nothing is fetched.
    pub(super) async fn status(&self, note: &Value) -> Option<Value> {
        let sql = format!("SELECT id FROM statuses WHERE uri = '{}'", note["id"].as_str().unwrap());
        let (id,) = self.app.db().fetch_raw::<(i64,)>(&sql).await.unwrap().pop()?;
        let answer = self.alice.status(&id).send().await;
        (answer.status == 200).then(|| answer.json())
    }

    /// The account of `person` as Alice sees it; nothing is fetched.
    pub(super) async fn account(&self, person: &Person) -> Value {
        let sql = format!("SELECT id FROM accounts WHERE uri = '{}'", person.uri);
        let (id,) = self.app.db().fetch_raw::<(i64,)>(&sql).await.unwrap().pop().expect("an account");
        self.alice.get(&format!("/api/v1/accounts/{id}")).ok().await
    }

    /// The status at this URL, looked up as apps do.
    pub(super) async fn open(&self, url: &str) -> Value {
        let query: String = url::form_urlencoded::byte_serialize(url.as_bytes()).collect();
        let path = format!("/api/v2/search?q={query}&resolve=true&type=statuses");
        let found = self.alice.get(&path).ok().await["statuses"][0].clone();
        assert!(found.is_object(), "{url} was not found");
        self.alice.status(&found).ok().await
    }

    /// Types of Alice's notifications, the newest first.
    pub(super) async fn notifications(&self) -> Vec<String> {
        let all = self.alice.get("/api/v1/notifications").ok().await;
        all.as_array().unwrap().iter().map(|one| one["type"].as_str().unwrap().to_owned()).collect()
    }
}
