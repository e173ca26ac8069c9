//! The own account and the heads of statuses cached on SQLite, and their immediate invalidation.

use serde_json::json;

use crate::harness::TestApp;

const OWN: &str = "/api/v1/accounts/verify_credentials";

#[tokio::test]
async fn own_account_is_shown_up_to_date() {
    let app = TestApp::new().await;
    let (alice, bob) = (app.account("alice").await, app.account("bob").await);
    alice.update_profile(json!({"locked": true})).ok().await;
    let first = alice.get(OWN).ok().await;
    assert_eq!(alice.get(OWN).ok().await, first);
    assert_eq!(first["source"]["follow_requests_count"], 0);
    bob.follow(&alice).ok().await;
    assert_eq!(alice.get(OWN).ok().await["source"]["follow_requests_count"], 1);
    alice.publish("one").await;
    assert_eq!(alice.get(OWN).ok().await["statuses_count"], 1);
    app.execute("UPDATE users SET preferences = '{\"default_sensitive\": true}'").await;
    assert_eq!(alice.get(OWN).ok().await["source"]["sensitive"], true);
}

/// Changes of the rows behind a head, and whether a stranger still sees the status.
#[tokio::test]
async fn status_is_hidden_in_next_request() {
    for (change, seen) in [
        ("UPDATE statuses SET favourites_count = 7", true),
        ("UPDATE statuses SET visibility = 'direct'", false),
        ("UPDATE accounts SET suspended_at = created_at WHERE username = 'alice'", false),
        ("DELETE FROM statuses", false),
    ] {
        let app = TestApp::new().await;
        let (alice, bob) = (app.account("alice").await, app.account("bob").await);
        let status = alice.publish("one").await;
        let path = format!("/api/v1/statuses/{}", status["id"].as_str().unwrap());
        for _ in 0..2 {
            assert_eq!(bob.get(&path).ok().await["favourites_count"], 0);
        }
        app.execute(change).await;
        if seen {
            assert_eq!(bob.get(&path).ok().await["favourites_count"], 7);
        } else {
            bob.get(&path).fails(404).await;
        }
    }
}
