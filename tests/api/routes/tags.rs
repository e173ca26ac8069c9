//! Hashtags: lookup, follows, and features on profiles.
//!
//! <https://docs.joinmastodon.org/methods/tags/>, <https://docs.joinmastodon.org/methods/followed_tags/>,
//! <https://docs.joinmastodon.org/methods/featured_tags/>

use serde_json::{Value, json};
use service::rate_limits::{self, Family};

use crate::harness::{Client, TestApp};
use crate::platform::contract;

async fn home(viewer: &Client) -> Vec<String> {
    viewer.server.run_jobs().await;
    let page = viewer.get("/api/v1/timelines/home").ok().await;
    page.as_array().unwrap().iter().rev().map(|status| status["id"].as_str().unwrap().to_owned()).collect()
}

pub(super) fn names(tags: &Value) -> Vec<&str> {
    tags.as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn hashtag_is_shown_with_its_history() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let unknown = app.anonymous().get("/api/v1/tags/Rooks").ok().await;
    contract::check("Tag", &unknown);
    assert_eq!((&unknown["name"], unknown.get("following")), (&json!("Rooks"), None));
    assert_eq!(unknown["url"], "https://example.test/tags/rooks");
    alice.publish_to("private", "among us: #ROOKS").await;
    let private = app.anonymous().get("/api/v1/tags/rooks").ok().await;
    assert_eq!((&private["name"], private.get("id")), (&json!("rooks"), None), "none of that is revealed");

    bob.publish("two #Crows").await;
    bob.publish("more #crows").await;
    let shown = alice.get("/api/v1/tags/%23CROWS").ok().await;
    assert_eq!((&shown["name"], &shown["following"]), (&json!("Crows"), &json!(false)));
    let followed = alice.post("/api/v1/tags/crows/follow").ok().await;
    assert!(shown["id"].is_string() && shown["id"] == followed["id"], "{shown} {followed}");
    alice.post("/api/v1/tags/crows/unfollow").ok().await;
    for act in ["follow", "feature"] {
        let own = alice.post(&format!("/api/v1/tags/jackdaws_{act}/{act}")).ok().await;
        contract::check("Tag", &own);
        assert!(own["id"].is_string(), "{own}");
    }
    assert_eq!((&shown["history"][0]["uses"], &shown["history"][0]["accounts"]), (&json!("2"), &json!("1")));
    let answer = app.anonymous().get("/api/v1/tags/crows").send().await;
    assert!(answer.header("cache-control").contains("public"), "{}", answer.header("cache-control"));
    for wrong in ["a%20b", "2026", "%20"] {
        app.anonymous().get(&format!("/api/v1/tags/{wrong}")).fails(404).await;
    }
}

#[tokio::test]
async fn followed_hashtags_are_listed_by_their_follows() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    bob.publish("a #Rook").await;
    for name in ["rook", "crow", "jay", "rook"] {
        let followed = alice.post(&format!("/api/v1/tags/{name}/follow")).ok().await;
        contract::check("Tag", &followed);
        assert_eq!(followed["following"], true);
        app.tick();
    }
    assert_eq!(alice.get("/api/v1/tags/rook").ok().await["following"], true);
    let all = alice.get("/api/v1/followed_tags").ok().await;
    contract::check("Tag[]", &all);
    assert_eq!(names(&all), ["jay", "crow", "Rook"]);
    let page = alice.get("/api/v1/followed_tags?limit=2").send().await;
    assert_eq!(names(&page.json()), ["jay", "crow"]);
    assert!(page.header("link").contains("since_id="), "{}", page.header("link"));
    let next = page.header("link").split('>').next().unwrap().trim_start_matches("<https://example.test").to_owned();
    assert_eq!(names(&alice.get(&next).ok().await), ["Rook"]);
    let undone = alice.post("/api/v1/tags/crow/unfollow").ok().await;
    assert_eq!(undone["following"], false);
    alice.post("/api/v1/tags/crow/unfollow").ok().await;
    assert_eq!(alice.post("/api/v1/tags/nobodys/unfollow").ok().await["following"], false);
    assert_eq!(names(&alice.get("/api/v1/followed_tags").ok().await), ["jay", "Rook"]);
}

#[tokio::test]
async fn hashtag_follow_adds_and_removes_its_statuses_only() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    alice.follow(&bob).ok().await;
    let before = carol.publish("before #rooks").await.into_id();
    carol.publish_to("unlisted", "unlisted #rooks").await;
    let bobs = bob.publish("from bob #rooks").await.into_id();
    let own = alice.publish("mine #rooks").await.into_id();
    assert_eq!(home(&alice).await, [&bobs, &own].map(String::as_str));

    alice.post("/api/v1/tags/rooks/follow").ok().await;
    alice.post("/api/v1/tags/birds/follow").ok().await;
    let [both, after] =
        [carol.publish("#rooks and #birds").await.into_id(), carol.publish("after #rooks").await.into_id()];
    app.tick();
    let reply = json!({"status": "an answer #rooks", "in_reply_to_id": before});
    let reply = bob.publish(&reply).await["id"].as_str().unwrap().to_owned();
    assert_eq!(home(&alice).await, [&before, &bobs, &own, &both, &after, &reply].map(String::as_str));

    alice.post("/api/v1/tags/rooks/unfollow").ok().await;
    let left = home(&alice).await;
    assert_eq!(left, [&bobs, &own, &both].map(String::as_str), "entries with another reason stay");
}

#[tokio::test]
async fn refollowed_hashtag_stays() {
    let app = TestApp::new().await;
    let [alice, carol] = app.accounts(["alice", "carol"]).await;
    alice.post("/api/v1/tags/rooks/follow").ok().await;
    let status = carol.publish("#rooks").await.into_id();
    assert_eq!(home(&alice).await, [status.as_str()]);
    alice.post("/api/v1/tags/rooks/unfollow").ok().await;
    alice.post("/api/v1/tags/rooks/follow").ok().await;
    assert_eq!(home(&alice).await, [status.as_str()], "the follows at the time of the jobs decide");
}

#[tokio::test]
async fn follows_of_hashtags_count_as_follows() {
    let app = TestApp::with(&[("ROOKERY_RATE_LIMITS_ENABLED", "true")]).await;
    let alice = app.account("alice").await;
    for _ in 0..398 {
        rate_limits::family(&app.app, alice.id(), Family::Follows).unwrap().keep();
    }
    alice.post("/api/v1/tags/rooks/follow").ok().await;
    alice.post("/api/v1/tags/rooks/follow").ok().await;
    alice.post("/api/v1/tags/crows/follow").ok().await;
    alice.post("/api/v1/tags/jays/follow").fails(429).await;
    alice.post("/api/v1/tags/rooks/follow").ok().await;
    assert_eq!(names(&alice.get("/api/v1/followed_tags").ok().await), ["crows", "rooks"]);
}

#[tokio::test]
async fn hashtag_is_spelled_as_in_its_first_public_use() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    alice.publish_to("private", "among us: #secretROOKS").await;
    bob.post("/api/v1/tags/SecretRooks/follow").ok().await;
    bob.publish("a #SecretRooks").await;
    alice.publish("another #SECRETROOKS").await;

    let name = json!("SecretRooks");
    assert_eq!(app.anonymous().get("/api/v1/tags/secretrooks").ok().await["name"], name);
    assert_eq!(bob.get("/api/v1/followed_tags").ok().await[0]["name"], name);
    let found = alice.get("/api/v2/search?q=secretrooks&type=hashtags").ok().await;
    assert_eq!(found["hashtags"][0]["name"], name);
}
