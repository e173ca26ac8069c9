//! Suspension and permanent removal of accounts.

use chrono::Duration;
use serde_json::{Value, json};
use service::{removal, staff};

use crate::harness::{Client, Published, TestApp};
use crate::routes::domain_blocks::block;
use crate::routes::media::png;
use crate::seed::Seed;

const WEBFINGER: &str = "/.well-known/webfinger?resource=acct:alice@example.test";

const GROUPS: &str = "SELECT COUNT(*) FROM
    (SELECT DISTINCT account_id, group_key FROM notifications WHERE group_key IS NOT NULL) members";

/// As `rookery user remove`. Its jobs are queued with the system clock; advances the clock until they are due.
pub async fn remove(app: &TestApp, name: &str) {
    let account = staff::find(&app.app, name).await.unwrap();
    removal::remove(&app.app, &model::Staff::operator(), &account).await.unwrap();
    app.app.clock.advance(Duration::minutes(2));
}

#[tokio::test]
async fn suspended_account_is_hidden_and_restored() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = alice.publish("hello").await;
    bob.follow(&alice).ok().await;
    let said = app.run(&["--json", "user", "suspend", "alice"]).await.json();
    assert_eq!((&said[0]["acct"], &said[0]["action"]), (&json!("alice"), &json!("suspend")));
    let again = app.run(&["user", "suspend", "alice"]).await.fails(1);
    assert!(again.contains("@alice is suspended already"), "{again}");
    alice.get("/api/v1/accounts/verify_credentials").fails(403).await;
    bob.status(&status).fails(404).await;
    let account = bob.get(&format!("/api/v1/accounts/{}", alice.id())).ok().await;
    assert_eq!(account["suspended"], true);
    app.anonymous().get(WEBFINGER).ok().await;

    assert_eq!(app.run(&["user", "unsuspend", "alice"]).await.ok(), "@alice: unsuspend is done.");
    alice.get("/api/v1/accounts/verify_credentials").ok().await;
    assert_eq!(bob.status(&status).ok().await["content"], "<p>hello</p>");
    let account = bob.get(&format!("/api/v1/accounts/{}", alice.id())).ok().await;
    assert_eq!((account.get("suspended"), &account["followers_count"]), (None, &json!(1)));
}

/// A server on which Alice and the others took every action before she was removed.
struct Past {
    app: TestApp,
    alice: Client,
    bob: Client,
    carol: Client,
    /// Bob's; Alice favourited, reblogged, replied to and quoted it.
    liked: Published,
    /// Bob's, with a poll in which Alice and Carol voted.
    asked: Published,
    /// Alice's latest, reblogged by Bob.
    last: Value,
    /// Alice's, with Bob as a member.
    list: String,
    /// Carol's, which quotes Alice.
    of_carol: Published,
}

impl Past {
    async fn new() -> Self {
        let app = TestApp::new().await;
        let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
        for (one, other) in [(&alice, &bob), (&bob, &alice), (&carol, &alice)] {
            one.follow(other).ok().await;
        }
        let liked = bob.publish("liked").await;
        alice.favourite(&liked).ok().await;
        alice.reblog(&liked).ok().await;
        alice.reply(&liked, "a reply").await;
        let poll = json!({"options": ["a", "b"], "expires_in": 600, "multiple": true});
        let asked = bob.publish(json!({"status": "which?", "poll": poll})).await;
        let votes = format!("/api/v1/polls/{}/votes", asked["poll"]["id"].as_str().unwrap());
        alice.post(&votes).json(&json!({"choices": [0, 1]})).ok().await;
        carol.post(&votes).json(&json!({"choices": [1]})).ok().await;
        alice.publish(json!({"status": "later", "scheduled_at": "2027-01-01T00:00:00Z", "poll": poll})).await;
        let mut last = Value::Null;
        for number in 0..60 {
            last = alice.publish(&format!("number {number} #rooks")).await.into_json();
        }
        bob.reblog(&last).ok().await;
        // Fill the feeds now: statuses published before the list do not notify.
        app.run_jobs().await;
        let list = list_and_tag(&app, [&alice, &bob, &carol]).await;
        let quote = alice.publish(&format!("QT {}", liked["url"].as_str().unwrap())).await;
        let of_carol = carol.publish(&format!("QT {}", quote["url"].as_str().unwrap())).await;
        sever(&app, &alice).await;
        write_to_one_another([&alice, &bob, &carol]).await;
        let filter = json!({"title": "a", "context": ["home"], "keywords_attributes": [{"keyword": "b"}]});
        alice.post("/api/v2/filters").json(&filter).ok().await;
        app.run_jobs().await;
        for (one, other) in [(&alice, &bob), (&bob, &alice), (&carol, &bob)] {
            one.delete(&format!("/api/v1/suggestions/{}", other.id())).ok().await;
        }
        remove(&app, "alice").await;
        Self { app, alice, bob, carol, liked, asked, last, list, of_carol }
    }
}

