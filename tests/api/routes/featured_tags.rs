//! <https://docs.joinmastodon.org/methods/featured_tags/>

use serde_json::{Value, json};

use super::tags::names;
use crate::harness::TestApp;
use crate::platform::contract;

#[tokio::test]
async fn featured_tags_count_public_statuses() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    alice.publish("one #rooks").await;
    alice.publish_to("unlisted", "two #rooks").await;
    alice.publish_to("private", "three #rooks").await;
    bob.publish("of someone else #rooks").await;
    let made = alice.post("/api/v1/featured_tags").json(&json!({"name": "#Rooks"})).ok().await;
    contract::check("FeaturedTag", &made);
    let shown = |tag: &Value| [tag["name"].clone(), tag["statuses_count"].clone(), tag["last_status_at"].clone()];
    assert_eq!(shown(&made), [json!("rooks"), json!("2"), json!("2026-01-15")]);
    assert_eq!(made["url"], "https://example.test/@alice/tagged/rooks");
    let unused = alice.post("/api/v1/featured_tags").json(&json!({"name": "Never"})).ok().await;
    assert_eq!(shown(&unused), [json!("Never"), json!("0"), json!(null)]);

    app.app.clock.advance(chrono::Duration::days(1));
    let later = alice.publish("later #rooks").await.into_id();
    let index = async || {
        let all = alice.get("/api/v1/featured_tags").ok().await;
        contract::check("FeaturedTag[]", &all);
        let public = app.anonymous().get(&format!("/api/v1/accounts/{}/featured_tags", alice.id())).ok().await;
        assert_eq!(all, public);
        shown(&all[0])
    };
    assert_eq!(index().await, [json!("rooks"), json!("3"), json!("2026-01-16")]);
    alice.edit(&later, "later #rooks again").ok().await;
    assert_eq!(index().await, [json!("rooks"), json!("3"), json!("2026-01-16")]);
    alice.delete_status(&later).ok().await;
    assert_eq!(index().await, [json!("rooks"), json!("2"), json!("2026-01-15")], "the last is the one before");

    let id = made["id"].as_str().unwrap();
    bob.delete(&format!("/api/v1/featured_tags/{id}")).fails(404).await;
    assert_eq!(alice.delete(&format!("/api/v1/featured_tags/{id}")).ok().await, json!({}));
    alice.delete(&format!("/api/v1/featured_tags/{id}")).fails(404).await;
}

#[tokio::test]
async fn featured_tags_suggestions_are_most_used() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    for text in ["#rooks #crows", "#rooks #jays", "#rooks #crows #gulls"] {
        alice.publish(text).await;
    }
    alice.publish_to("private", "#secret #secret2").await;
    let suggested = async || alice.get("/api/v1/featured_tags/suggestions").ok().await;
    let all = suggested().await;
    contract::check("Tag[]", &all);
    assert_eq!(names(&all), ["rooks", "crows", "gulls", "jays"]);
    alice.post("/api/v1/featured_tags").json(&json!({"name": "crows"})).ok().await;
    assert_eq!(names(&suggested().await), ["rooks", "gulls", "jays"]);
}

#[tokio::test]
async fn featured_tags_are_ten_at_most() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let feature = |name: String| alice.post("/api/v1/featured_tags").json(&json!({ "name": name }));
    for number in 0..10 {
        feature(format!("rook{number}")).ok().await;
    }
    feature("rook10".to_owned()).fails(422).await;
    feature("rook9".to_owned()).fails(422).await;
}

#[tokio::test]
async fn featured_tag_is_created_by_its_name() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    for _ in 0..2 {
        let tag = alice.post("/api/v1/tags/Rooks/feature").ok().await;
        contract::check("Tag", &tag);
        assert_eq!((&tag["featuring"], &tag["following"]), (&json!(true), &json!(false)));
    }
    assert_eq!(alice.get("/api/v1/tags/rooks").ok().await["featuring"], true);
    assert!(app.anonymous().get("/api/v1/tags/rooks").ok().await.get("featuring").is_none());
    let featured = alice.get("/api/v1/featured_tags").ok().await;
    assert_eq!((featured.as_array().unwrap().len(), &featured[0]["name"]), (1, &json!("Rooks")));
    for _ in 0..2 {
        assert_eq!(alice.post("/api/v1/tags/rooks/unfeature").ok().await["featuring"], false);
    }
    assert_eq!(alice.get("/api/v1/featured_tags").ok().await, json!([]));
    for number in 0..10 {
        alice.post(&format!("/api/v1/tags/bird{number}/feature")).ok().await;
    }
    assert!(alice.post("/api/v1/tags/rooks/feature").fails(422).await.contains("limit"));
}
