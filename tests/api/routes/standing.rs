//! Tokens of accounts that cannot be used, on routes that need nobody.

use serde_json::json;

use crate::harness::TestApp;

const PUBLIC: [&str; 8] = [
    "/api/v1/trends/tags",
    "/api/v1/tags/rooks",
    "/api/v1/directory",
    "/api/v1/custom_emojis",
    "/api/v1/peers/search?q=example",
    "/api/v1/instance",
    "/api/v2/instance",
    "/api/v1/instance/rules",
];

#[tokio::test]
async fn suspended_and_disabled_accounts_are_refused_on_public_routes_too() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    app.suspend(&alice).await;
    app.disable(&bob).await;
    for route in PUBLIC {
        for (person, why) in [(&alice, "suspended"), (&bob, "disabled")] {
            assert!(person.get(route).fails(403).await.contains(why), "{route}");
        }
        carol.get(route).ok().await;
        app.anonymous().get(route).ok().await;
    }
    let featured = format!("/api/v1/accounts/{}/featured_tags", carol.id());
    alice.get(&featured).fails(403).await;
    let application = app.application("read").await;
    application.get("/api/v1/trends/tags").ok().await;
    alice.get("/api/v1/nothing").fails(404).await;
    alice.post("/api/v1/apps").json(&json!({ "client_name": "a" })).fails(403).await;
}