/// Creates lists, a notification of one, and hashtags that Alice follows and features; returns her list.
async fn list_and_tag(app: &TestApp, [alice, bob, carol]: [&Client; 3]) -> String {
    let list = alice.make_list_with(json!({"title": "gone", "notify": true})).await;
    let others = carol.make_list_with(json!({"title": "left", "exclusive": true})).await;
    alice.add_to_list(&list, &[bob]).ok().await;
    carol.add_to_list(&others, &[alice]).ok().await;
    app.run_jobs().await;
    bob.publish("listed").await;
    alice.post("/api/v1/tags/rooks/follow").ok().await;
    alice.post("/api/v1/featured_tags").json(&json!({"name": "rooks"})).ok().await;
    app.run_jobs().await;
    assert_eq!(app.count("list_notices").await, 1);
    list
}

/// Alice blocks the domain of an account that she follows.
async fn sever(app: &TestApp, alice: &Client) {
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let far = seed.account("far", Some("far.test"));
    seed.follow(alice.id().into(), far);
    seed.write(app.db()).await;
    block(alice, "far.test").await;
    app.run_jobs().await;
    assert_eq!(app.count("account_severances").await, 1);
}

/// Direct messages, one of them accepted from a notification request.
async fn write_to_one_another([alice, bob, carol]: [&Client; 3]) {
    for person in [alice, bob, carol] {
        person.patch("/api/v2/notifications/policy").json(&json!({"for_not_followers": "filter"})).ok().await;
    }
    for (one, other) in [(alice, carol), (alice, bob), (carol, alice)] {
        one.publish_to("direct", &format!("@{} psst", other.name)).await;
    }
    let requests = carol.get("/api/v1/notifications/requests").ok().await;
    let accept = format!("/api/v1/notifications/requests/{}/accept", requests[0]["id"].as_str().unwrap());
    carol.post(&accept).ok().await;
}

#[tokio::test]
async fn removed_account_leaves_no_rows() {
    let past = Past::new().await;
    let app = &past.app;
    app.run_jobs().await;

    let groups = app.count("notification_groups").await;
    assert_eq!(groups, app.number(GROUPS).await, "none is empty");
    for (table, column) in [
        ("statuses", "account_id"),
        ("users", "account_id"),
        ("favourites", "account_id"),
        ("follows", "account_id"),
        ("follows", "target_account_id"),
        ("notifications", "account_id"),
        ("notifications", "from_account_id"),
        ("notification_groups", "account_id"),
        ("notification_policies", "account_id"),
        ("notification_permissions", "from_account_id"),
        ("notification_requests", "account_id"),
        ("notification_requests", "from_account_id"),
        ("oauth_tokens", "account_id"),
        ("poll_votes", "account_id"),
        ("saved_drafts", "account_id"),
        ("scheduled_statuses", "account_id"),
        ("feed_entries", "owner_id"),
        ("lists", "account_id"),
        ("list_accounts", "account_id"),
        ("list_notices", "account_id"),
        ("tag_follows", "account_id"),
        ("featured_tags", "account_id"),
        ("filters", "account_id"),
        ("account_domain_blocks", "account_id"),
        ("account_severances", "account_id"),
    ] {
        assert_eq!(app.count(&format!("{table} WHERE {column} = {}", past.alice.id())).await, 0, "{table}.{column}");
    }
    assert_eq!(app.count(&format!("feed_entries WHERE kind = 1 AND owner_id = {}", past.list)).await, 0);
    assert_eq!(app.count("filter_keywords").await, 0);
    assert_eq!(app.count("suggestion_dismissals").await, 1, "one is between others");
    assert_eq!(app.count("jobs WHERE kind = 'remove_account'").await, 0);
    assert_eq!(app.count("status_references").await, 0);
}

