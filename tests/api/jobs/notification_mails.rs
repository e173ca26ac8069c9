//! Mails about unread notifications.

use chrono::Duration;
use serde_json::json;

use crate::harness::{Browser, TestApp};
use crate::routes::notifications;

/// Mails sent after the delay of ten minutes.
async fn letters(app: &TestApp) -> Vec<String> {
    app.app.clock.advance(Duration::minutes(11));
    app.letters().await
}

#[tokio::test]
async fn notification_mail_counts_without_quoting() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    alice.follow(&bob).ok().await;
    let open = bob.publish("@alice an open word").await;
    bob.publish_to("direct", "@alice a secret").await;
    bob.follow(&alice).ok().await;
    assert!(app.letters().await.is_empty(), "there is time to see it in an app");

    let sent = letters(&app).await;
    let of = |name: &str| -> Vec<&String> {
        sent.iter().filter(|letter| letter.contains(&format!("To: {name}@example.test"))).collect()
    };
    let [letter] = of("alice")[..] else { panic!("{sent:?}") };
    assert!(letter.contains("Subject: Something new for you on"), "{letter}");
    assert_eq!(letter.matches("bob mentioned you").count(), 2, "{letter}");
    assert!(letter.contains("bob follows you now") && letter.contains("https://example.test/@bob\r\n"), "{letter}");
    assert!(letter.contains(open["url"].as_str().unwrap()), "{letter}");
    assert!(!letter.contains("secret") && !letter.contains("open word"), "{letter}");
    assert!(letter.contains("https://example.test/settings/preferences"), "{letter}");
    assert_eq!(of("bob").len(), 1, "alice follows him");
    assert_eq!(letters(&app).await.len(), 2, "each is told once");
}

#[tokio::test]
async fn read_or_undone_notifications_are_not_mailed() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    bob.publish("@alice read").await;
    let newest = notifications::index(&alice, "").await[0]["id"].clone();
    alice.post("/api/v1/markers").json(&json!({ "notifications": { "last_read_id": newest } })).ok().await;
    assert!(letters(&app).await.is_empty());

    let status = bob.publish("@alice gone").await;
    bob.delete_status(&status).ok().await;
    bob.follow(&carol).ok().await;
    carol.post("/api/v1/notifications/clear").ok().await;
    assert!(letters(&app).await.is_empty());

    bob.publish("@alice new").await;
    app.run(&["user", "suspend", "bob"]).await.ok();
    assert!(letters(&app).await.is_empty());
}

#[tokio::test]
async fn notification_mails_follow_preferences() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = alice.publish("hello").await;
    let favourite = format!("/api/v1/statuses/{}/favourite", status["id"].as_str().unwrap());
    bob.post(&favourite).ok().await;
    assert!(letters(&app).await.is_empty(), "favourites are mailed if enabled");

    let browser = Browser::signed_in(&app, "alice").await;
    let page = browser.get("/settings/preferences").await;
    let ticked = |page: &str| {
        let boxes = page.split("name=\"mail_notifications[]\"").skip(1);
        let boxes = boxes.map(|rest| rest.split('>').next().unwrap()).filter(|tag| tag.contains("checked"));
        boxes.map(|tag| tag.split("value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ticked(&page.text()), ["mention", "follow", "follow_request"]);
    let fields = [("mail_notifications[]", "favourite"), ("mail_notifications[]", "reblog")];
    assert_eq!(browser.submit(&page, "/settings/preferences", &fields).await.status, 302);
    let page = browser.get("/settings/preferences").await;
    assert_eq!(ticked(&page.text()), ["reblog", "favourite"]);
    bob.publish("@alice hello").await;
    assert!(letters(&app).await.is_empty());
    for action in ["unfavourite", "favourite"] {
        app.tick();
        bob.post(&favourite.replace("favourite", action)).ok().await;
    }
    let sent = letters(&app).await;
    assert!(sent.len() == 1 && sent[0].contains("bob marked your post as a favourite"), "{sent:?}");

    for unknown in ["poll", "nonsense", "admin.report"] {
        let fields = [("mail_notifications[]", unknown)];
        assert_eq!(browser.submit(&page, "/settings/preferences", &fields).await.status, 422, "{unknown}");
    }
    assert_eq!(browser.submit(&page, "/settings/preferences", &[]).await.status, 302);
    bob.post(&favourite.replace("favourite", "reblog")).ok().await;
    assert_eq!(letters(&app).await.len(), 1, "all mails are disabled");
}

#[tokio::test]
async fn notification_mails_are_stopped_by_one_click_without_sign_in() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    bob.publish("@alice hello").await;
    let letter = letters(&app).await.pop().unwrap();
    let header = letter.split("\r\nList-Unsubscribe:").nth(1).unwrap();
    let url = header.split('<').nth(1).unwrap().split('>').next().unwrap();
    assert!(letter.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"), "{letter}");
    assert!(letter.contains("Auto-Submitted: auto-generated\r\n"), "{letter}");
    assert!(letter.contains(&format!("\r\n  {url}\r\n")), "readable by people too: {letter}");
    let link = url.strip_prefix("https://example.test").unwrap();

    let (visitor, other) = (Browser::new(&app), alice.id().to_string());
    let page = visitor.get(link).await;
    assert!(page.status == 200 && page.text().contains("@alice@example.test"), "{}", page.text());
    for wrong in [link.replace(&other, &bob.id().to_string()), format!("{link}x"), "/auth/unsubscribe".to_owned()] {
        assert_eq!(visitor.get(&wrong).await.status, 404, "{wrong}");
        let posted = app.anonymous().post(&wrong).form(&[("List-Unsubscribe", "One-Click")]).send().await;
        assert_eq!(posted.status, 404, "{wrong}");
    }
    bob.publish("@alice again").await;
    assert_eq!(letters(&app).await.len(), 2, "opening the link stops nothing");

    bob.publish("@alice queued").await;
    let posted = app.anonymous().post(link).form(&[("List-Unsubscribe", "One-Click")]).send().await;
    assert_eq!(posted.status, 200);
    bob.publish("@alice more").await;
    assert_eq!(letters(&app).await.len(), 2);
    assert_eq!(alice.get("/api/v1/notifications").ok().await.as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn server_without_mail_queues_no_mails() {
    let app = TestApp::with(&[("ROOKERY_MAIL_TRANSPORT", "none")]).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    bob.publish("@alice hello").await;
    bob.follow(&alice).ok().await;
    let rows: Vec<(i64,)> =
        app.db().fetch_raw("SELECT COUNT(*) FROM jobs WHERE kind = 'mail_notifications'").await.unwrap();
    assert_eq!(rows[0].0, 0);
}
