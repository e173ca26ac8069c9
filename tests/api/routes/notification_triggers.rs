//! Notifications caused by the actions of others.

use serde_json::json;

use super::notifications::{ids, index, seven, types};
use crate::harness::{Browser, PushService, Site, TestApp};

#[tokio::test]
async fn favourite_and_reblog_notify_and_are_undone() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let id = alice.publish("hello").await["id"].clone();
    bob.favourite(&id).ok().await;
    bob.favourite(&id).ok().await;
    bob.reblog(&id).ok().await;
    alice.favourite(&id).ok().await;

    let page = index(&alice, "").await;
    assert_eq!(types(&page), ["reblog", "favourite"]);
    for notification in &page {
        assert_eq!((&notification["status"]["id"], &notification["account"]["acct"]), (&id, &json!("bob")));
    }

    bob.unfavourite(&id).ok().await;
    assert_eq!(types(&index(&alice, "").await), ["reblog"]);
    bob.unreblog(&id).ok().await;
    assert!(index(&alice, "").await.is_empty());
}

#[tokio::test]
async fn mention_notifies_in_every_visibility() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    alice.patch("/api/v2/notifications/policy").json(&json!({"for_private_mentions": "accept"})).ok().await;
    for visibility in ["public", "unlisted", "private", "direct"] {
        app.tick();
        bob.publish(json!({"status": "@alice hello @alice and @bob", "visibility": visibility})).await;
    }

    let page = index(&alice, "").await;
    assert_eq!(types(&page), ["mention"; 4]);
    assert_eq!(page[0]["status"]["visibility"], "direct");
    assert!(index(&bob, "").await.is_empty());
    assert!(index(&carol, "").await.is_empty());

    carol.block(&bob).ok().await;
    bob.publish("@carol @alice listen").await;
    assert!(index(&carol, "").await.is_empty());
    assert_eq!(index(&alice, "").await.len(), 5);
}

#[tokio::test]
async fn muted_conversation_does_not_notify() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let id = alice.publish("hello").await["id"].clone();
    alice.mute_conversation(&id).ok().await;

    bob.reply(&id, "@alice what?").await;
    bob.favourite(&id).ok().await;
    assert!(index(&alice, "").await.is_empty());

    alice.unmute_conversation(&id).ok().await;
    bob.reply(&id, "@alice well?").await;
    assert_eq!(types(&index(&alice, "").await), ["mention"]);
}

#[tokio::test]
async fn followers_are_notified_of_statuses_when_enabled() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let path = format!("/api/v1/accounts/{}/follow", bob.id());
    alice.post(&path).form(&[("notify", "true")]).ok().await;
    carol.post(&path).ok().await;

    let id = bob.publish("news").await["id"].clone();
    bob.reply(&carol.publish("q").await, "@carol an answer").await;
    app.run_jobs().await;
    app.run_jobs().await;

    let page = index(&alice, "").await;
    assert_eq!(types(&page), ["status"]);
    assert_eq!(page[0]["status"]["id"], id);
    assert_eq!(types(&index(&carol, "").await), ["mention"]);
}

#[tokio::test]
async fn edit_notifies_rebloggers() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let id = bob.publish("news").await["id"].clone();
    alice.reblog(&id).ok().await;
    let path = format!("/api/v1/statuses/{}", id.as_str().unwrap());
    for text in ["better news", "the best news"] {
        app.tick();
        bob.put(&path).json(&json!({"status": text})).ok().await;
    }

    let page = index(&alice, "").await;
    assert_eq!(types(&page), ["update"]);
    assert_eq!(page[0]["status"]["content"], "<p>the best news</p>");

    bob.delete(&path).ok().await;
    assert!(index(&alice, "").await.is_empty());
}

#[tokio::test]
async fn mention_removed_by_edit_loses_notification() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let id = bob.publish("hello @alice").await["id"].clone();
    assert_eq!(types(&index(&alice, "").await), ["mention"]);
    let path = format!("/api/v1/statuses/{}", id.as_str().unwrap());

    bob.put(&path).json(&json!({"status": "hello"})).ok().await;
    assert!(index(&alice, "").await.is_empty());
    bob.put(&path).json(&json!({"status": "hello again @alice"})).ok().await;
    assert_eq!(types(&index(&alice, "").await), ["mention"]);
}

