//! Collections that lie: endless, cyclic, huge, about others, or on other hosts; and threads without an end.

use serde_json::{Value, json};

use super::{Scene, text};
use crate::harness::Liar;
use crate::harness::liar::{PUBLIC, Person, with};

const CONTEXT: &str = "https://www.w3.org/ns/activitystreams";

fn collection(members: &Value) -> Value {
    with(json!({ "@context": CONTEXT, "type": "OrderedCollection" }), members)
}

impl Scene {
    /// Mallory with further addresses, followed by Alice, and filled.
    async fn fill(&self, members: &Value) -> Value {
        self.mallory.change_actor(members);
        let account = self.follow(&self.mallory).await;
        self.app.run_jobs().await;
        account
    }

    async fn statuses(&self) -> i64 {
        self.app.count("statuses").await
    }
}

/// The number of requests for the pages of a collection of Mallory's.
fn pages(liar: &Liar, path: &str) -> usize {
    (0..40).map(|number| liar.asked(&format!("{path}/{number}"))).sum()
}

#[tokio::test]
async fn endless_collection_ends() {
    let scene = Scene::new().await;
    let path = "/users/mallory/outbox";
    let url = scene.liar.url(path);
    scene.liar.document(path, &collection(&json!({ "id": url, "first": format!("{url}/0"), "totalItems": -5 })));
    for number in 0..40 {
        let next = format!("{url}/{}", number + 1);
        scene.liar.document(&format!("{path}/{number}"), &collection(&json!({ "next": next, "orderedItems": [] })));
    }
    let account = scene.fill(&json!({})).await;
    assert_eq!(pages(&scene.liar, path), 5);
    let shown = scene.alice.get(&format!("/api/v1/accounts/{}", text(&account, "id"))).ok().await;
    assert_eq!(shown["statuses_count"], 0, "a negative count");
}

#[tokio::test]
async fn cyclic_collection_ends() {
    let scene = Scene::new().await;
    let path = "/users/mallory/outbox";
    let url = scene.liar.url(path);
    let itself = collection(&json!({ "id": url, "first": url, "next": url, "totalItems": 9_000_000_000_000_i64 }));
    scene.liar.document(path, &itself);
    let account = scene.fill(&json!({})).await;
    assert_eq!(scene.liar.asked(path), 1);
    let shown = scene.alice.get(&format!("/api/v1/accounts/{}", text(&account, "id"))).ok().await;
    assert_eq!(shown["statuses_count"], 1_000_000_000);
}

#[tokio::test]
async fn huge_collection_is_cut() {
    let scene = Scene::new().await;
    let path = "/users/mallory/outbox";
    let create = |number: usize| {
        let note = scene.mallory.note(&number.to_string());
        scene.mallory.activity("Create", note)
    };
    let items: Vec<Value> = (0..300).map(create).collect();
    scene.liar.document(path, &collection(&json!({ "orderedItems": items })));
    scene.fill(&json!({})).await;
    assert_eq!(scene.statuses().await, 20);
}

#[tokio::test]
async fn outbox_does_not_speak_for_others() {
    let scene = Scene::new().await;
    let bob = scene.liar.person("bob");
    let carol = Liar::start().await.person("carol");
    let of_bob = bob.note("1");
    let of_carol = carol.note("1");
    let as_bob = with(scene.mallory.note("2"), &json!({ "attributedTo": bob.uri }));
    let items: Vec<Value> = [of_bob, of_carol, as_bob].map(|note| scene.mallory.activity("Create", note)).into();
    scene.liar.document("/users/mallory/outbox", &collection(&json!({ "orderedItems": items })));
    scene.fill(&json!({})).await;
    assert_eq!(scene.statuses().await, 0);
}

#[tokio::test]
async fn collections_on_other_hosts_are_not_asked() {
    let scene = Scene::new().await;
    let other = Liar::start().await;
    let elsewhere = ["outbox", "featured", "followers", "following"].map(|name| other.url(&format!("/{name}")));
    let [outbox, featured, followers, following] = &elsewhere;
    scene
        .fill(&json!({ "outbox": outbox, "featured": featured, "followers": followers, "following": following }))
        .await;
    let local = json!({ "first": scene.alice_uri("/outbox?page=true") });
    scene.liar.document("/users/mallory/outbox", &collection(&local));
    for path in ["/outbox", "/featured", "/followers", "/following"] {
        assert_eq!(other.asked(path), 0, "{path}");
    }
}

