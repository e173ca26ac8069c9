//! Recipes of the cookbook on the real server: `examples/cookbook`, as built by `make guests`.

use axum::http::StatusCode;
use chrono::Duration;
use plugins::{admin, life};
use serde_json::{Value, json};

use super::groups::settle;
use super::guest;
use crate::harness::{Browser, Client, TestApp, form_fields, id, ids};

const NAME: &str = "cookbook";

async fn served() -> TestApp {
    guest::serve(NAME, &[]).await
}

/// Creates a shelf; returns the path of its routes.
async fn shelf(person: &Client, title: &str) -> String {
    let shelf = person.post("/api/v1/shelves").form(&[("title", title)]).ok().await;
    format!("/api/v1/shelves/{}", id(&shelf))
}

#[tokio::test]
async fn webhook_needs_secret() {
    let app = served().await;
    let with = |token: &str| app.anonymous().post("/api/v1/catalogue_webhook").header("x-webhook-token", token);
    let send = |token: &str, body: &[u8]| with(token).body("text/plain", body.to_vec());
    send("a secret", b"books").fails(503).await;

    admin::set_secret(&app.plugins(), &model::Staff::operator(), NAME, "WEBHOOK_SECRET", Some("a secret".to_owned()))
        .await
        .unwrap();
    life::follow(&app.plugins()).await;
    assert_eq!(send("a secret", b"books").ok().await, json!({}));
    assert_eq!(send("a sekret", b"books").fails(401).await, "The token is wrong");
    send("a secret", &[b'x'; 2_000]).fails(413).await;
    with("a secret").json(&json!({})).fails(400).await;
}

#[tokio::test]
async fn shelf_announcement_is_scheduled_or_cancelled() {
    let app = served().await;
    let alice = app.account("alice").await;
    let path = format!("{}/announcement", shelf(&alice, "birds").await);
    let announce = || alice.post(&path).form(&[("minutes", "30")]);
    let texts = async || {
        settle(&app).await;
        let statuses = alice.get(&format!("/api/v1/accounts/{}/statuses", alice.id())).ok().await;
        statuses.as_array().unwrap().iter().map(|status| status["content"].clone()).collect::<Vec<Value>>()
    };
    announce().expect(StatusCode::ACCEPTED).await;
    assert_eq!(announce().fails(409).await, "The shelf is to be announced already");
    assert_eq!(texts().await, [""; 0], "it is not due");
    app.app.clock.advance(Duration::minutes(30));
    assert_eq!(texts().await, ["<p>I keep a shelf: birds</p>"]);
    alice.delete(&path).ok().await;
    assert_eq!(texts().await, [""; 0]);

    announce().expect(StatusCode::ACCEPTED).await;
    alice.delete(&path).ok().await;
    app.app.clock.advance(Duration::minutes(30));
    assert_eq!(texts().await, [""; 0], "it was cancelled");
}

#[tokio::test]
async fn words_are_refused_and_favourites_silenced() {
    let app = served().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let words = json!({ "refused_words": ["Casino"], "sensitive_words": ["spider"] });
    admin::configure(&app.plugins(), &model::Staff::operator(), NAME, words.as_object().unwrap().clone())
        .await
        .unwrap();
    life::follow(&app.plugins()).await;

    let post = |parameters: &Value| alice.post("/api/v1/statuses").json(parameters);
    post(&json!({ "status": "hello", "mood": ["rich"] })).fails(422).await;
    let refused = post(&json!({ "status": "win at the CASINO", "mood": "rich" })).fails(422).await;
    assert_eq!(refused, "There is a word in it that is not welcome here");
    let long = post(&json!({ "status": "hello", "mood": "x".repeat(21) })).fails(422).await;
    assert_eq!(long, "mood: is longer than 20 characters");
    let status = alice.publish(json!({ "status": "a spider", "mood": "brave" })).await;
    assert_eq!((&status["sensitive"], &status["content"]), (&json!(true), &json!("<p>a spider</p><p>(brave)</p>")));

    let told = async |favourites: &str, by: &Client| -> Vec<String> {
        alice.put("/api/v1/shelf_settings").json(&json!({ "favourites": favourites })).ok().await;
        by.favourite(&status).ok().await;
        settle(&app).await;
        let all = alice.get("/api/v1/notifications").ok().await;
        all.as_array().unwrap().iter().map(|one| one["type"].as_str().unwrap().to_owned()).collect()
    };
    bob.follow(&alice).ok().await;
    assert_eq!(told("none", &bob).await, ["follow"]);
    assert_eq!(told("quiet", &carol).await, ["favourite", "follow"]);
    alice.put("/api/v1/shelf_settings").json(&json!({ "favourites": "loud" })).fails(422).await;
}

