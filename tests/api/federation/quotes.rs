//! Quotes and references by other software.

use serde_json::{Value, json};

use super::scene::Scene;
use crate::harness::liar::{Reply, with};
use crate::harness::{Liar, id};

/// What other software writes for servers that show no quotes.
fn line(url: &str) -> String {
    format!(r#"<span class="quote-inline"><br/>RE: <a href="{url}">{url}</a></span>"#)
}

impl Scene {
    /// A note of Carol that quotes `url`, in one of the ways of other software.
    fn quoting(&self, name: &str, member: &str, url: &Value) -> Value {
        let content = format!("<p>look{}</p>", line(url.as_str().unwrap()));
        with(self.carol.note(name), &json!({ "content": content, member: url }))
    }

    /// The number of quotes of Alice's status.
    async fn quotes(&self, status: &Value) -> Value {
        self.alice.status(status).ok().await["quotes_count"].clone()
    }
}

#[tokio::test]
async fn quote_of_a_local_status_is_shown_counted_and_told() {
    let scene = Scene::new().await;
    let target = scene.alice.publish("mine").await;
    let quoting = scene.receive(&scene.quoting("1", "quoteUrl", &target["uri"])).await;
    assert_eq!(quoting["quote"]["id"], target["id"]);
    assert_eq!(quoting["content"], "<p>look</p>");
    assert_eq!(scene.quotes(&target).await, 1);
    assert_eq!(scene.notifications().await, ["quote"]);
    let listed = scene.alice.get(&format!("/api/v1/statuses/{}/quotes", id(&target))).ok().await;
    assert_eq!(listed[0]["id"], quoting["id"]);

    // By its page, and again: nothing is counted twice.
    let again = scene.quoting("1", "quote", &target["url"]);
    scene.send(&scene.carol, "Create", again).await;
    assert_eq!(scene.quotes(&target).await, 1);
    scene.send(&scene.carol, "Delete", quoting["uri"].clone()).await;
    assert_eq!(scene.quotes(&target).await, 0);
    assert_eq!(scene.notifications().await, [""; 0]);
}

#[tokio::test]
async fn quote_is_found_in_every_way_to_write_it() {
    let scene = Scene::new().await;
    let target = scene.alice.publish("mine").await;
    for member in ["quote", "quoteUrl", "quoteURL", "_misskey_quote"] {
        let status = scene.receive(&scene.quoting(member, member, &target["uri"])).await;
        assert_eq!(status["quote"]["id"], target["id"], "{member}");
    }
    let link = |kind: &str| json!([{ "type": "Link", "href": target["uri"], "mediaType": kind, "name": "RE: mine" }]);
    let ld = r#"application/ld+json; profile="https://www.w3.org/ns/activitystreams""#;
    let other = scene.alice.publish("other").await;
    let note = with(scene.quoting("link", "quoteUrl", &other["uri"]), &json!({ "tag": link(ld) }));
    assert_eq!(scene.receive(&note).await["quote"]["id"], target["id"], "the link comes first");
    let note = with(scene.carol.note("page"), &json!({ "tag": link("text/html") }));
    assert_eq!(scene.receive(&note).await["quote"], Value::Null);
    // The one that is sent beside others is not read.
    let status = scene.receive(&scene.quoting("uri", "quoteUri", &target["uri"])).await;
    assert_eq!(status["quote"], Value::Null);
    assert!(status["content"].as_str().unwrap().contains("RE: "), "{status}");
}

#[tokio::test]
async fn status_that_may_not_be_quoted_is_not_quoted() {
    let scene = Scene::new().await;
    let denied = json!({ "status": "mine", "quote_approval_policy": "nobody" });
    let denied = scene.alice.publish(denied).await;
    let status = scene.receive(&scene.quoting("1", "quoteUrl", &denied["uri"])).await;
    assert_eq!(status["quote"], Value::Null);
    assert!(status["content"].as_str().unwrap().contains("RE: "), "the line stays: {status}");
    assert_eq!(scene.quotes(&denied).await, 0);

    let private = scene.alice.publish_to("private", "secret").await;
    let status = scene.receive(&scene.quoting("2", "quoteUrl", &private["uri"])).await;
    assert_eq!((&status["quote"], &status["status_reference_ids"]), (&Value::Null, &json!([])));
    scene.alice.block(&json!({ "id": status["account"]["id"] })).ok().await;
    let open = scene.alice.publish("open").await;
    scene.send(&scene.carol, "Create", scene.quoting("3", "quoteUrl", &open["uri"])).await;
    assert_eq!(scene.quotes(&open).await, 0, "she blocks him");
}

#[tokio::test]
async fn unknown_quoted_status_is_fetched_without_its_own_quote() {
    let scene = Scene::new().await;
    let other = Liar::start().await;
    let dave = other.person("dave");
    let third = other.document("/users/dave/notes/3", &dave.note("3"));
    let second = with(dave.note("2"), &json!({ "quoteUrl": third }));
    let second = other.document("/users/dave/notes/2", &second);
    let status = scene.receive(&scene.quoting("1", "quoteUrl", &json!(second))).await;
    assert_eq!((&status["quote"]["uri"], &status["content"]), (&json!(second), &json!("<p>look</p>")));
    assert_eq!((other.asked("/users/dave/notes/2"), other.asked("/users/dave/notes/3")), (1, 0));

    // What cannot be fetched, or is of someone else, is not quoted.
    let missing = other.put("/users/dave/notes/4", Reply::status(500, ""));
    let foreign = other.document("/users/dave/notes/5", &scene.carol.note("5"));
    for (name, url) in [("6", missing), ("7", foreign)] {
        let status = scene.receive(&scene.quoting(name, "quoteUrl", &json!(url))).await;
        assert_eq!(status["quote"], Value::Null);
    }
    assert!(scene.status(&scene.carol.note("5")).await.is_none());
}

#[tokio::test]
async fn quote_of_a_status_that_concerns_nobody_is_not_fetched() {
    let scene = Scene::new().await;
    let dave = scene.liar.person("dave");
    let url = scene.liar.document("/users/carol/notes/1", &scene.carol.note("1"));
    let note = with(dave.note("1"), &json!({ "quoteUrl": url }));
    scene.send(&dave, "Create", note.clone()).await;
    assert!(scene.status(&note).await.is_none());
    assert_eq!(scene.liar.asked("/users/carol/notes/1"), 0);
    // One of a status of this server concerns its author.
    let target = scene.alice.publish("mine").await;
    let note = with(dave.note("2"), &json!({ "quoteUrl": target["uri"] }));
    scene.send(&dave, "Create", note.clone()).await;
    assert_eq!(scene.status(&note).await.unwrap()["quote"]["id"], target["id"]);
}

#[tokio::test]
async fn edit_replaces_the_quote() {
    let scene = Scene::new().await;
    let [first, second] = [scene.alice.publish("first").await, scene.alice.publish("second").await];
    let note = scene.quoting("1", "quoteUrl", &first["uri"]);
    scene.receive(&note).await;
    let edit = |time: &str, url: &Value| {
        with(scene.quoting("1", "quoteUrl", url), &json!({ "updated": format!("2026-01-15T{time}:00Z") }))
    };
    scene.send(&scene.carol, "Update", edit("12:10", &second["uri"])).await;
    let status = scene.status(&note).await.unwrap();
    assert_eq!((&status["quote"]["id"], &status["content"]), (&second["id"], &json!("<p>look</p>")));
    assert_eq!((scene.quotes(&first).await, scene.quotes(&second).await), (json!(0), json!(1)));
    let without = with(scene.carol.note("1"), &json!({ "updated": "2026-01-15T12:20:00Z" }));
    scene.send(&scene.carol, "Update", without).await;
    assert_eq!(scene.status(&note).await.unwrap()["quote"], Value::Null);
    assert_eq!(scene.quotes(&second).await, 0);

    // A quote that Alice revoked does not come back.
    scene.send(&scene.carol, "Update", edit("12:30", &first["uri"])).await;
    assert_eq!(scene.quotes(&first).await, 1);
    let status = scene.status(&note).await.unwrap();
    scene.alice.post(&format!("/api/v1/statuses/{}/quotes/{}/revoke", id(&first), id(&status))).ok().await;
    let again = with(edit("12:40", &first["uri"]), &json!({ "content": "<p>again</p>" }));
    scene.send(&scene.carol, "Update", again).await;
    let status = scene.status(&note).await.unwrap();
    assert_eq!((&status["quote"]["state"], &status["content"]), (&json!("revoked"), &json!("<p>again</p>")));
    assert_eq!(scene.quotes(&first).await, 0);
}

#[tokio::test]
async fn references_are_the_known_statuses_of_the_first_page() {
    let scene = Scene::new().await;
    let mut items = vec![json!("https://elsewhere.test/1")];
    let mut ids = Vec::new();
    for number in 0..8 {
        let status = scene.alice.publish(&*format!("status {number}")).await;
        items.push(status["uri"].clone());
        ids.push(status["id"].clone());
    }
    let references = json!({ "type": "Collection", "first": { "type": "CollectionPage", "items": items } });
    let status = scene.receive(&with(scene.carol.note("1"), &json!({ "references": references }))).await;
    let referred: Vec<Value> = status["status_reference_ids"].as_array().unwrap().clone();
    let text = |id: &Value| id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    assert_eq!(
        referred.iter().map(text).collect::<Vec<_>>(),
        ids[..5].iter().map(text).collect::<Vec<_>>(),
        "{status}"
    );
    assert_eq!(status["quote"], Value::Null);
    assert_eq!(scene.notifications().await, ["status_reference"], "one for all");
    let status =
        scene.receive(&with(scene.carol.note("2"), &json!({ "references": "https://elsewhere.test/2" }))).await;
    assert_eq!(status["status_reference_ids"], json!([]));
}
