//! Suspending people, and removing them for good.

use rookery::service::{removal, staff};
use serde_json::{Value, json};

use crate::harness::{Client, TestApp};

const WEBFINGER: &str = "/.well-known/webfinger?resource=acct:alice@example.test";

async fn publish(person: &Client, text: &str) -> Value {
    person.server.tick();
    person.post("/api/v1/statuses").json(&json!({ "status": text })).ok().await
}

fn path(status: &Value, rest: &str) -> String {
    format!("/api/v1/statuses/{}{rest}", status["id"].as_str().unwrap())
}

async fn count(app: &TestApp, sql: &str) -> i64 {
    app.db().fetch_raw::<(i64,)>(sql).await.unwrap()[0].0
}

/// As `rookery user remove`, whose jobs have the time of day and not the test's.
pub async fn remove(app: &TestApp, name: &str) {
    let account = staff::find(&app.app, name).await.unwrap();
    removal::remove(&app.app, &account).await.unwrap();
}

#[tokio::test]
async fn a_suspended_account_is_hidden_and_comes_back_as_it_was() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = publish(&alice, "hello").await;
    bob.post(&format!("/api/v1/accounts/{}/follow", alice.id())).ok().await;
    let said = app.run(&["--json", "user", "suspend", "alice"]).await.json();
    assert_eq!(said, [json!({"username": "alice", "changed": true})]);
    assert_eq!(app.run(&["--json", "user", "suspend", "alice"]).await.json()[0]["changed"], false);
    alice.get("/api/v1/accounts/verify_credentials").fails(403).await;
    bob.get(&path(&status, "")).fails(404).await;
    let account = bob.get(&format!("/api/v1/accounts/{}", alice.id())).ok().await;
    assert_eq!(account["suspended"], true);
    app.anonymous().get(WEBFINGER).ok().await;

    assert_eq!(app.run(&["--json", "user", "unsuspend", "alice"]).await.json()[0]["changed"], true);
    alice.get("/api/v1/accounts/verify_credentials").ok().await;
    assert_eq!(bob.get(&path(&status, "")).ok().await["content"], "<p>hello</p>");
    let account = bob.get(&format!("/api/v1/accounts/{}", alice.id())).ok().await;
    assert_eq!((account.get("suspended"), &account["followers_count"]), (None, &json!(1)));
}

#[tokio::test]
async fn who_is_removed_leaves_nothing_but_the_name() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    for (one, other) in [(&alice, &bob), (&bob, &alice), (&carol, &alice)] {
        one.post(&format!("/api/v1/accounts/{}/follow", other.id())).ok().await;
    }
    let liked = publish(&bob, "liked").await;
    alice.post(&path(&liked, "/favourite")).ok().await;
    alice.post(&path(&liked, "/reblog")).ok().await;
    alice.post("/api/v1/statuses").json(&json!({"status": "a reply", "in_reply_to_id": liked["id"]})).ok().await;
    let mut last = Value::Null;
    for number in 0..60 {
        last = publish(&alice, &format!("number {number} #rooks")).await;
    }
    bob.post(&path(&last, "/reblog")).ok().await;
    app.run_jobs().await;

    assert!(app.run(&["user", "remove", "alice"]).await.fails(2).contains("--yes"), "it must be said");
    remove(&app, "alice").await;
    alice.get("/api/v1/accounts/verify_credentials").fails(401).await;
    bob.get(&path(&last, "")).fails(404).await;
    assert!(app.run(&["user", "unsuspend", "alice"]).await.fails(1).contains("removed for good"));
    app.run_jobs().await;

    let of_alice = |table: &str, column: &str| format!("SELECT COUNT(*) FROM {table} WHERE {column} = {}", alice.id());
    for (table, column) in [
        ("statuses", "account_id"),
        ("users", "account_id"),
        ("favourites", "account_id"),
        ("follows", "account_id"),
        ("follows", "target_account_id"),
        ("notifications", "account_id"),
        ("notifications", "from_account_id"),
        ("oauth_tokens", "account_id"),
        ("feed_entries", "owner_id"),
        ("feed_entries", "author_id"),
    ] {
        assert_eq!(count(&app, &of_alice(table, column)).await, 0, "{table}.{column}");
    }
    assert_eq!(count(&app, "SELECT COUNT(*) FROM jobs WHERE kind = 'remove_account'").await, 0);
    let liked = bob.get(&path(&liked, "")).ok().await;
    for counter in ["favourites_count", "reblogs_count", "replies_count"] {
        assert_eq!(liked[counter], 0, "{counter}");
    }
    let bob_now = bob.get("/api/v1/accounts/verify_credentials").ok().await;
    assert_eq!((&bob_now["followers_count"], &bob_now["following_count"]), (&json!(0), &json!(0)));
    assert_eq!(bob_now["statuses_count"], 1, "the reblog went with what it was of");
    assert_eq!(app.anonymous().get(WEBFINGER).send().await.status, 410);
    let account = carol.get(&format!("/api/v1/accounts/{}", alice.id())).ok().await;
    assert_eq!((&account["suspended"], &account["display_name"]), (&json!(true), &json!("")));
    assert!(app.run(&["user", "create", "Alice"]).await.fails(1).contains("taken"), "nobody else gets the name");
}
