//! The group `profile`: `plugins/profile`, and `update_credentials`, which sets the images that the group removes.

use serde_json::{Value, json};

use super::groups::{served, settle, switch_off};
use super::guest;
use crate::harness::Client;
use crate::platform::contract::check;
use crate::routes::media::{gif, png};

const VERIFY: &str = "/api/v1/accounts/verify_credentials";
const UPDATE: &str = "/api/v1/accounts/update_credentials";
const AVATAR: &str = "/api/v1/profile/avatar";
const HEADER: &str = "/api/v1/profile/header";

/// Sets avatar and header.
async fn dress(person: &Client) -> Value {
    let files: [(&str, &str, &[u8]); 2] = [("avatar", "a.png", &png(60, 50)), ("header", "h.png", &png(30, 10))];
    person.patch(UPDATE).multipart(&[], &files).ok().await
}

#[tokio::test]
async fn pictures_are_set_and_removed() {
    let app = served("profile").await;
    let alice = app.account("alice").await;
    let files: [(&str, &str, &[u8]); 2] = [("avatar", "a.png", &png(600, 500)), ("header", "h.png", &png(30, 10))];

    let own = alice.patch(UPDATE).multipart(&[("display_name", "Alice")], &files).ok().await;
    check("CredentialAccount", &own);
    assert_eq!(own["display_name"], "Alice");
    let avatar = own["avatar"].as_str().unwrap().to_owned();
    assert!(avatar.starts_with("https://example.test/media/"), "{avatar}");
    let file = app.anonymous().get(avatar.strip_prefix("https://example.test").unwrap()).send().await;
    assert_eq!(file.status, axum::http::StatusCode::OK);

    let broken = alice.patch(UPDATE).multipart(&[("display_name", "lost")], &[("avatar", "a.png", b"no picture")]);
    let error = broken.expect(axum::http::StatusCode::UNPROCESSABLE_ENTITY).await;
    check("ValidationError", &error);
    assert!(error["details"].get("avatar").is_some());
    assert_eq!(alice.get(VERIFY).ok().await["display_name"], "Alice");

    let own = alice.delete(AVATAR).ok().await;
    assert_eq!(own["avatar"], "https://example.test/assets/avatar.png");
    let own = alice.delete(HEADER).ok().await;
    assert_eq!(own["header"], "https://example.test/assets/header.png");
    alice.delete(HEADER).ok().await;
    app.run_jobs().await;
    let gone = app.anonymous().get(avatar.strip_prefix("https://example.test").unwrap()).send().await;
    assert_eq!(gone.status, axum::http::StatusCode::NOT_FOUND);
    app.anonymous().delete(AVATAR).fails(401).await;
    alice.with_scopes("read").await.delete(AVATAR).fails(403).await;
}

#[tokio::test]
async fn pictures_are_uploaded_replaced_and_deleted() {
    let app = served("profile").await;
    let alice = app.account("alice").await;
    let send = |files: Vec<(&'static str, &'static str, Vec<u8>)>| {
        let files: Vec<(&str, &str, &[u8])> =
            files.iter().map(|(name, file, bytes)| (*name, *file, &bytes[..])).collect();
        alice.patch(UPDATE).multipart(&[("display_name", "Alice")], &files)
    };
    let file = async |url: &Value| {
        let path = url.as_str().unwrap().strip_prefix("https://example.test").unwrap().to_owned();
        app.anonymous().get(&path).send().await
    };

    let own = send(vec![("avatar", "a.png", png(500, 300)), ("header", "h.png", png(1600, 900))]).ok().await;
    let avatar = file(&own["avatar"]).await;
    assert_eq!(image::load_from_memory(&avatar.body).unwrap().width(), 400);
    assert_eq!(own["avatar"], own["avatar_static"]);
    assert!(own["header"].as_str().unwrap().contains("/media/headers/"));
    assert_eq!(own["display_name"], "Alice");

    let moving = send(vec![("avatar", "a.gif", gif())]).ok().await;
    assert_ne!(moving["avatar"], moving["avatar_static"]);
    assert_eq!(moving["header"], own["header"]);
    app.app.clock.advance(chrono::Duration::hours(2));
    app.run_jobs().await;
    assert_eq!(file(&own["avatar"]).await.status, 404, "the old file is gone");
    for url in [&moving["avatar"], &moving["avatar_static"], &moving["header"]] {
        assert_eq!(file(url).await.status, 200);
    }

    let broken = send(vec![("avatar", "a.png", b"no picture".to_vec()), ("header", "h.png", png(20, 20))]);
    let fault = broken.expect(axum::http::StatusCode::UNPROCESSABLE_ENTITY).await;
    assert!(fault["details"]["avatar"].is_array());
    assert_eq!(alice.get(VERIFY).ok().await["header"], own["header"], "nothing changed");

    alice.delete(AVATAR).ok().await;
    alice.delete(HEADER).ok().await;
    app.run_jobs().await;
    assert_eq!(file(&moving["avatar"]).await.status, 404);
    assert_eq!(file(&moving["header"]).await.status, 404);
}

