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

#[tokio::test]
async fn accounts_are_listed_by_id() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;

    let path = format!("/api/v1/accounts?id[]={}&id[]={}&id[]=1&id[]={}", alice.id(), bob.id(), bob.id());
    assert_eq!(app.anonymous().get(&path).ok().await.as_array().unwrap().len(), 2);

    let many: String = (1..=41).map(|id| format!("id[]={id}&")).collect();
    app.anonymous().get(&format!("/api/v1/accounts?{many}")).fails(422).await;
    app.anonymous().get("/api/v1/accounts").fails(400).await;
}

#[tokio::test]
async fn followers_are_listed_as_far_as_the_viewer_may_know() {
    let app = TestApp::new().await;
    let [alice, bob, carol, dave] = app.accounts(["alice", "bob", "carol", "dave"]).await;
    for follower in [&bob, &carol] {
        follower.post(&format!("/api/v1/accounts/{}/follow", alice.id())).ok().await;
    }
    let followers = format!("/api/v1/accounts/{}/followers", alice.id());
    let names = |json: serde_json::Value| -> Vec<String> {
        json.as_array().unwrap().iter().map(|account| account["acct"].as_str().unwrap().to_owned()).collect()
    };

    assert_eq!(names(app.anonymous().get(&followers).ok().await), ["carol", "bob"]);
    assert_eq!(names(bob.get(&format!("/api/v1/accounts/{}/following", bob.id())).ok().await), ["alice"]);

    dave.post(&format!("/api/v1/accounts/{}/mute", carol.id())).ok().await;
    assert_eq!(names(dave.get(&followers).ok().await), ["bob"]);
    let page = dave.get(&format!("{followers}?limit=1")).send().await;
    assert_eq!(page.json(), serde_json::json!([]));
    assert!(page.header("link").contains("rel=\"next\""), "a page that lost an entry still links on");

    let path = |client: &crate::harness::Client| format!("/api/v1/accounts/{}/block", client.id());
    alice.post(&path(&dave)).ok().await;
    assert_eq!(names(dave.get(&followers).ok().await), Vec::<String>::new());

    let hide = format!("UPDATE accounts SET hide_collections = TRUE WHERE id = {}", alice.id());
    app.db().execute_raw(&hide).await.unwrap();
    assert_eq!(names(bob.get(&followers).ok().await), Vec::<String>::new());
    assert_eq!(names(alice.get(&followers).ok().await), ["carol", "bob"]);

    let suspend = format!("UPDATE accounts SET suspended_at = created_at WHERE id = {}", alice.id());
    app.db().execute_raw(&suspend).await.unwrap();
    assert_eq!(names(bob.get(&followers).ok().await), Vec::<String>::new());
    bob.get("/api/v1/accounts/1/followers").fails(404).await;
}

#[tokio::test]
async fn a_suspended_account_shows_nothing_of_its_own() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let suspend = format!(
        "UPDATE accounts SET suspended_at = created_at, display_name = 'Alice', note_html = '<p>x</p>', locked = TRUE WHERE id = {}",
        alice.id()
    );
    app.db().execute_raw(&suspend).await.unwrap();

    let account = app.anonymous().get(&format!("/api/v1/accounts/{}", alice.id())).ok().await;
    assert_eq!(account["suspended"], true);
    assert_eq!((&account["display_name"], &account["note"]), (&"".into(), &"".into()));
    assert_eq!(account["locked"], false);
    alice.get(&format!("/api/v1/accounts/{}", alice.id())).fails(403).await;
}
