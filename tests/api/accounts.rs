//! <https://docs.joinmastodon.org/methods/accounts/>

use crate::harness::TestApp;

#[tokio::test]
async fn a_new_account_has_an_empty_profile() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;

    let account = app.anonymous().get(&format!("/api/v1/accounts/{}", alice.id())).ok().await;

    assert_eq!(account["acct"], "alice");
    assert_eq!(account["url"], "https://example.test/@alice");
    assert_eq!(account["created_at"], "2026-01-15T00:00:00.000Z");
    assert_eq!(account["statuses_count"], 0);
}

#[tokio::test]
async fn an_id_that_is_none_is_not_found() {
    let app = TestApp::new().await;
    for id in ["0", "nonsense", "99999999999999999999"] {
        app.anonymous().get(&format!("/api/v1/accounts/{id}")).fails(404).await;
    }
}

#[tokio::test]
async fn a_new_account_gets_its_signing_key_by_a_job() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    app.run_jobs().await;

    let keys: Vec<(String, String)> = app
        .db()
        .fetch_raw(&format!("SELECT public_key, private_key FROM accounts WHERE id = {}", alice.id()))
        .await
        .unwrap();

    assert!(keys[0].0.starts_with("-----BEGIN PUBLIC KEY-----"));
    assert!(keys[0].1.starts_with("-----BEGIN PRIVATE KEY-----"));
}
