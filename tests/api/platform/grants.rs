//! Token grants cached on SQLite, and their immediate invalidation.

use crate::harness::{Client, TestApp};

const PATH: &str = "/api/v1/accounts/verify_credentials";

/// Statements of a request that needs only the grant.
async fn cost(person: &Client, app: &TestApp) -> u64 {
    app.cost(person.get("/api/v1/preferences").ok()).await.0
}

#[tokio::test]
async fn grant_is_read_once_for_many_requests() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    alice.get(PATH).ok().await;
    app.noted().await;
    let (first, second) = (cost(&alice, &app).await, cost(&alice, &app).await);
    assert_eq!(second + 1, first + app.reread_cost(), "the second request reads it only where other nodes change it");
}

/// Changes of the rows behind a grant, and the status of the next request.
#[tokio::test]
async fn grant_change_takes_effect_in_next_request() {
    for (change, status) in [
        ("UPDATE accounts SET suspended_at = created_at", 403),
        ("UPDATE users SET disabled = TRUE", 403),
        ("UPDATE users SET confirmed_at = NULL", 403),
        ("UPDATE oauth_tokens SET revoked_at = created_at", 401),
        ("DELETE FROM oauth_tokens", 401),
        ("DELETE FROM accounts", 401),
    ] {
        let app = TestApp::new().await;
        let alice = app.account("alice").await;
        alice.get(PATH).ok().await;
        app.noted().await;
        alice.get(PATH).ok().await;
        app.execute(change).await;
        assert_eq!(alice.get(PATH).send().await.status.as_u16(), status, "{change}");
    }
}

#[tokio::test]
async fn grant_change_by_command_takes_effect_once_noticed() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let before = alice.get(PATH).ok().await;
    app.noted().await;
    alice.get(PATH).ok().await;
    app.run(&["user", "set-role", "alice", "Admin"]).await.ok();
    let after = alice.get(PATH).ok().await;
    assert_ne!(before["role"]["permissions"], after["role"]["permissions"]);
    app.run(&["user", "suspend", "alice"]).await.ok();
    assert_eq!(alice.get(PATH).send().await.status.as_u16(), 403);
}
