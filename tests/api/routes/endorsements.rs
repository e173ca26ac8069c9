//! Accounts that a profile features: <https://docs.joinmastodon.org/methods/endorsements/>

use serde_json::json;

use crate::harness::{Client, TestApp, account_path, accts};
use crate::platform::contract;

#[tokio::test]
async fn endorsement_needs_follow() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let path = format!("/api/v1/accounts/{}/pin", bob.id());

    alice.post(&path).fails(422).await;
    alice.follow(&bob).ok().await;
    assert_eq!(alice.post(&path).ok().await["endorsed"], true);
    assert_eq!(alice.post(&path).ok().await["endorsed"], true);
    assert_eq!(alice.post(&account_path(&bob, "/unpin")).ok().await["endorsed"], false);
    assert_eq!(alice.post(&account_path(&bob, "/unpin")).ok().await["endorsed"], false);
}

#[tokio::test]
async fn endorsements_are_listed_by_account() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    for target in [&bob, &carol] {
        alice.follow(target).ok().await;
        alice.post(&account_path(target, "/pin")).ok().await;
    }
    let all = alice.get("/api/v1/endorsements?limit=0").ok().await;
    assert_eq!(accts(&all), ["carol", "bob"]);
    let older = alice.get(&format!("/api/v1/endorsements?max_id={}", carol.id())).ok().await;
    assert_eq!(accts(&older), ["bob"], "links go by the ids of accounts");
    alice.unfollow(&bob).ok().await;
    assert_eq!(accts(&alice.get("/api/v1/endorsements").ok().await), ["carol"]);
    assert_eq!(accts(&bob.get("/api/v1/endorsements").ok().await), [""; 0]);
}

#[tokio::test]
async fn endorsements_of_account_are_public() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let on = |target: &Client, action: &str| format!("/api/v1/accounts/{}/{action}", target.id());
    assert!(alice.post(&on(&bob, "endorse")).fails(422).await.contains("following"));
    for target in [&bob, &carol] {
        alice.follow(target).ok().await;
        let tie = alice.post(&on(target, "endorse")).ok().await;
        contract::check("Relationship", &tie);
        assert_eq!(tie["endorsed"], true);
    }
    let path = on(&alice, "endorsements");
    let first = app.anonymous().get(&format!("{path}?limit=1")).send().await;
    assert!(first.header("link").contains(&path), "{}", first.header("link"));
    let shown = app.anonymous().get(&path).ok().await;
    contract::check("Account[]", &shown);
    assert_eq!(accts(&shown), ["carol", "bob"]);
    // Accounts that block the viewer are left out; a viewer blocked by the account gets an empty list.
    carol.post(&on(&bob, "block")).ok().await;
    assert_eq!(accts(&bob.get(&path).ok().await), ["bob"]);
    alice.post(&on(&bob, "block")).ok().await;
    assert_eq!(bob.get(&path).ok().await, json!([]));
    let tie = alice.post(&on(&carol, "unendorse")).ok().await;
    assert_eq!(tie["endorsed"], false);
    assert_eq!(
        app.anonymous().get(&path).ok().await,
        json!([]),
        "a block ended the follow, and with it the endorsement"
    );
    app.anonymous().get("/api/v1/accounts/1/endorsements").fails(404).await;
}
