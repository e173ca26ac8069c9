//! Notification policies, and the requests of filtered senders.

use chrono::Duration;
use model::NotificationType as Type;
use serde_json::{Value, json};

use super::notifications::{index, notice, notify, status, types};
use crate::harness::{Client, TestApp};
use crate::platform::contract;

pub(super) const POLICY: &str = "/api/v2/notifications/policy";
pub(super) const REQUESTS: &str = "/api/v1/notifications/requests";

pub(super) async fn set(person: &Client, policy: Value) -> Value {
    let answer = person.patch(POLICY).json(&policy).ok().await;
    contract::check("NotificationPolicy", &answer);
    answer
}

pub(super) async fn requests(person: &Client, query: &str) -> Vec<Value> {
    let page = person.get(&format!("{REQUESTS}{query}")).ok().await;
    contract::check("NotificationRequest[]", &page);
    page.as_array().unwrap().clone()
}

pub(super) fn on(request: &Value, action: &str) -> String {
    format!("{REQUESTS}/{}{action}", request["id"].as_str().unwrap())
}

pub(super) async fn merged(person: &Client) -> bool {
    let answer = person.get(&format!("{REQUESTS}/merged")).ok().await;
    contract::check("NotificationRequestsMerged", &answer);
    answer["merged"].as_bool().unwrap()
}

pub(super) fn summary(policy: &Value) -> (i64, i64) {
    let number = |name: &str| policy["summary"][name].as_i64().unwrap();
    (number("pending_requests_count"), number("pending_notifications_count"))
}

#[tokio::test]
async fn policy_is_changed_in_both_forms() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let usual = alice.get(POLICY).ok().await;
    contract::check("NotificationPolicy", &usual);
    for (name, value) in [
        ("for_not_following", "accept"),
        ("for_not_followers", "accept"),
        ("for_new_accounts", "accept"),
        ("for_private_mentions", "filter"),
        ("for_limited_accounts", "filter"),
    ] {
        assert_eq!(usual[name], value, "{name}");
    }

    let changed = set(&alice, json!({"for_new_accounts": "drop"})).await;
    assert_eq!((&changed["for_new_accounts"], &changed["for_private_mentions"]), (&json!("drop"), &json!("filter")));
    let v1 = "/api/v1/notifications/policy";
    let shown = alice.get(v1).ok().await;
    contract::check("V1_NotificationPolicy", &shown);
    assert_eq!((&shown["filter_new_accounts"], &shown["filter_not_following"]), (&json!(true), &json!(false)));
    alice.put(v1).form(&[("filter_new_accounts", "false"), ("filter_not_followers", "1")]).ok().await;
    let shown = alice.get(POLICY).ok().await;
    assert_eq!((&shown["for_new_accounts"], &shown["for_not_followers"]), (&json!("accept"), &json!("filter")));
    alice.put(POLICY).json(&json!({})).ok().await;
    assert_eq!(alice.get(POLICY).ok().await, shown, "omitted values stay");
    assert_eq!(bob.get(POLICY).ok().await, usual);

    let refused = alice.patch(POLICY).json(&json!({"for_not_following": "hide"})).fails(422).await;
    assert!(refused.contains("for_not_following"), "{refused}");
    assert_eq!(alice.get(POLICY).ok().await, shown);
}

#[tokio::test]
async fn each_kind_of_sender_is_filtered_or_dropped() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let own = status(&alice, "public").await;
    let heard = async || notify(&app, &[notice(&app, Type::Favourite, &bob, &alice, Some(own))]).await;
    let kept = async || index(&alice, "?include_filtered=true").await.len();
    for name in ["for_not_following", "for_not_followers", "for_new_accounts"] {
        set(&alice, json!({name: "filter"})).await;
        let before = kept().await;
        assert_eq!((heard().await, kept().await), (0, before + 1), "{name} is filtered");
        set(&alice, json!({name: "drop"})).await;
        assert_eq!((heard().await, kept().await), (0, before + 1), "{name} is dropped");
        set(&alice, json!({name: "accept"})).await;
        assert_eq!(heard().await, 1);
    }

    set(&alice, json!({"for_new_accounts": "drop", "for_not_followers": "drop"})).await;
    bob.follow(&alice).ok().await;
    assert_eq!(heard().await, 0, "a follower of today, a new account");
    app.app.clock.advance(Duration::days(4));
    assert_eq!(heard().await, 0, "a new account");
    app.app.clock.advance(Duration::days(30));
    assert_eq!(heard().await, 1);

    set(&alice, json!({"for_not_following": "filter"})).await;
    assert_eq!(heard().await, 0);
    assert_eq!(notify(&app, &[notice(&app, Type::Update, &bob, &alice, Some(own))]).await, 1, "not of all types");
    alice.follow(&bob).ok().await;
    assert_eq!(heard().await, 1);
}

