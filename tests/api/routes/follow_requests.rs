//! <https://docs.joinmastodon.org/methods/follow_requests/>

use serde_json::json;

use crate::harness::TestApp;

#[tokio::test]
async fn locked_account_decides_on_follow_requests() {
    let app = TestApp::core().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    alice.update_profile(json!({"locked": true})).ok().await;

    let asked = bob.follow(&alice).ok().await;
    assert_eq!((&asked["requested"], &asked["following"]), (&json!(true), &json!(false)));
    let notify = bob.follow(&alice).form(&[("notify", "true")]).ok().await;
    assert_eq!((&notify["requested"], &notify["notifying"]), (&json!(true), &json!(true)));
    carol.follow(&alice).ok().await;

    let waiting = alice.get("/api/v1/follow_requests?limit=1").send().await;
    assert_eq!(waiting.json()[0]["acct"], "carol");
    assert!(waiting.header("link").contains("rel=\"next\""), "{}", waiting.header("link"));
    assert!(waiting.header("link").contains("since_id="));

    let tie = alice.authorize(&bob).ok().await;
    assert_eq!((&tie["followed_by"], &tie["requested_by"]), (&json!(true), &json!(false)));
    let tie = alice.reject(&carol).ok().await;
    assert_eq!((&tie["followed_by"], &tie["requested_by"]), (&json!(false), &json!(false)));

    let seen = bob.get(&format!("/api/v1/accounts/relationships?id[]={}", alice.id())).ok().await;
    assert_eq!((&seen[0]["following"], &seen[0]["notifying"]), (&json!(true), &json!(true)));
    assert_eq!(alice.get("/api/v1/follow_requests").ok().await, json!([]));
    assert_eq!(alice.get(&format!("/api/v1/accounts/{}", alice.id())).ok().await["followers_count"], 1);
}

#[tokio::test]
async fn follow_request_must_exist() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    for action in ["authorize", "reject"] {
        alice.post(&format!("/api/v1/follow_requests/{}/{action}", bob.id())).fails(404).await;
        alice.post(&format!("/api/v1/follow_requests/nobody/{action}")).fails(404).await;
        app.anonymous().post(&format!("/api/v1/follow_requests/{}/{action}", bob.id())).fails(401).await;
        let reader = alice.with_scopes("read").await;
        reader.post(&format!("/api/v1/follow_requests/{}/{action}", bob.id())).fails(403).await;
    }
    app.anonymous().get("/api/v1/follow_requests").fails(401).await;
    alice.with_scopes("write").await.get("/api/v1/follow_requests").fails(403).await;
    alice.with_scopes("follow").await.get("/api/v1/follow_requests").ok().await;
}

#[tokio::test]
async fn follow_request_ends_by_unfollow_or_block() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    alice.update_profile(json!({"locked": true})).ok().await;

    bob.follow(&alice).ok().await;
    let tie = bob.unfollow(&alice).ok().await;
    assert_eq!(tie["requested"], false);

    bob.follow(&alice).ok().await;
    alice.block(&bob).ok().await;
    assert_eq!(alice.get("/api/v1/follow_requests").ok().await, json!([]));
}

#[tokio::test]
async fn limited_account_needs_request_to_follow() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    app.limit(&bob).await;
    assert_eq!(bob.follow(&alice).ok().await["requested"], true);
}
