//! What honest servers need: addresses that reach who they name, documents that others read, and people who come back.

use serde_json::{Value, json};

use super::scene::{ALICE, Scene};
use crate::harness::liar::{Reply, with};
use crate::harness::{Letter, Site, TestApp, id};

impl Scene {
    async fn document(&self, path: &str) -> Value {
        Letter::read(&self.app, path).send(&self.app).await.json()
    }

    /// The newest activity of this kind that Carol's server got.
    fn last(&self, kind: &str) -> Option<Value> {
        self.liar.received().into_iter().rfind(|activity| activity["type"] == kind)
    }
}

#[tokio::test]
async fn quoted_author_on_another_server_is_sent_the_quote() {
    let scene = Scene::new().await;
    let note = scene.receive(&scene.carol.note("1")).await;
    let text = format!("look QT {}", note["uri"].as_str().unwrap());
    let quoting = scene.alice.publish(&text).await;
    assert_eq!(quoting["quote"]["id"], note["id"], "{quoting:?}");
    scene.app.run_jobs().await;
    let sent = scene.last("Create").expect("the quote");
    let link = sent["object"]["tag"].as_array().unwrap().iter().find(|tag| tag["type"] == "Link").unwrap();
    assert_eq!(link["name"], format!("RE: {}", note["uri"].as_str().unwrap()));
}

#[tokio::test]
async fn silenced_account_addresses_only_its_followers() {
    let scene = Scene::new().await;
    let dave = scene.liar.person("dave");
    scene.follow(&dave).await;
    scene.app.limit(&scene.alice).await;
    dave.follow_alice(&scene.app).await;
    let text = format!("hello @{} and @{}", scene.carol.address(), dave.address());
    scene.alice.publish(&text).await;
    scene.app.run_jobs().await;
    let cc = scene.last("Create").expect("it is sent to Dave")["cc"].clone();
    assert!(cc.to_string().contains(&dave.uri) && !cc.to_string().contains(&scene.carol.uri), "{cc}");
    scene.alice.publish(&format!("@{} psst", scene.carol.address())).await;
    let direct = scene.alice.publish_to("direct", &format!("@{} psst", scene.carol.address())).await;
    scene.app.run_jobs().await;
    assert!(
        !scene.liar.received().iter().any(|one| one["object"]["id"] == direct["uri"]),
        "a stranger is not addressed"
    );
}

#[tokio::test]
async fn documents_have_what_others_look_for() {
    let scene = Scene::new().await;
    let actor = scene.document("/users/alice").await;
    assert_eq!(actor["name"], "alice", "the user name, without a display name");
    let profile = [("note", "I like #Rooks and #rooks, #crows"), ("avatar_description", "a rook")];
    scene.alice.patch("/api/v1/accounts/update_credentials").form(&profile).ok().await;
    let actor = scene.document("/users/alice").await;
    let names: Vec<&str> = actor["tag"].as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["#crows", "#rooks"]);
    let status = scene.alice.publish("hello").await;
    let note = scene.document(&format!("/users/alice/statuses/{status}")).await;
    let replies = format!("{ALICE}/statuses/{status}/replies");
    assert_eq!(
        note["replies"],
        json!({ "id": replies, "type": "Collection", "first": format!("{replies}?page=true") })
    );

    // An account that awaits approval is not public.
    let pending = scene.app.account("pending").await;
    let path = "/.well-known/webfinger?resource=acct:pending@localhost:3000";
    scene.app.anonymous().get(path).ok().await;
    scene.app.unapprove(&pending).await;
    assert_eq!(scene.app.anonymous().get(path).send().await.status, 404);
}

#[tokio::test]
async fn link_in_a_status_of_another_server_gets_a_preview() {
    let scene = Scene::with(&Site::KEYS).await;
    let content = "<p><a class=\"mention\" href=\"https://a.test/@x\">@x</a> <a href=\"https://b.test/news?a=1&amp;b=2\">b</a></p>";
    scene.receive(&with(scene.carol.note("1"), &json!({ "content": content }))).await;
    assert_eq!(scene.app.count("preview_cards WHERE url = 'https://b.test/news?a=1&b=2'").await, 1);
    assert_eq!(scene.app.count("preview_cards").await, 1);
    scene.receive(&scene.carol.note("2")).await;
    assert_eq!(scene.app.count("preview_cards").await, 1);
}