#[tokio::test]
async fn notification_batch_follows_policy_of_each_recipient() {
    let app = TestApp::new().await;
    let [alice, bob, carol, dave] = app.accounts(["alice", "bob", "carol", "dave"]).await;
    set(&alice, json!({"for_not_following": "drop"})).await;
    set(&carol, json!({"for_not_following": "filter"})).await;
    bob.publish("@alice @carol @dave hello").await;

    assert!(index(&alice, "?include_filtered=true").await.is_empty());
    assert_eq!(index(&carol, "?include_filtered=true").await[0]["filtered"], true);
    assert_eq!(types(&index(&dave, "").await), ["mention"]);
    assert_eq!((requests(&alice, "").await.len(), requests(&carol, "").await.len()), (0, 1));
}

#[tokio::test]
async fn private_mentions_pass_as_replies() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    bob.publish_to("direct", "@alice psst").await;
    assert!(index(&alice, "").await.is_empty());
    assert_eq!(requests(&alice, "").await[0]["notifications_count"], "1");
    bob.publish("@alice in public").await;
    assert_eq!(types(&index(&alice, "").await), ["mention"]);

    let question = alice.publish_to("direct", "@bob what is it?").await;
    let answer =
        bob.publish(json!({"status": "@alice this", "visibility": "direct", "in_reply_to_id": question["id"]})).await;
    assert_eq!(types(&index(&alice, "").await), ["mention", "mention"]);
    bob.publish(json!({"status": "@alice and that", "visibility": "direct", "in_reply_to_id": answer["id"]})).await;
    assert_eq!(index(&alice, "").await.len(), 3, "further down the thread");
    let open = alice.publish("@bob in public").await;
    bob.publish(json!({"status": "@alice psst", "visibility": "direct", "in_reply_to_id": open["id"]})).await;
    assert_eq!(index(&alice, "").await.len(), 3, "not a reply to a private one");
    assert_eq!(requests(&alice, "").await[0]["notifications_count"], "2");
}

#[tokio::test]
async fn old_notifications_are_deleted_in_parts() {
    let app = TestApp::with(&[("ROOKERY_NOTIFICATIONS_RETENTION_DAYS", "30")]).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    worker::cron::schedule(&app.app).await.unwrap();
    let own = status(&alice, "public").await;
    set(&alice, json!({"for_private_mentions": "filter"})).await;
    bob.publish_to("direct", "@alice psst").await;
    for _ in 0..12 {
        let batch: Vec<_> = (0..100).map(|_| notice(&app, Type::Favourite, &bob, &alice, Some(own))).collect();
        notify(&app, &batch).await;
    }
    let counts = async || {
        let text = "SELECT (SELECT COUNT(*) FROM notifications), (SELECT COUNT(*) FROM notification_groups),
                           (SELECT COUNT(*) FROM notification_requests)";
        app.db().fetch_raw::<(i64, i64, i64)>(text).await.unwrap()[0]
    };
    app.run_jobs().await;
    assert_eq!(counts().await, (1_201, 1, 1));
    app.app.clock.advance(Duration::days(29));
    app.run_jobs().await;
    assert_eq!(counts().await, (1_201, 1, 1));

    app.app.clock.advance(Duration::days(2));
    notify(&app, &[notice(&app, Type::Follow, &bob, &alice, None)]).await;
    app.run_jobs().await;

    assert_eq!(counts().await, (1, 1, 0));
    assert_eq!(types(&index(&alice, "").await), ["follow"]);
}
