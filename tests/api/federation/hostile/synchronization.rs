//! Lies about followers: headers that are not signed or name others, and lists that are no lists.

use serde_json::{Value, json};

use super::Scene;
use crate::harness::Letter;
use crate::harness::liar::{KEY, Person};

const SIGNED: [&str; 6] = ["(request-target)", "host", "date", "digest", "content-type", "collection-synchronization"];
const CONTEXT: &str = "https://www.w3.org/ns/activitystreams";

/// Where Mallory's server lists followers.
const LIST: &str = "/users/mallory/sync";

fn header(collection: &str, url: &str, digest: &str) -> String {
    format!(r#"collectionId="{collection}", url="{url}", digest="{digest}""#)
}

impl Scene {
    fn list(&self, items: &Value) {
        let list = json!({ "@context": CONTEXT, "id": self.liar.url(LIST), "type": "OrderedCollection", "orderedItems": items });
        self.liar.document(LIST, &list);
    }

    fn letter(&self, person: &Person, header: &str, components: &[&str]) -> Letter {
        let note = person.note("synchronized");
        let activity = person.activity("Create", note);
        Letter::new(&self.app, "/inbox", activity.to_string()).header("collection-synchronization", header).signs(
            &person.key_id,
            &KEY,
            components,
        )
    }

    /// Sends a header of Mallory's with a signature of it; returns how often the list was fetched for it.
    async fn synchronize(&self, header: &str) -> usize {
        let before = self.liar.asked(LIST);
        let letter = self.letter(&self.mallory, header, &SIGNED);
        self.deliver(&letter).await;
        self.liar.asked(LIST) - before
    }

    fn a_while_passes(&self) {
        self.app.app.clock.advance(chrono::TimeDelta::minutes(10));
    }
}

#[tokio::test]
async fn header_counts_only_signed_and_about_the_sender() {
    let scene = Scene::new().await;
    let account = scene.follow(&scene.mallory).await;
    scene.list(&json!([]));
    let (followers, url, zeros) = (scene.mallory.followers(), scene.liar.url(LIST), "0".repeat(64));
    let bob = scene.liar.person("bob");
    for wrong in [
        header(&bob.followers(), &url, &zeros),
        header(&scene.mallory.uri, &url, &zeros),
        header(&followers, "https://elsewhere.test/sync", &zeros),
        header(&followers, "http://localhost:3000/users/alice/followers", &zeros),
        header(&followers, &url, "nonsense"),
        header(&followers, &url, &"g".repeat(64)),
        header(&followers, &url, &"0".repeat(63)),
        header(&followers, &url, ""),
        "nonsense".to_owned(),
        String::new(),
    ] {
        assert_eq!(scene.synchronize(&wrong).await, 0, "{wrong}");
    }
    let unsigned = scene.letter(&scene.mallory, &header(&followers, &url, &zeros), &SIGNED[..5]);
    scene.deliver(&unsigned).await;
    assert_eq!(scene.liar.asked(LIST), 0);
    assert_eq!(scene.relationship(&account).await["following"], true);

    // A signed one counts.
    assert_eq!(scene.synchronize(&header(&followers, &url, &zeros)).await, 1);
    assert_eq!(scene.relationship(&account).await["following"], false);
}

#[tokio::test]
async fn list_that_is_not_whole_ends_no_follow() {
    let scene = Scene::new().await;
    let account = scene.follow(&scene.mallory).await;
    let url = scene.liar.url(LIST);
    let header = header(&scene.mallory.followers(), &url, &"0".repeat(64));
    let with = |members: &Value| {
        let list = json!({ "@context": CONTEXT, "id": url, "type": "OrderedCollection" });
        crate::harness::liar::with(list, members)
    };
    let many: Vec<String> = (0..100_000).map(|number| format!("https://x.test/{number}")).collect();
    for list in [
        json!({ "@context": CONTEXT, "id": url, "type": "Note", "orderedItems": [] }),
        json!({ "@context": CONTEXT, "id": scene.liar.url("/else"), "type": "OrderedCollection", "orderedItems": [] }),
        json!({ "@context": CONTEXT, "type": "OrderedCollection", "orderedItems": [] }),
        with(&json!({ "totalItems": 1, "orderedItems": [] })),
        with(&json!({ "first": "https://elsewhere.test/1" })),
        with(&json!({ "first": scene.liar.url("/users/mallory/missing") })),
        with(&json!({ "first": url })),
        with(&json!({ "orderedItems": many })),
    ] {
        scene.liar.document(LIST, &list);
        scene.a_while_passes();
        assert!(scene.synchronize(&header).await > 0);
        assert_eq!(scene.relationship(&account).await["following"], true);
    }
}

#[tokio::test]
async fn list_with_others_is_read_for_our_accounts_alone() {
    let scene = Scene::new().await;
    let account = scene.follow(&scene.mallory).await;
    let other = scene.app.named_account("zoe").await;
    let bob = scene.liar.person("bob");
    scene.list(&json!([
        scene.alice_uri(""),
        bob.uri,
        "https://elsewhere.test/users/x",
        "http://localhost:3000/users/nobody",
        "http://localhost:3000.evil.test/users/zoe",
        7,
        null,
    ]));
    let followers = scene.mallory.followers();
    let header = header(&followers, &scene.liar.url(LIST), &"1".repeat(64));
    assert_eq!(scene.synchronize(&header).await, 1);
    assert_eq!(scene.relationship(&account).await["following"], true);
    assert!(!scene.knows(&bob.uri).await);
    let undone = |scene: &Scene| scene.liar.received().iter().filter(|one| one["type"] == "Undo").count();
    assert_eq!(undone(&scene), 0);

    // A follow of which only the other side knows is taken back, once in a few minutes.
    scene.list(&json!([scene.alice_uri(""), "http://localhost:3000/users/zoe"]));
    assert_eq!(scene.synchronize(&header).await, 0, "a moment after the last");
    scene.a_while_passes();
    assert_eq!(scene.synchronize(&header).await, 1);
    scene.app.run_jobs().await;
    assert_eq!(undone(&scene), 1, "{:?}", scene.liar.received());
    let ties = other.get(&format!("/api/v1/accounts/relationships?id[]={}", super::text(&account, "id"))).ok().await;
    assert_eq!(ties[0]["following"], false);
}
