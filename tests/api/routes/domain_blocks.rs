//! <https://docs.joinmastodon.org/methods/domain_blocks/>

use chrono::Duration;
use context::queue::{self, UnmergeDomain};
use serde_json::{Value, json};
use service::notification;

use crate::harness::{Client, TestApp, accts};
use crate::platform::contract;
use crate::seed::{Seed, Status};

const PATH: &str = "/api/v1/domain_blocks";

pub async fn block(person: &Client, domain: &str) -> Value {
    person.server.tick();
    person.post(PATH).form(&[("domain", domain)]).ok().await
}

async fn blocked(person: &Client) -> Value {
    let page = person.get(PATH).ok().await;
    contract::check("string[]", &page);
    page
}

/// Contents of the statuses on a timeline, newest first.
async fn shown(person: &Client, timeline: &str) -> Vec<String> {
    let page = person.get(&format!("/api/v1/timelines/{timeline}")).ok().await;
    page.as_array().unwrap().iter().map(content).collect()
}

fn content(status: &Value) -> String {
    let shown = if status["reblog"].is_null() { status } else { &status["reblog"] };
    shown["content"].as_str().unwrap().replace("<p>", "").replace("</p>", "")
}

#[tokio::test]
async fn domains_are_blocked_in_one_form_and_unblocked() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    assert_eq!(block(&alice, " Far.TEST ").await, json!({}));
    for domain in ["Bücher.example", "near.test:3000", "far.test", "FAR.test/"] {
        block(&alice, domain).await;
    }
    assert_eq!(blocked(&alice).await, json!(["near.test:3000", "xn--bcher-kva.example", "far.test"]));
    assert_eq!(blocked(&bob).await, json!([]));

    let page = alice.get(&format!("{PATH}?limit=2")).send().await;
    assert_eq!(page.json(), json!(["near.test:3000", "xn--bcher-kva.example"]));
    assert!(page.header("link").contains("since_id="), "{}", page.header("link"));
    let next = page.header("link").split('>').next().unwrap().trim_start_matches("<https://example.test").to_owned();
    assert_eq!(alice.get(&next).ok().await, json!(["far.test"]));

    assert_eq!(alice.delete(&format!("{PATH}?domain=B%C3%9CCHER.example")).ok().await, json!({}));
    for domain in ["bücher.example", "never.test", "no domain", "far.test"] {
        alice.delete(PATH).json(&json!({ "domain": domain })).ok().await;
    }
    assert_eq!(blocked(&alice).await, json!(["near.test:3000"]));
}

#[tokio::test]
async fn domain_block_of_own_or_malformed_domain_is_refused() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let label = "a".repeat(64);
    let long = format!("{}test", "aaaa.".repeat(51));
    for domain in ["", " ", "a b", "a/b", "user@far.test", "a..test", ".test", "a:b", &label, &long, "EXAMPLE.test"] {
        let refused = alice.post(PATH).json(&json!({ "domain": domain })).fails(422).await;
        assert!(refused.contains("Domain"), "{domain}: {refused}");
        alice.get(&format!("{PATH}/preview?domain={}", domain.replace(' ', "%20"))).fails(422).await;
    }
    alice.post(PATH).fails(422).await;
    alice.delete(PATH).fails(400).await;
    alice.get(&format!("{PATH}/preview")).fails(400).await;
    assert_eq!(blocked(&alice).await, json!([]));
}

/// Alice, with many relationships with far.test and some with other.test.
struct Flock {
    app: TestApp,
    alice: Client,
    bob: Client,
    list: i64,
    /// Account of far.test that she follows.
    followed: i64,
    /// Account of other.test that she follows.
    other: i64,
}