#[tokio::test]
async fn removed_image_disappears_everywhere_immediately() {
    let app = served("profile").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let own = dress(&alice).await;
    let account = format!("/api/v1/accounts/{}", alice.id());
    let seen = bob.get(&account).ok().await;
    assert_eq!(seen["avatar"], own["avatar"]);
    settle(&app).await;

    let after = alice.delete(AVATAR).ok().await;
    check("CredentialAccount", &after);
    assert_eq!(after["header"], own["header"], "the other stays");
    assert_eq!(alice.get(VERIFY).ok().await, after, "as in later responses");
    assert_eq!(bob.get(&account).ok().await["avatar"], "https://example.test/assets/avatar.png");
    let again = alice.delete(AVATAR).ok().await;
    assert_eq!(again["avatar"], after["avatar"], "removing none is not an error");
    assert_eq!(dress(&bob).await["avatar"], bob.get(VERIFY).ok().await["avatar"], "others keep theirs");
}

#[tokio::test]
async fn removal_needs_the_scope_of_accounts_and_an_account() {
    let app = served("profile").await;
    let alice = app.account("alice").await;
    dress(&alice).await;
    for path in [AVATAR, HEADER] {
        app.anonymous().delete(path).fails(401).await;
        app.application("read write").await.delete(path).fails(422).await;
        alice.with_scopes("read write:statuses profile").await.delete(path).fails(403).await;
        alice.get(path).fails(404).await;
        let own = alice.with_scopes("write:accounts").await.delete(path).ok().await;
        assert_eq!(own["username"], "alice");
    }
}

#[tokio::test]
async fn concurrent_requests_remove_the_images_once() {
    let app = served("profile").await;
    let alice = app.account("alice").await;
    let own = dress(&alice).await;
    let all = (0..8).map(|n| alice.delete(if n % 2 == 0 { AVATAR } else { HEADER }).send());
    for answer in futures_util::future::join_all(all).await {
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    settle(&app).await;
    for image in ["avatar", "header"] {
        let path = own[image].as_str().unwrap().strip_prefix("https://example.test").unwrap().to_owned();
        assert_eq!(app.anonymous().get(&path).send().await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn images_are_set_but_not_removed_without_the_group() {
    let app = served("profile").await;
    let alice = app.account("alice").await;
    let own = dress(&alice).await;
    switch_off(&app, "profile").await;
    for path in [AVATAR, HEADER] {
        alice.delete(path).fails(404).await;
    }
    assert_eq!(alice.get(VERIFY).ok().await["avatar"], own["avatar"]);
}

#[tokio::test]
async fn own_account_is_shown_to_tokens_that_may_read_it() {
    let app = guest::serve("mirror", &[]).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let told = |id: String| json!({ "template": json!({ "own": { "$credentials": id } }).to_string() });
    let shown = async |client: &Client, id: String| {
        client.post("/api/v1/mirror/answer").json(&told(id)).ok().await["own"].clone()
    };
    let own = shown(&alice, alice.id().to_string()).await;
    check("CredentialAccount", &own);
    assert_eq!(own, alice.get(VERIFY).ok().await);
    assert_eq!(shown(&bob, alice.id().to_string()).await, json!(null), "hidden from other accounts");
    let narrow = alice.with_scopes("write:lists read:statuses").await;
    assert_eq!(shown(&narrow, alice.id().to_string()).await, json!(null), "the token may not read it");
    let narrow = alice.with_scopes("write:lists profile").await;
    assert_eq!(shown(&narrow, alice.id().to_string()).await["username"], "alice");
}