#[tokio::test]
async fn shelf_is_shown_by_link() {
    let app = served().await;
    let [alice, bob, _carol] = app.accounts(["alice", "bob", "carol"]).await;
    let open = alice.publish("for all").await;
    let private = alice.publish_to("private", "for followers").await;
    bob.follow(&alice).ok().await;
    let path = shelf(&alice, "birds").await;
    let fill = json!({ "status_ids": [id(&open), id(&private)] });
    alice.post(&format!("{path}/statuses")).json(&fill).ok().await;

    let link = alice.post(&format!("{path}/link")).ok().await;
    let shown = app.anonymous().get(link["path"].as_str().unwrap()).ok().await;
    assert_eq!(ids(&shown), [id(&open)]);
    let another = alice.post(&format!("{path}/link")).ok().await;
    assert_ne!(another, link);
    app.anonymous().get(link["path"].as_str().unwrap()).fails(404).await;

    let readers = alice.get(&format!("{path}/readers?accts[]=bob&accts[]=carol")).ok().await;
    assert_eq!(ids(&readers), [bob.id().to_string()]);
    settle(&app).await;
    assert_eq!(alice.get("/api/v1/audience").ok().await, json!({ "servers": 0 }), "all followers are of this one");
    alice.post("/api/v1/timelines/photos").json(&json!({ "tags": ["birds"] })).fails(403).await;
}

#[tokio::test]
async fn account_storage_round_trips() {
    let app = served().await;
    let alice = app.account("alice").await;
    let path = format!("{}/look", shelf(&alice, "birds").await);
    let look = json!({ "paper": "blue", "columns": [1, 2] });
    assert_eq!(alice.put(&path).json(&look).ok().await, look);
    assert_eq!(alice.get(&path).ok().await, look);

    alice.put("/api/v1/drafts/one").form(&[("text", "dear all")]).ok().await;
    assert_eq!(alice.get("/api/v1/drafts").ok().await, json!(["one"]));
    assert_eq!(alice.get("/api/v1/drafts/one").ok().await, json!({ "text": "dear all" }));
    app.app.clock.advance(Duration::days(7));
    assert_eq!(alice.get("/api/v1/drafts").ok().await, json!([]));
}

#[tokio::test]
async fn application_data_is_deleted_with_its_token() {
    let app = served().await;
    let alice = app.account("alice").await;
    let place = format!("{}/place", shelf(&alice, "birds").await);
    alice.put(&place).form(&[("page", "7")]).fails(403).await;
    let (client, other) = (alice.with_scopes("read shelf_places").await, alice.with_scopes("read").await);
    let (mut events, mut others) = (client.events("user").await, other.events("user").await);
    let kept = client.put(&place).form(&[("page", "7")]).ok().await;
    let told = app.told(&alice, &mut events).await;
    assert_eq!((told[0].name.as_str(), &told[0].json()["page"]), ("shelf_place", &json!(7)));
    assert_eq!(app.told(&alice, &mut others).await, []);

    let code = kept["bookmark"].as_str().unwrap();
    let opened = app.anonymous().get(&format!("/api/v1/shelf_bookmarks/{code}")).ok().await;
    assert_eq!(opened["page"], 7);
    app.anonymous().get(&format!("/api/v1/shelf_bookmarks/{code}A")).fails(404).await;

    let places = async || {
        let rows =
            app.db().fetch_raw::<(i64,)>("SELECT COUNT(*) FROM plugin_kv WHERE key LIKE 'place:%'").await.unwrap();
        rows[0].0
    };
    assert_eq!(places().await, 1);
    let newest = "SELECT MAX(id) FROM oauth_tokens WHERE scopes LIKE '%shelf_places%'";
    let token = app.number(newest).await;
    service::oauth::revoke::one(&app.app, token.into()).await.unwrap();
    settle(&app).await;
    assert_eq!(places().await, 0);
}

#[tokio::test]
async fn shelves_are_added_and_deleted_on_their_page() {
    let app = served().await;
    let alice = app.account("alice").await;
    shelf(&alice, "birds").await;
    let browser = Browser::signed_in(&app, "alice").await;
    let page = browser.get("/shelves").await;
    assert!(page.text().contains(">birds</a></h3>"), "{}", page.text());
    let refused = browser.submit(&page, "/shelves", &[("title", "a/b")]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("A title has no slash."));
    assert_eq!(browser.submit(&page, "/shelves", &[("title", "crows")]).await.status, 302);
    let both = browser.get("/shelves").await.text();
    assert!(both.contains("The shelf is there.") && both.contains(">crows</a></h3>"), "{both}");
    let csrf = form_fields(&both, "/shelves")[0].1.clone();
    let shelves = alice.get("/api/v1/shelves").ok().await;
    let own = format!("/shelves/{}", id(&shelves[1]));
    assert!(browser.get(&own).await.text().contains("<dt>posts</dt><dd>0</dd>"));
    let picture = browser.get(&format!("{own}?picture=shelf-{}", id(&shelves[1]))).await;
    assert_eq!((picture.status, picture.header("content-type")), (StatusCode::OK, "image/png"));
    let first = [("csrf", csrf.as_str()), ("_form", "delete"), ("_item", id(&shelves[1]))];
    assert_eq!(browser.post("/shelves", &first).await.status, 302);
    let left = alice.get("/api/v1/shelves").ok().await;
    assert_eq!((left.as_array().unwrap().len(), &left[0]["title"]), (1, &json!("crows")));
}