impl Flock {
    async fn new() -> Self {
        let app = TestApp::new().await;
        let [alice, bob] = app.accounts(["alice", "bob"]).await;
        app.run_jobs().await;
        let (me, friend) = (i64::from(alice.id()), i64::from(bob.id()));
        let mut seed = Seed::new(app.db().engine(), "example.test");
        let [far, mutual, fan, asked, asking] =
            ["far", "mutual", "fan", "asked", "asking"].map(|name| seed.account(name, Some("far.test")));
        let other = seed.account("other", Some("other.test"));
        for followed in [far, mutual, other, friend] {
            seed.follow(me, followed);
        }
        for follower in [mutual, fan, other] {
            seed.follow(follower, me);
        }
        seed.follow_request(me, asked);
        seed.follow_request(asking, me);
        seed.endorse(me, far);
        seed.endorse(me, other);
        let list = seed.list(me, "list");
        for member in [far, asked, other] {
            seed.list_member(list, member);
        }
        for author in [far, other] {
            let text = if author == far { "from far" } else { "from other" };
            let status = seed.status(&Status { author, text, local: false, ..Status::default() });
            let reblog =
                seed.status(&Status { author: friend, reblog_of: Some(status), text: "", ..Status::default() });
            seed.home(me, status, None);
            seed.home(me, reblog, Some(status));
            seed.listed(list, status);
            seed.notification(me, author, "mention", Some(status));
            seed.grouped_notification(me, author, "reblog", Some(status));
            seed.filtered_mention(me, author, status);
            seed.notification_request(me, author);
            let letter =
                seed.status(&Status { author, text: "psst", visibility: "direct", local: false, ..Status::default() });
            seed.mention(letter, me);
            seed.conversation(me, &[friend, author], letter);
        }
        seed.write(app.db()).await;
        app.make_feeds_live().await;
        Self { app, alice, bob, list, followed: far, other }
    }

    async fn relationship(&self, id: i64) -> Value {
        self.alice.get(&format!("/api/v1/accounts/relationships?id[]={id}")).ok().await[0].clone()
    }
}

#[tokio::test]
async fn blocked_domain_is_hidden_immediately() {
    let flock = Flock::new().await;
    let list = format!("list/{}", flock.list);
    assert_eq!(shown(&flock.alice, "home").await.len(), 4);
    block(&flock.alice, "far.test").await;
    assert_eq!(shown(&flock.alice, "home").await, ["from other", "from other"], "reblogs too");
    assert_eq!(shown(&flock.alice, &list).await, ["from other"]);
    assert_eq!(shown(&flock.alice, "public?remote=true").await, ["from other"]);
    let known = shown(&flock.bob, "public?remote=true").await;
    assert_eq!(known.len(), 2, "Bob blocks nothing: {known:?}");
    let relationship = flock.relationship(flock.followed).await;
    assert_eq!((&relationship["domain_blocking"], &relationship["following"]), (&json!(true), &json!(true)));

    flock.alice.delete(PATH).form(&[("domain", "far.test")]).ok().await;
    assert_eq!(shown(&flock.alice, "home").await.len(), 4, "it was not blocked for long enough to lose anything");
    flock.app.run_jobs().await;
    assert_eq!(shown(&flock.alice, "home").await.len(), 4);
    assert_eq!(flock.relationship(flock.followed).await["following"], true);
    assert_eq!(flock.app.count("account_severances").await, 0);
}

#[tokio::test]
async fn domain_block_ends_relationships_and_reports_their_number() {
    let flock = Flock::new().await;
    let alice = &flock.alice;
    let preview = alice.get(&format!("{PATH}/preview?domain=FAR.test")).ok().await;
    contract::check("DomainBlockPreview", &preview);
    assert_eq!(preview, json!({ "following_count": 2, "followers_count": 2 }));
    block(alice, "far.test").await;
    flock.app.run_jobs().await;

    let me = alice.get("/api/v1/accounts/verify_credentials").ok().await;
    assert_eq!((&me["following_count"], &me["followers_count"]), (&json!(2), &json!(1)));
    let of_far = "IN (SELECT id FROM accounts WHERE domain = 'far.test')";
    for (table, column) in [
        ("follows", "account_id"),
        ("follows", "target_account_id"),
        ("follow_requests", "account_id"),
        ("follow_requests", "target_account_id"),
        ("list_accounts", "account_id"),
        ("endorsements", "target_account_id"),
        ("notifications", "from_account_id"),
        ("notification_requests", "from_account_id"),
    ] {
        let left = flock.app.count(&format!("{table} WHERE {column} {of_far}")).await;
        assert_eq!(left, 0, "{table}.{column}");
    }
    let entries = format!(
        "SELECT COUNT(*) FROM feed_entries e JOIN statuses s ON s.id = coalesce(e.original_id, e.status_id) WHERE s.account_id {of_far}"
    );
    assert_eq!(flock.app.number(&entries).await, 0);
    assert_eq!(shown(alice, "home").await, ["from other", "from other"]);
    assert_eq!(accts(&alice.get(&format!("/api/v1/lists/{}/accounts", flock.list)).ok().await), ["other@other.test"]);
    assert_eq!(accts(&alice.get("/api/v1/endorsements").ok().await), ["other@other.test"]);
    let conversations = alice.get("/api/v1/conversations").ok().await;
    assert_eq!(conversations.as_array().unwrap().len(), 1, "{conversations}");
    assert_eq!(alice.get("/api/v1/notifications/requests").ok().await.as_array().unwrap().len(), 1);
    let followed = flock.followed;
    alice.follow(&followed).fails(403).await;
    assert_eq!(flock.relationship(flock.other).await["following"], true);

    told(alice).await;
    let [one, other] = ["fan", "far"]
        .map(|name| format!("SELECT followers_count + following_count FROM accounts WHERE username = '{name}'"));
    assert_eq!((flock.app.number(&one).await, flock.app.number(&other).await), (0, 0));
}