#[tokio::test]
async fn removed_account_is_no_longer_counted() {
    let Past { app, bob, carol, liked, asked, of_carol, .. } = Past::new().await;
    app.run_jobs().await;

    let liked = bob.status(&liked).ok().await;
    for counter in ["favourites_count", "reblogs_count", "replies_count", "status_referred_by_count", "quotes_count"] {
        assert_eq!(liked[counter], 0, "{counter}");
    }
    let of_carol = carol.status(&of_carol).ok().await;
    assert_eq!((of_carol.get("quote_id"), &of_carol["status_references_count"]), (None, &json!(0)));
    let poll = bob.status(&asked).ok().await["poll"].clone();
    assert_eq!((&poll["votes_count"], &poll["voters_count"]), (&json!(1), &json!(1)), "Carol's is left");
    let bob_now = bob.get("/api/v1/accounts/verify_credentials").ok().await;
    assert_eq!((&bob_now["followers_count"], &bob_now["following_count"]), (&json!(0), &json!(0)));
    assert_eq!(bob_now["statuses_count"], 3, "the reblog is deleted with its original");
}

#[tokio::test]
async fn removed_account_leaves_only_its_name() {
    let Past { app, alice, bob, carol, last, .. } = Past::new().await;
    alice.get("/api/v1/accounts/verify_credentials").fails(401).await;
    bob.status(&last).fails(404).await;
    assert!(app.run(&["user", "unsuspend", "alice"]).await.fails(1).contains("removed for good"));
    app.run_jobs().await;

    assert_eq!(app.anonymous().get(WEBFINGER).send().await.status, 410);
    let account = carol.get(&format!("/api/v1/accounts/{}", alice.id())).ok().await;
    assert_eq!((&account["suspended"], &account["display_name"]), (&json!(true), &json!("")));
    assert!(app.run(&["user", "create", "Alice"]).await.fails(1).contains("taken"), "the name stays reserved");

    let version = format!("SELECT version FROM accounts WHERE id = {}", alice.id());
    let before = app.number(&version).await;
    remove(&app, "alice").await;
    app.run_jobs().await;
    assert_eq!(app.number(&version).await, before, "there is nothing left to remove");
}

#[tokio::test]
async fn removal_by_command_must_be_confirmed() {
    let app = TestApp::new().await;
    app.account("alice").await;
    assert!(app.run(&["user", "remove", "alice"]).await.fails(2).contains("--yes"), "it needs a confirmation");
}

#[tokio::test]
async fn pictures_are_deleted_with_their_author() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let upload = || alice.upload(&png(8, 8));
    let (shown, loose) = (upload().ok().await, upload().ok().await);
    alice.publish(json!({"status": "look", "media_ids": [shown["id"]]})).await;
    let paths = [&shown, &loose].map(|media| {
        let url = media["url"].as_str().unwrap();
        url[url.find("/media/").unwrap()..].to_owned()
    });
    for path in &paths {
        assert_eq!(app.anonymous().get(path).send().await.status, 200);
    }
    remove(&app, "alice").await;
    app.run_jobs().await;
    for path in &paths {
        assert_eq!(app.anonymous().get(path).send().await.status, 404, "{path}");
    }
    assert_eq!(app.count("media_attachments").await, 0);
}

#[tokio::test]
async fn removed_pending_account_frees_its_name() {
    let app = TestApp::new().await;
    app.run(&["user", "create", "spammer", "--unapproved"]).await.ok();
    remove(&app, "spammer").await;
    assert_eq!(app.count("accounts").await, 0);
    assert_eq!(app.count("jobs WHERE kind = 'remove_account'").await, 0);
    app.run(&["user", "create", "spammer"]).await.ok();
}
