//! Favourites, bookmarks, pins, muted conversations and reblogs of statuses.

use serde_json::json;

use crate::harness::{TestApp, status_path};
use crate::platform::contract;

#[tokio::test]
async fn favourite_bookmark_pin_and_mute_count_once() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = alice.publish("hi").await;

    bob.favourite(&status).ok().await;
    let twice = bob.favourite(&status).ok().await;
    assert_eq!((&twice["favourites_count"], &twice["favourited"]), (&json!(1), &json!(true)));
    let by = app.anonymous().get(&status_path(&status, "/favourited_by")).ok().await;
    assert_eq!(by[0]["acct"], "bob");
    let favourites = bob.get("/api/v1/favourites").send().await;
    assert_eq!(favourites.json()[0]["id"], status["id"]);
    assert!(favourites.header("link").contains("rel=\"prev\""));
    let back = bob.unfavourite(&status).ok().await;
    assert_eq!((&back["favourites_count"], &back["favourited"]), (&json!(0), &json!(false)));

    assert_eq!(bob.bookmark(&status).ok().await["bookmarked"], true);
    assert_eq!(bob.get("/api/v1/bookmarks").ok().await[0]["id"], status["id"]);
    assert_eq!(bob.unbookmark(&status).ok().await["bookmarked"], false);

    assert_eq!(alice.pin(&status).ok().await["pinned"], true);
    alice.pin(&status).fails(422).await;
    bob.pin(&status).fails(422).await;
    let pinned = app.anonymous().get(&format!("/api/v1/accounts/{}/statuses?pinned=true", alice.id())).ok().await;
    assert_eq!(pinned[0]["id"], status["id"]);
    assert_eq!(alice.unpin(&status).ok().await["pinned"], false);

    assert_eq!(bob.mute_conversation(&status).ok().await["muted"], true);
    assert_eq!(bob.unmute_conversation(&status).ok().await["muted"], false);
}

#[tokio::test]
async fn favourite_and_bookmark_are_undone_after_block() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = alice.publish("hi").await;
    let other = alice.publish("never marked").await;
    for verb in ["/favourite", "/bookmark"] {
        bob.post(&status_path(&status, verb)).ok().await;
    }
    alice.block(&bob).ok().await;
    bob.status(&status).fails(404).await;

    for (verb, flag) in [("/unfavourite", "favourited"), ("/unbookmark", "bookmarked")] {
        let answer = bob.post(&status_path(&status, verb)).ok().await;
        assert_eq!((&answer["id"], &answer[flag]), (&status["id"], &json!(false)), "{verb}");
        bob.post(&status_path(&status, verb)).fails(404).await;
        bob.post(&status_path(&other, verb)).fails(404).await;
    }
    assert_eq!(alice.status(&status).ok().await["favourites_count"], 0);
}

#[tokio::test]
async fn reblog_wraps_original_once() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = alice.publish("hi").await;
    app.tick();

    let reblog = bob.reblog(&status).ok().await;
    let again = bob.reblog(&reblog).ok().await;

    contract::check("Status", &reblog);
    assert_eq!(reblog["id"], again["id"]);
    assert_eq!(reblog["reblog"]["id"], status["id"]);
    assert_eq!(reblog["reblog"]["reblogs_count"], 1);
    assert_eq!(reblog["reblogged"], true);
    assert_eq!(app.anonymous().get(&status_path(&status, "/reblogged_by")).ok().await[0]["acct"], "bob");
    let original = bob.unreblog(&status).ok().await;
    assert_eq!((&original["id"], &original["reblogs_count"]), (&status["id"], &json!(0)));

    let private = alice.publish_to("private", "hush").await;
    let direct = alice.publish_to("direct", "@bob hush").await;
    bob.reblog(&private).fails(404).await;
    bob.reblog(&direct).fails(403).await;
    assert_eq!(alice.reblog(&private).ok().await["visibility"], "private");
}