#[tokio::test]
async fn deleted_actor_that_is_served_again_comes_back() {
    let scene = Scene::new().await;
    let account = scene.account(&scene.carol).await;
    scene.send(&scene.carol, "Delete", scene.carol.uri.clone()).await;
    assert_eq!(scene.app.count("accounts WHERE domain IS NOT NULL").await, 0);
    let query = format!("/api/v2/search?q=@{}&resolve=true&type=accounts", scene.carol.address());
    let found = async || scene.alice.get(&query).ok().await["accounts"].as_array().unwrap().clone();
    assert_eq!(found().await, [Value::Null; 0], "its server may serve it from a cache for a while");
    scene.liar.put("/users/carol", Reply::status(410, ""));
    scene.app.app.clock.advance(chrono::Duration::minutes(11));
    assert_eq!(found().await, [Value::Null; 0], "it is gone");
    scene.carol.set_actor(&scene.carol.actor());
    let again = found().await;
    assert_eq!(again.len(), 1);
    assert_ne!(id(&again[0]), id(&account));
    scene.receive(&with(scene.carol.note("1"), &json!({ "to": [ALICE] }))).await;
}

#[tokio::test]
async fn passing_410_is_no_ban() {
    let app = TestApp::named("localhost:3000", &crate::harness::Liar::KEYS).await;
    let alice = app.named_account("alice").await;
    let liar = crate::harness::Liar::start().await;
    let carol = liar.person("carol");
    let query = format!("/api/v2/search?q=@{}&resolve=true&type=accounts", carol.address());
    let found = async || alice.get(&query).ok().await["accounts"].as_array().unwrap().len();
    assert_eq!(found().await, 1);
    liar.put("/users/carol", Reply::status(410, ""));
    app.app.clock.advance(chrono::Duration::days(2));
    assert_eq!(found().await, 0);
    app.run_jobs().await;
    carol.set_actor(&carol.actor());
    app.app.clock.advance(chrono::Duration::minutes(11));
    assert_eq!(found().await, 1);
    let follow = carol.activity("Follow", ALICE);
    assert_eq!(carol.letter(&app, &follow).send(&app).await.status, 202);
}

#[tokio::test]
async fn mentioned_people_not_met_yet_are_filled_in() {
    let scene = Scene::new().await;
    let dave = scene.liar.person("dave");
    let mention = |uri: &str, name: &str| json!({ "type": "Mention", "href": uri, "name": name });
    let gone = scene.liar.url("/users/gone");
    let tags = json!([
        mention(&dave.uri, "@dave"),
        mention(&gone, "@gone"),
        mention("http://localhost:3000/@alice", "@alice")
    ]);
    let note = with(scene.carol.note("1"), &json!({ "tag": tags, "cc": [dave.uri, gone] }));
    let status = scene.receive(&note).await;
    let mentioned: Vec<&str> =
        status["mentions"].as_array().unwrap().iter().map(|one| one["username"].as_str().unwrap()).collect();
    assert_eq!(mentioned, ["alice", "dave"], "by the address of her profile, and by a fetch");
    assert_eq!(scene.notifications().await, ["mention"]);
    assert_eq!(scene.alice.get("/api/v1/timelines/home").ok().await.as_array().unwrap().len(), 1);
    let follow = scene.carol.activity("Follow", "http://localhost:3000/@alice");
    assert_eq!(scene.carol.letter(&scene.app, &follow).send(&scene.app).await.status, 202);
    scene.app.run_jobs().await;
    assert_eq!(scene.notifications().await, ["follow", "mention"]);
}

#[tokio::test]
async fn people_not_met_yet_of_quotes_and_of_an_audience_are_filled_in() {
    let scene = Scene::new().await;
    let [dave, erin] = ["dave", "erin"].map(|name| scene.liar.person(name));
    // A quoted status that mentions Dave.
    let tag = json!([{ "type": "Mention", "href": dave.uri, "name": "@dave" }]);
    let quoted = with(scene.carol.note("quoted"), &json!({ "tag": tag }));
    scene.liar.document("/users/carol/notes/quoted", &quoted);
    let note = with(scene.carol.note("1"), &json!({ "quoteUrl": quoted["id"] }));
    let status = scene.receive(&note).await;
    let mentioned = &status["quote"]["mentions"];
    assert_eq!(mentioned[0]["username"], "dave", "{status}");
    // A status for Alice and Erin that names neither: a reply reaches both.
    let note = with(scene.carol.note("2"), &json!({ "to": [ALICE, erin.uri], "cc": [] }));
    let limited = scene.receive(&note).await;
    assert_eq!((&limited["visibility_ex"], &limited["mentions"]), (&json!("limited"), &json!([])));
    let silent = format!(
        "mentions m JOIN accounts a ON a.id = m.account_id WHERE m.status_id = {} AND m.silent AND a.username = 'erin'",
        limited["id"].as_str().unwrap()
    );
    assert_eq!(scene.app.count(&silent).await, 1);
}

