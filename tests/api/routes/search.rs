//! <https://docs.joinmastodon.org/methods/search/>

use serde_json::json;

use crate::harness::TestApp;
use crate::platform::contract;

#[tokio::test]
async fn accounts_and_hashtags_are_found_by_their_beginning() {
    let app = TestApp::new().await;
    let [alice, _bob] = app.accounts(["alice", "bobby"]).await;
    alice.publish("#Rook #Rookery #Other").await;

    let found = alice.get("/api/v2/search?q=rook").ok().await;
    contract::check("Search", &found);
    let names: Vec<&str> =
        found["hashtags"].as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Rook", "Rookery"], "the exact one first");
    assert_eq!(found["hashtags"][0]["history"][0]["uses"], "1");
    assert_eq!(found["hashtags"][0]["following"], false);
    assert_eq!(
        alice.get("/api/v2/search?q=@bobby&type=accounts&resolve=true").ok().await["accounts"][0]["acct"],
        "bobby"
    );
    assert_eq!(
        alice.get("/api/v2/search?q=bob&type=nonsense").ok().await,
        json!({"accounts": [], "statuses": [], "hashtags": []})
    );
}

#[tokio::test]
async fn hashtags_are_found_and_counted_by_public_statuses() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let write = async |visibility: &str| {
        app.tick();
        let status = json!({"status": "#secrets", "visibility": visibility});
        alice.publish(&status).await["id"].as_str().unwrap().to_owned()
    };
    let found = async || alice.get("/api/v2/search?q=secr&type=hashtags").ok().await["hashtags"].clone();
    let featured = async || {
        let tags = alice.get(&format!("/api/v1/accounts/{}/featured_tags", alice.id())).ok().await;
        tags[0]["statuses_count"].clone()
    };
    let hidden = [write("private").await, write("direct").await];
    assert_eq!(found().await, json!([]));
    alice.post("/api/v1/featured_tags").json(&json!({ "name": "secrets" })).ok().await;

    write("private").await;
    assert_eq!(featured().await, "0");
    let public = write("public").await;
    assert_eq!(found().await[0]["history"][0], json!({"day": "1768435200", "uses": "1", "accounts": "1"}));
    assert_eq!(featured().await, "1");

    for id in hidden {
        alice.delete_status(&id).ok().await;
    }
    assert_eq!(featured().await, "1");
    alice.delete_status(&public).ok().await;
    assert_eq!((found().await, featured().await), (json!([]), json!("0")));
}

#[tokio::test]
async fn local_address_resolves_to_account_or_status() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = alice.publish_to("private", "x").await;
    let url = status["url"].as_str().unwrap();

    let own = alice.get(&format!("/api/v2/search?resolve=true&q={url}")).ok().await;
    assert_eq!(own["statuses"][0]["id"], status["id"]);
    let hidden = bob.get(&format!("/api/v2/search?resolve=true&q={url}")).ok().await;
    assert_eq!(hidden["statuses"], json!([]));
    let profile = bob.get("/api/v2/search?resolve=true&q=https://example.test/@alice").ok().await;
    assert_eq!(profile["accounts"][0]["acct"], "alice");
}

#[tokio::test]
async fn malformed_search_is_refused() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    alice.get("/api/v2/search").fails(400).await;
    alice.get("/api/v2/search?q=%20").fails(400).await;
    alice.get("/api/v2/search?q=x&limit=-1").fails(400).await;
    alice.get("/api/v2/search?q=x&account_id=1").fails(404).await;
    alice.get("/api/v2/search?q=from:nobody").fails(404).await;
    alice.get("/api/v2/search?q=colour:red").fails(422).await;
    alice.get("/api/v2/search?q=from:me&offset=-1").ok().await;
    app.anonymous().get("/api/v2/search?q=alice&offset=0").fails(401).await;
    app.anonymous().get("/api/v2/search?q=alice&resolve=true").fails(401).await;
    assert_eq!(app.anonymous().get("/api/v2/search?q=alic").ok().await["accounts"], json!([]));
    assert_eq!(app.anonymous().get("/api/v2/search?q=alice").ok().await["accounts"][0]["acct"], "alice");
    alice.with_scopes("write").await.get("/api/v2/search?q=x").fails(403).await;
}