#[tokio::test]
async fn pages_on_other_hosts_are_not_asked() {
    let scene = Scene::new().await;
    let other = Liar::start().await;
    let page = json!({ "first": other.url("/page"), "next": other.url("/page") });
    scene.liar.document("/users/mallory/outbox", &collection(&page));
    scene.fill(&json!({})).await;
    assert_eq!((scene.liar.asked("/users/mallory/outbox"), other.asked("/page")), (1, 0));
}

#[tokio::test]
async fn pinned_statuses_of_others_are_not_pinned() {
    let scene = Scene::new().await;
    let featured = scene.liar.url("/featured");
    let bob = scene.liar.person("bob");
    let of_bob = bob.note("1");
    scene.liar.document("/users/bob/notes/1", &of_bob);
    let own = scene.mallory.note("own");
    let items = json!([of_bob["id"], of_bob, own, "not a URL", { "id": 5 }, null]);
    scene.liar.document("/featured", &collection(&json!({ "orderedItems": items })));
    scene.fill(&json!({ "featured": featured })).await;
    assert_eq!((scene.app.count("status_pins").await, scene.statuses().await), (1, 1));
}

/// Serves a note of `person` that answers `parent`; returns it.
fn answering(person: &Person, name: &str, parent: &str) -> Value {
    let note = with(person.note(name), &json!({ "inReplyTo": parent }));
    person.liar.document(&format!("/users/{}/notes/{name}", person.name), &note);
    note
}

#[tokio::test]
async fn endless_thread_ends() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    let uri = |number: usize| format!("{}/notes/{number}", scene.mallory.uri);
    for number in 1..60 {
        answering(&scene.mallory, &number.to_string(), &uri(number + 1));
    }
    let first = with(scene.mallory.note("0"), &json!({ "inReplyTo": uri(1) }));
    scene.receive(&scene.mallory, &first).await;
    assert_eq!(scene.statuses().await, 31);
}

#[tokio::test]
async fn thread_that_bites_its_tail_ends() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    let uri = |name: &str| format!("{}/notes/{name}", scene.mallory.uri);
    let first = answering(&scene.mallory, "a", &uri("b"));
    answering(&scene.mallory, "b", &uri("c"));
    answering(&scene.mallory, "c", &uri("a"));
    let own = answering(&scene.mallory, "own", &uri("own"));
    let status = scene.receive(&scene.mallory, &first).await;
    scene.receive(&scene.mallory, &own).await;
    assert_eq!(scene.statuses().await, 4);
    let context = scene.alice.get(&format!("/api/v1/statuses/{}/context", text(&status, "id"))).ok().await;
    assert!(context["ancestors"].as_array().unwrap().len() <= 3, "{context}");
}

#[tokio::test]
async fn replies_that_are_none_are_not_stored() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    let other = Liar::start().await;
    let carol = other.person("carol");
    let parent = scene.mallory.note("1");
    let real = answering(&carol, "real", text(&parent, "id"));
    let unrelated = answering(&carol, "unrelated", "https://elsewhere.test/1");
    let none = carol.note("none");
    other.document("/users/carol/notes/none", &none);
    let private = with(answering(&carol, "private", text(&parent, "id")), &json!({ "to": [], "cc": [PUBLIC] }));
    let forged = with(carol.note("forged"), &json!({ "inReplyTo": parent["id"] }));
    let items = json!([real["id"], unrelated, none["id"], forged, private["id"], "http://localhost:3000/users/x/1"]);
    let url = scene.liar.document("/replies", &collection(&json!({ "items": items })));
    let status = scene.receive(&scene.mallory, &with(parent, &json!({ "replies": url }))).await;
    let path = format!("/api/v1/statuses/{}/context", text(&status, "id"));
    scene.alice.get(&path).ok().await;
    scene.app.run_jobs().await;
    let context = scene.alice.get(&path).ok().await;
    assert_eq!(context["descendants"].as_array().unwrap().len(), 2, "{context}");
    assert!(scene.has(text(&real, "id")).await && !scene.has(text(&forged, "id")).await);
    scene.alice.get(&path).ok().await;
    scene.app.run_jobs().await;
    assert_eq!(scene.liar.asked("/replies"), 1, "visited again at once");
}

#[tokio::test]
async fn many_replies_are_cut() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    let parent = scene.mallory.note("1");
    let uris: Vec<Value> = (0..80)
        .map(|number| answering(&scene.mallory, &format!("r{number}"), text(&parent, "id"))["id"].clone())
        .collect();
    let url = scene.liar.document("/replies", &collection(&json!({ "items": uris })));
    let status = scene.receive(&scene.mallory, &with(parent, &json!({ "replies": url }))).await;
    scene.alice.get(&format!("/api/v1/statuses/{}/context", text(&status, "id"))).ok().await;
    scene.app.run_jobs().await;
    assert_eq!(scene.statuses().await, 51);
}
