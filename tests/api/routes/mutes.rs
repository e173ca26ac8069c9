//! <https://docs.joinmastodon.org/methods/mutes/>

use serde_json::json;

use crate::harness::{Client, TestApp};
use crate::platform::contract;

#[tokio::test]
async fn mutes_say_when_they_end() {
    let app = TestApp::core().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    alice.mute(&bob).ok().await;
    alice.mute(&carol).form(&[("duration", "3600")]).ok().await;

    let muted = alice.get("/api/v1/mutes").ok().await;
    assert_eq!(
        (&muted[0]["acct"], &muted[0]["mute_expires_at"]),
        (&json!("carol"), &json!("2026-01-15T13:00:03.000Z"))
    );
    assert_eq!((&muted[1]["acct"], &muted[1]["mute_expires_at"]), (&json!("bob"), &json!(null)));
    let ends = async |of: &Client| {
        let path = format!("/api/v1/accounts/relationships?id[]={}", of.id());
        let shown = alice.get(&path).ok().await;
        contract::check("Relationship[]", &shown);
        (shown[0]["muting"].clone(), shown[0]["muting_expires_at"].clone())
    };
    assert_eq!(ends(&bob).await, (json!(true), json!(null)));
    assert_eq!(ends(&carol).await, (json!(true), muted[0]["mute_expires_at"].clone()));
    alice.unmute(&bob).ok().await;
    assert_eq!(alice.get("/api/v1/mutes").ok().await.as_array().unwrap().len(), 1);
    app.app.clock.advance(chrono::Duration::seconds(3600));
    assert_eq!(ends(&carol).await, (json!(false), json!(null)), "it is over");
    assert_eq!(alice.mute(&alice).ok().await["muting"], false);
}

#[tokio::test]
async fn mutes_are_private_to_their_owner() {
    let app = TestApp::core().await;
    let alice = app.account("alice").await;
    app.anonymous().get("/api/v1/mutes").fails(401).await;
    alice.with_scopes("read:blocks").await.get("/api/v1/mutes").fails(403).await;
    alice.with_scopes("follow").await.get("/api/v1/mutes").ok().await;
}

#[tokio::test]
async fn expired_mute_does_not_hide_favourites() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = alice.publish("hello").await;
    let path = format!("/api/v1/statuses/{}", status["id"].as_str().unwrap());
    bob.post(&format!("{path}/favourite")).ok().await;
    alice.mute(&bob).form(&[("duration", "60")]).ok().await;
    assert_eq!(alice.get(&format!("{path}/favourited_by")).ok().await, json!([]));
    app.app.clock.advance(chrono::Duration::seconds(60));
    assert_eq!(alice.get(&format!("{path}/favourited_by")).ok().await[0]["acct"], "bob");
}