/// Checks that both versions of notifications report two lost follows in each direction.
async fn told(alice: &Client) {
    let page = alice.get("/api/v1/notifications?types[]=severed_relationships").ok().await;
    contract::check("Notification[]", &page);
    let [notification] = page.as_array().unwrap().as_slice() else { panic!("{page}") };
    let event = &notification["event"];
    contract::check("RelationshipSeveranceEvent", event);
    assert_eq!(notification["account"]["acct"], "alice");
    assert_eq!((&event["type"], &event["target_name"]), (&json!("user_domain_block"), &json!("far.test")));
    assert_eq!((&event["following_count"], &event["followers_count"]), (&json!(2), &json!(2)));
    let id = notification["id"].as_str().unwrap();
    assert_eq!(alice.get(&format!("/api/v1/notifications/{id}")).ok().await["event"], *event);

    let grouped = alice.get("/api/v2/notifications?types[]=severed_relationships").ok().await;
    contract::check("GroupedNotificationsResults", &grouped);
    let group = &grouped["notification_groups"][0];
    assert_eq!((&group["event"], &group["group_key"]), (event, &json!(format!("ungrouped-{id}"))));
    assert_eq!(grouped["notification_groups"].as_array().unwrap().len(), 1);
    alice.post(&format!("/api/v1/notifications/{id}/dismiss")).ok().await;
    assert_eq!(alice.get("/api/v1/notifications?types[]=severed_relationships").ok().await, json!([]));
}

#[tokio::test]
async fn domain_block_without_relationships_does_not_notify() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    block(&alice, "far.test").await;
    app.run_jobs().await;
    assert_eq!(alice.get("/api/v1/notifications").ok().await, json!([]));
    assert_eq!(app.count("account_severances").await, 0);
}

#[tokio::test]
async fn many_follows_end_in_batches_with_one_notification() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    app.run_jobs().await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    for n in 0..130 {
        let far = seed.account(&format!("far{n}"), Some("far.test"));
        seed.follow(alice.id().into(), far);
        if n % 2 == 0 {
            seed.follow(far, alice.id().into());
        }
        seed.follow(bob.id().into(), far);
        seed.notification(alice.id().into(), far, "follow", None);
    }
    seed.write(app.db()).await;
    block(&alice, "far.test").await;
    app.run_jobs().await;
    let page = alice.get("/api/v1/notifications").ok().await;
    let [notification] = page.as_array().unwrap().as_slice() else { panic!("{page}") };
    let event = &notification["event"];
    assert_eq!((&event["following_count"], &event["followers_count"]), (&json!(130), &json!(65)));
    let counts = "SELECT following_count + followers_count FROM accounts WHERE username = 'alice'";
    assert_eq!(app.number(counts).await, 0);
    assert_eq!(app.count("follows").await, 130, "Bob's are left");

    app.app.clock.advance(Duration::days(181));
    let mut tx = app.db().begin().await.unwrap();
    notification::delete_old(&app.app, &mut tx).await.unwrap();
    tx.commit().await.unwrap();
    for table in ["account_severances", "notifications"] {
        assert_eq!(app.count(table).await, 0, "{table}");
    }
}

#[tokio::test]
async fn late_job_of_undone_block_does_not_change_feeds() {
    let flock = Flock::new().await;
    let mut tx = flock.app.db().begin().await.unwrap();
    let job = UnmergeDomain { account: flock.alice.id(), domain: "far.test".to_owned() };
    queue::enqueue(&flock.app.app, &mut tx, &job).await.unwrap();
    tx.commit().await.unwrap();
    flock.app.run_jobs().await;
    assert_eq!(shown(&flock.alice, "home").await.len(), 4);
}

#[tokio::test]
async fn blocked_domain_is_not_mentioned() {
    let flock = Flock::new().await;
    block(&flock.alice, "far.test").await;
    let body = json!({ "status": "hello @far@far.test and @other@other.test" });
    let status = flock.alice.publish(&body).await;
    let mentioned: Vec<&str> =
        status["mentions"].as_array().unwrap().iter().map(|mention| mention["acct"].as_str().unwrap()).collect();
    assert_eq!(mentioned, ["other@other.test"]);
}
