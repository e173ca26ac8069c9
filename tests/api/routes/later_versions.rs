//! Requests of current clients that are newer than the reference level: deliberate additions from Mastodon 4.4 to
//! 4.6.

use chrono::Duration;
use serde_json::{Value, json};

use crate::harness::TestApp;
use crate::platform::contract;
use crate::routes::media::png;

#[tokio::test]
async fn profile_is_read_and_changed_as_it_was_written() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let own = alice.with_scopes("profile").await.get("/api/v1/profile").ok().await;
    contract::check("Profile", &own);
    assert_eq!((&own["avatar"], &own["header_static"]), (&Value::Null, &Value::Null));
    alice.post("/api/v1/tags/rooks/feature").ok().await;
    let form = [
        ("note", "I like #rooks"),
        ("avatar_description", " a rook "),
        ("show_media", "false"),
        ("show_media_replies", "0"),
        ("show_featured", "off"),
        ("fields_attributes[0][name]", "Page"),
        ("fields_attributes[0][value]", "https://alice.test"),
    ];
    let changed = alice.patch("/api/v1/profile").multipart(&form, &[("avatar", "a.png", &png(8, 8))]).ok().await;
    contract::check("Profile", &changed);
    assert_eq!((&changed["note"], &changed["avatar_description"]), (&json!("I like #rooks"), &json!("a rook")));
    assert_eq!(changed["fields"], json!([{"name": "Page", "value": "https://alice.test", "verified_at": null}]));
    assert_eq!(changed["featured_tags"][0]["name"], "rooks");
    let account = alice.get("/api/v1/accounts/verify_credentials").ok().await;
    assert_eq!((&changed["formatted_note"], &changed["formatted_fields"]), (&account["note"], &account["fields"]));
    assert!(changed["formatted_note"].as_str().unwrap().contains("<a "), "{changed}");
    assert!(changed["avatar"].as_str().unwrap().starts_with("https://") && changed["header"].is_null(), "{changed}");
    let shown = app.anonymous().get(&format!("/api/v1/accounts/{}", alice.id())).ok().await;
    contract::check("Account", &shown);
    let tabs = ["show_media", "show_media_replies", "show_featured"].map(|name| shown[name] == false);
    assert_eq!((tabs, &shown["avatar_description"]), ([true; 3], &json!("a rook")));

    // A description is removed with its image.
    let next = alice.patch("/api/v1/accounts/update_credentials").multipart(&[], &[("avatar", "b.png", &png(9, 9))]);
    assert_eq!(next.ok().await["avatar_description"], "");
    let described = json!({"avatar_description": "another"});
    assert_eq!(alice.patch("/api/v1/profile").json(&described).ok().await["avatar_description"], "another");
    let long = json!({"avatar_description": "x".repeat(1501)});
    assert!(alice.patch("/api/v1/profile").json(&long).fails(422).await.contains("too long"));
    app.anonymous().get("/api/v1/profile").fails(401).await;
    alice.with_scopes("read:accounts").await.patch("/api/v1/profile").json(&described).fails(403).await;
}

#[tokio::test]
async fn direct_statuses_are_left_out_of_a_profile() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    for (text, visibility) in [("hello", "public"), ("psst @bob", "direct"), ("hi @bob", "private")] {
        app.tick();
        alice.publish(json!({"status": text, "visibility": visibility})).await;
    }
    let path = format!("/api/v1/accounts/{}/statuses", alice.id());
    for viewer in [&alice, &bob] {
        assert_eq!(viewer.get(&path).ok().await.as_array().unwrap().len(), 3);
        let shown = viewer.get(&format!("{path}?exclude_direct=true")).ok().await;
        let shown: Vec<&str> =
            shown.as_array().unwrap().iter().map(|status| status["visibility"].as_str().unwrap()).collect();
        assert_eq!(shown, ["private", "public"]);
    }
}

#[tokio::test]
async fn media_are_deleted_with_their_status_on_request() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    for (query, kept) in [("", true), ("?delete_media=true", false)] {
        let media = alice.upload(&png(8, 8)).ok().await;
        let status = alice.publish(json!({"media_ids": [media["id"]]})).await;
        let files = app.stored_files();
        alice.delete(&format!("/api/v1/statuses/{}{query}", status["id"].as_str().unwrap())).ok().await;
        app.run_jobs().await;
        let path = format!("/api/v1/media/{}", media["id"].as_str().unwrap());
        assert_eq!(alice.get(&path).send().await.status == 200, kept, "{query}");
        assert_eq!(app.stored_files() == files, kept, "{query}");
        app.app.clock.advance(Duration::hours(25));
        app.run_jobs().await;
        assert_eq!(app.stored_files(), 0, "{query}");
    }
}