#[tokio::test]
async fn follows_and_requests_notify_until_they_end() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let (to_alice, from_bob) = (json!(alice.id()), json!(bob.id()));
    bob.follow(&to_alice).ok().await;
    assert_eq!(types(&index(&alice, "").await), ["follow"]);
    bob.unfollow(&to_alice).ok().await;
    assert!(index(&alice, "").await.is_empty());

    alice.patch("/api/v1/accounts/update_credentials").form(&[("locked", "true")]).ok().await;
    bob.follow(&to_alice).ok().await;
    assert_eq!(types(&index(&alice, "").await), ["follow_request"]);
    alice.authorize(&from_bob).ok().await;
    assert_eq!(types(&index(&alice, "").await), ["follow"]);

    alice.block(&from_bob).ok().await;
    assert!(index(&alice, "").await.is_empty(), "a block removes notifications");
}

#[tokio::test]
async fn marker_moves_unread_count() {
    let app = TestApp::new().await;
    let (alice, _) = seven(&app).await;
    let all = index(&alice, "").await;
    alice.post("/api/v1/markers").json(&json!({"notifications": {"last_read_id": ids(&all)[1]}})).ok().await;
    assert_eq!(alice.get("/api/v1/notifications/unread_count").ok().await["count"], 1);
}

/// Signs up an account from an app.
async fn sign_up(app: &TestApp, name: &str) {
    let form = json!({
        "username": name, "email": format!("{name}@mail.test"), "password": "correct horse", "agreement": true,
        "locale": "en", "reason": "birds",
    });
    app.application("write").await.post("/api/v1/accounts").json(&form).ok().await;
}

#[tokio::test]
async fn staff_who_manage_users_are_notified_of_sign_ups() {
    let app = TestApp::with(&Site::KEYS).await;
    let service = PushService::start().await;
    let [moderator, owner, reader] = app.accounts(["mod", "owner", "reader"]).await;
    for (name, role) in [("mod", "moderator"), ("owner", "owner")] {
        app.run(&["user", "set-role", name, role]).await.ok();
    }
    let subscription = service.subscription("/staff", true, &["admin.sign_up"], "all");
    moderator.post("/api/v1/push/subscription").json(&subscription).ok().await;
    let mut heard = moderator.events("user").await;
    app.told(&moderator, &mut heard).await;

    app.set("registrations_mode", "open").await;
    sign_up(&app, "alice").await;
    let link = app.mailed_link().await;
    assert!(index(&moderator, "").await.is_empty(), "unconfirmed addresses cannot be used");
    Browser::new(&app).get(&link).await;
    Browser::new(&app).get(&link).await;
    app.run_jobs().await;
    for staff in [&moderator, &owner] {
        let page = index(staff, "").await;
        assert_eq!(types(&page), ["admin.sign_up"], "{}", staff.name);
        assert_eq!((&page[0]["account"]["acct"], page[0].get("status")), (&json!("alice"), None));
    }
    assert!(index(&reader, "").await.is_empty());
    let told = app.told(&moderator, &mut heard).await;
    assert_eq!(told.iter().map(|event| event.name.as_str()).collect::<Vec<_>>(), ["notification"]);
    assert_eq!(
        (&told[0].json()["type"], &told[0].json()["account"]["acct"]),
        (&json!("admin.sign_up"), &json!("alice"))
    );
    let pushed = service.message();
    assert_eq!(pushed["notification_type"], "admin.sign_up");
    assert!(pushed["title"].as_str().unwrap().contains("alice"), "{pushed}");

    // Pending accounts cause the notification when they are approved, with or without a confirmed address.
    app.set("registrations_mode", "approved").await;
    sign_up(&app, "bob").await;
    Browser::new(&app).get(&app.mailed_link().await).await;
    assert_eq!(index(&owner, "").await.len(), 1);
    app.run(&["user", "approve", "bob"]).await.ok();
    let groups = owner.get("/api/v2/notifications").ok().await;
    crate::platform::contract::check("GroupedNotificationsResults", &groups);
    let accounts = groups["notification_groups"].as_array().unwrap().iter().map(|group| &group["sample_account_ids"]);
    assert_eq!(accounts.count(), 2);
    assert_eq!(index(&owner, "").await[0]["account"]["acct"], "bob");
}
