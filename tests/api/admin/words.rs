//! The settings `ng_words` and `sensitive_words`, and the first statuses of new accounts.

use serde_json::{Value, json};

use crate::harness::{Client, TestApp, id};

async fn with(settings: &[(&str, Value)]) -> (TestApp, Client) {
    let app = TestApp::new().await;
    for (key, value) in settings {
        app.set(key, value.clone()).await;
    }
    let alice = app.account("alice").await;
    (app, alice)
}

#[tokio::test]
async fn text_that_is_not_allowed_is_refused_without_the_word() {
    let (app, alice) = with(&[("ng_words", json!(["Buy now", "/\\bspam+\\b/"]))]).await;
    let fine = alice.publish("spammers are listed").await;
    let path = format!("/api/v1/statuses/{}", id(&fine));
    let poll = json!({ "status": "a", "poll": { "options": ["yes", "BUY NOW"], "expires_in": 3600 } });
    let later = json!({ "status": "spam", "scheduled_at": "2026-02-01T00:00:00Z" });
    let profile = "/api/v1/accounts/update_credentials";
    for request in [
        alice.post("/api/v1/statuses").json(&json!({ "status": "please BUY NOW" })),
        alice.post("/api/v1/statuses").json(&json!({ "status": "a", "spoiler_text": "SPAMMM" })),
        alice.post("/api/v1/statuses").json(&poll),
        alice.post("/api/v1/statuses").json(&later),
        alice.put(&path).json(&json!({ "status": "spam" })),
        alice.patch(profile).json(&json!({ "note": "buy now" })),
        alice.patch(profile).json(&json!({ "display_name": "Spam" })),
        alice.patch(profile).json(&json!({ "fields_attributes": { "0": { "name": "shop", "value": "buy now" } } })),
    ] {
        let said = request.fails(422).await;
        assert!(said.contains("not allowed"), "{said}");
        assert!(!said.to_lowercase().contains("spam") && !said.to_lowercase().contains("buy"), "{said}");
    }
    assert_eq!(app.count("statuses").await, 1);
    app.run(&["settings", "set", "ng_words", ""]).await.ok();
    app.app.reload().await.unwrap();
    alice.publish("buy now").await;
}

#[tokio::test]
async fn sensitive_word_marks_a_status() {
    let (_, alice) =
        with(&[("sensitive_words", json!(["spider"])), ("sensitive_words_warning", json!("Animals"))]).await;
    let marked = alice.publish("a SPIDER").await;
    assert_eq!((&marked["sensitive"], &marked["spoiler_text"]), (&json!(true), &json!("Animals")));
    let own = json!({ "status": "a spider", "spoiler_text": "Eight legs" });
    let own = alice.post("/api/v1/statuses").json(&own).ok().await;
    assert_eq!((&own["sensitive"], &own["spoiler_text"]), (&json!(true), &json!("Eight legs")));
    let plain = alice.publish("a bird").await;
    assert_eq!((&plain["sensitive"], &plain["spoiler_text"]), (&json!(false), &json!("")));
    let path = format!("/api/v1/statuses/{}", id(&plain));
    let edited = alice.put(&path).json(&json!({ "status": "no, a spider" })).ok().await;
    assert_eq!((&edited["sensitive"], &edited["spoiler_text"]), (&json!(true), &json!("Animals")));
}

#[tokio::test]
async fn first_public_statuses_of_a_new_account_are_unlisted() {
    let (app, alice) = with(&[("hold_back_new_accounts", json!(24)), ("hold_back_statuses", json!(2))]).await;
    let shown = async |visibility: &str| alice.publish_to(visibility, "hello").await["visibility"].clone();
    assert_eq!(shown("private").await, "private");
    assert_eq!(shown("direct").await, "direct");
    assert_eq!(shown("public").await, "unlisted");
    assert_eq!(shown("public").await, "unlisted");
    assert_eq!(shown("public").await, "public");

    let bob = app.account("bob").await;
    app.app.clock.advance(chrono::Duration::hours(24));
    assert_eq!(bob.publish_to("public", "hello").await["visibility"], "public");
}

#[tokio::test]
async fn patterns_are_checked_when_they_are_set() {
    let app = TestApp::new().await;
    let set = ["settings", "set", "ng_words"];
    let list = "Buy now\n\n  /sp[a4]m/ \n";
    app.run(&[&set[..], &[list]].concat()).await.ok();
    let said = app.run(&["settings", "get", "ng_words", "--json"]).await.json();
    assert_eq!(said[0]["value"], json!(["Buy now", "/sp[a4]m/"]));
    for (bad, named) in [("/(/", "/(/"), ("/x*/", "every text"), ("/(a{1000}){1000}/", "too large")] {
        let said = app.run(&[&set[..], &[bad]].concat()).await.fails(1);
        assert!(said.contains(named), "{bad}: {said}");
    }
    assert!(app.run(&["settings", "set", "sign_up_hours", "8-25"]).await.fails(1).contains("8-20"));
    let log = app.run(&["audit", "--action", "settings.update", "--json"]).await.list();
    assert_eq!((log.len(), &log[0]["details"]), (1, &json!({})));
}
