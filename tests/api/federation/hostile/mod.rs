//! Servers and people that lie: each test states one lie, and proves that it is not believed.
//!
//! Mallory lies, from a server of his own; Bob is an honest person, on Mallory's server or on another; Alice is a
//! person of the server under test, and looks at what became of it.

mod actors;
mod addresses;
mod answers;
mod clients;
mod collections;
mod content;
mod deletions;
mod documents;
mod flags;
mod floods;
mod forwarded;
mod hosts;
mod interactions;
mod keys;
mod mentions;
mod moves;
mod notes;
mod order;
mod pins;
mod policy;
mod polls;
mod relays;
mod signatures;
mod spending;
mod synchronization;
mod updates;

use metrics::LocalRecorderGuard;
use serde_json::{Value, json};

use crate::harness::liar::Person;
use crate::harness::{Client, Counters, Letter, Liar, TestApp};

/// A server under test with Alice, and a server of liars with Mallory.
struct Scene {
    app: TestApp,
    alice: Client,
    liar: Liar,
    mallory: Person,
    counters: Counters,
    _counting: LocalRecorderGuard<'static>,
}

impl Scene {
    async fn new() -> Self {
        Self::with(&Liar::KEYS).await
    }

    /// With other configuration keys.
    async fn with(keys: &[(&str, &str)]) -> Self {
        let (counters, _counting) = Counters::of_this_thread();
        let app = TestApp::named("localhost:3000", keys).await;
        let alice = app.named_account("alice").await;
        let liar = Liar::start().await;
        let mallory = liar.person("mallory");
        Self { app, alice, liar, mallory, counters, _counting }
    }

    /// The URI of Alice's actor, followed by `rest`.
    fn alice_uri(&self, rest: &str) -> String {
        format!("http://localhost:3000/users/alice{rest}")
    }

    /// `person` as an account here, found as apps find accounts; `None` without a result.
    async fn search(&self, address: &str) -> Option<Value> {
        let address: String = url::form_urlencoded::byte_serialize(address.as_bytes()).collect();
        let path = format!("/api/v2/search?q=@{address}&resolve=true&type=accounts");
        self.alice.get(&path).ok().await["accounts"].get(0).cloned()
    }

    /// As [`Scene::search`], for someone who is found.
    async fn find(&self, person: &Person) -> Value {
        self.search(&person.address()).await.unwrap_or_else(|| panic!("{} was not found", person.address()))
    }

    /// The status with this URL, looked up as apps do.
    async fn open(&self, url: &str) -> Option<Value> {
        let url: String = url::form_urlencoded::byte_serialize(url.as_bytes()).collect();
        let path = format!("/api/v2/search?q={url}&resolve=true&type=statuses");
        self.alice.get(&path).ok().await["statuses"].get(0).cloned()
    }

    /// Makes Alice a follower of `person`, who accepts.
    async fn follow(&self, person: &Person) -> Value {
        let account = self.find(person).await;
        self.alice.follow(&account).ok().await;
        self.app.run_jobs().await;
        let follow = json!({ "type": "Follow", "actor": self.alice_uri(""), "object": person.uri });
        assert_eq!(self.send(person, &person.activity("Accept", follow)).await, "Accept ok");
        account
    }

    /// Sends a well-formed request, and returns the kind and the result of the activity as they are counted.
    async fn send(&self, person: &Person, activity: &Value) -> String {
        self.deliver(&person.letter(&self.app, activity)).await
    }

    /// As [`Scene::send`], to Alice's own inbox.
    async fn send_to_alice(&self, person: &Person, activity: &Value) -> String {
        self.deliver(&person.letter_to(&self.app, "/users/alice/inbox", activity)).await
    }

    /// Sends a request that is accepted, and returns what became of the activity, as it is counted.
    async fn deliver(&self, letter: &Letter) -> String {
        self.app.tick();
        self.counters.take("rookery_inbox_activities_total");
        let answer = letter.send(&self.app).await;
        assert_eq!(answer.status, 202, "{}", answer.text());
        self.app.run_jobs().await;
        self.counters.take("rookery_inbox_activities_total").join(", ")
    }

    /// Sends a request that is refused; returns the status, and the reason as it is counted.
    async fn refuse(&self, letter: &Letter) -> (u16, String) {
        self.counters.take("rookery_inbox_requests_total");
        let before = self.app.count("inbound_activities").await;
        let answer = letter.send(&self.app).await;
        assert!(!answer.status.is_success(), "{}", answer.status);
        assert!(answer.error().is_some(), "{}", answer.text());
        self.app.run_jobs().await;
        assert_eq!(self.app.count("inbound_activities").await, before, "it is stored");
        (answer.status.as_u16(), self.counters.take("rookery_inbox_requests_total").join(", "))
    }

    /// Sends `activity`, which is refused with this status and for this reason.
    async fn refuses(&self, person: &Person, activity: &Value, status: u16, reason: &str) {
        assert_eq!(self.refuse(&person.letter(&self.app, activity)).await, (status, reason.to_owned()));
    }

    /// Sends a note of `person` that Alice gets; returns the status as she sees it.
    async fn receive(&self, person: &Person, note: &Value) -> Value {
        assert_eq!(self.send(person, &person.activity("Create", note.clone())).await, "Create ok");
        self.status(note["id"].as_str().unwrap()).await.expect("Alice sees the status")
    }

    /// The status with this URI as Alice sees it; nothing is fetched.
    async fn status(&self, uri: &str) -> Option<Value> {
        let sql = format!("SELECT id FROM statuses WHERE uri = '{uri}'");
        let (id,) = self.app.db().fetch_raw::<(i64,)>(&sql).await.unwrap().pop()?;
        let answer = self.alice.status(&id).send().await;
        (answer.status == 200).then(|| answer.json())
    }

    /// True when a status with this URI is stored.
    async fn has(&self, uri: &str) -> bool {
        self.app.count(&format!("statuses WHERE uri = '{uri}'")).await > 0
    }

    /// True when an account with this URI is stored.
    async fn knows(&self, uri: &str) -> bool {
        self.app.count(&format!("accounts WHERE uri = '{uri}'")).await > 0
    }

    /// How Alice and the account are related.
    async fn relationship(&self, account: &Value) -> Value {
        let id = account["id"].as_str().unwrap();
        self.alice.get(&format!("/api/v1/accounts/relationships?id[]={id}")).ok().await[0].clone()
    }

    async fn home(&self) -> usize {
        self.alice.get("/api/v1/timelines/home").ok().await.as_array().unwrap().len()
    }

    /// Types of Alice's notifications.
    async fn notifications(&self) -> Vec<String> {
        let all = self.alice.get("/api/v1/notifications").ok().await;
        all.as_array().unwrap().iter().map(|one| one["type"].as_str().unwrap().to_owned()).collect()
    }
}

/// A member of a document as text.
fn text<'a>(document: &'a Value, member: &str) -> &'a str {
    document[member].as_str().unwrap_or_else(|| panic!("no {member}: {document}"))
}