#[tokio::test]
async fn activities_in_a_collection_are_processed_from_its_end() {
    let scene = Scene::new().await;
    let [first, second] = ["1", "2"].map(|name| scene.carol.activity("Create", scene.carol.note(name)));
    let forged = with(first.clone(), &json!({ "actor": "http://127.0.0.1:1/users/eve" }));
    let without = |activity: &Value| {
        let mut activity = activity.clone();
        activity.as_object_mut().unwrap().remove("@context");
        activity
    };
    let items = [without(&second), forged, without(&first)];
    let body = json!({ "@context": first["@context"], "type": "OrderedCollection", "orderedItems": items });
    assert_eq!(scene.carol.letter(&scene.app, &body).send(&scene.app).await.status, 202);
    scene.app.run_jobs().await;
    let home = scene.alice.get("/api/v1/timelines/home").ok().await;
    let uris: Vec<&Value> = home.as_array().unwrap().iter().map(|status| &status["uri"]).collect();
    assert_eq!(uris, [&second["object"]["id"], &first["object"]["id"]], "the newest first");
}

#[tokio::test]
async fn host_meta_leads_to_webfinger_elsewhere() {
    let scene = Scene::new().await;
    let dave = scene.liar.person("dave");
    let resource: String =
        url::form_urlencoded::byte_serialize(format!("acct:{}", dave.address()).as_bytes()).collect();
    scene.liar.put(&format!("/.well-known/webfinger?resource={resource}"), Reply::status(404, ""));
    scene.liar.put(&format!("/finger?of={resource}"), Reply::of("application/json", dave.webfinger().to_string()));
    let template = scene.liar.url("/finger?of={uri}");
    let xrd = format!(r#"<?xml version="1.0"?><XRD><Link rel="lrdd" template="{template}"/></XRD>"#);
    scene.liar.put("/.well-known/host-meta", Reply::of("application/xrd+xml", xrd));
    let query = format!("/api/v2/search?q=@{}&resolve=true&type=accounts", dave.address());
    let found = scene.alice.get(&query).ok().await;
    assert_eq!(found["accounts"][0]["username"], "dave", "{found}");
    // One that leads back is not followed.
    let erin = scene.liar.person("erin");
    let resource: String =
        url::form_urlencoded::byte_serialize(format!("acct:{}", erin.address()).as_bytes()).collect();
    scene.liar.put(&format!("/.well-known/webfinger?resource={resource}"), Reply::status(404, ""));
    let template = scene.liar.url("/.well-known/webfinger?resource={uri}");
    let json = json!({ "links": [{ "rel": "lrdd", "template": template }] });
    scene.liar.put("/.well-known/host-meta", Reply::of("application/jrd+json", json.to_string()));
    let query = format!("/api/v2/search?q=@{}&resolve=true&type=accounts", erin.address());
    assert_eq!(scene.alice.get(&query).ok().await["accounts"], json!([]));
}

#[tokio::test]
async fn post_that_staff_deleted_does_not_come_back() {
    let scene = Scene::new().await;
    let note = scene.carol.note("1");
    let status = scene.receive(&note).await;
    let id = status["id"].as_str().unwrap();
    let moderator = scene.app.staff("moderator", "Moderator").await;
    let marked = moderator.post(&format!("/api/v1/admin/statuses/{id}/sensitive")).ok().await;
    assert_eq!((&marked["sensitive"], &marked["edited_at"]), (&json!(true), &json!(null)));
    moderator.delete(&format!("/api/v1/admin/statuses/{id}")).ok().await;
    let again = scene.carol.activity("Create", note.clone());
    assert_eq!(scene.carol.letter(&scene.app, &again).send(&scene.app).await.status, 202);
    scene.app.run_jobs().await;
    assert_eq!(scene.app.count("statuses WHERE NOT local").await, 0);
}
