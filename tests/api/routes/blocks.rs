//! <https://docs.joinmastodon.org/methods/blocks/>

use serde_json::json;

use crate::harness::TestApp;

#[tokio::test]
async fn blocks_are_paged_newest_first() {
    let app = TestApp::core().await;
    let [alice, bob, carol, dave] = app.accounts(["alice", "bob", "carol", "dave"]).await;
    for target in [&bob, &carol, &dave] {
        app.tick();
        alice.block(&target).ok().await;
    }

    let first = alice.get("/api/v1/blocks?limit=2").send().await;
    let names = |json: &serde_json::Value| -> Vec<String> {
        json.as_array().unwrap().iter().map(|account| account["acct"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&first.json()), ["dave", "carol"]);
    let next = first.header("link").split('<').nth(1).unwrap().split('>').next().unwrap().to_owned();
    let rest = alice.get(next.strip_prefix("https://example.test").unwrap()).send().await;
    assert_eq!(names(&rest.json()), ["bob"]);
    assert!(!rest.header("link").contains("rel=\"next\""));

    app.suspend(&dave).await;
    assert_eq!(names(&alice.get("/api/v1/blocks").ok().await), ["carol", "bob"]);
    assert_eq!(bob.get("/api/v1/blocks").ok().await, json!([]));
}

#[tokio::test]
async fn blocks_are_private_to_their_owner() {
    let app = TestApp::core().await;
    let alice = app.account("alice").await;
    app.anonymous().get("/api/v1/blocks").fails(401).await;
    alice.with_scopes("read:mutes").await.get("/api/v1/blocks").fails(403).await;
    app.application("read").await.get("/api/v1/blocks").fails(422).await;
    alice.get("/api/v1/blocks?max_id=x").fails(400).await;
    assert_eq!(alice.get("/api/v1/blocks?limit=x").ok().await, json!([]));
}
