//! Requests of the accounts whose notifications a policy filters.

use serde_json::{Value, json};

use super::notification_policies::{POLICY, REQUESTS, merged, on, requests, set, summary};
use super::notifications::{ids, index, notice, notify, status, types};
use crate::harness::TestApp;
use context::change::Change;
use model::NotificationType as Type;

#[tokio::test]
async fn request_accepted_shows_filtered_notifications() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    set(&alice, json!({"for_not_following": "filter"})).await;
    let liked = alice.publish("hello").await;
    bob.publish("@alice one").await;
    let last = bob.publish("@alice two").await;
    bob.favourite(&liked).ok().await;
    carol.favourite(&liked).ok().await;

    let all = requests(&alice, "").await;
    assert_eq!(all.len(), 1, "a favourite makes no request");
    assert_eq!((&all[0]["account"]["acct"], &all[0]["notifications_count"]), (&json!("bob"), &json!("2")));
    assert_eq!(all[0]["last_status"]["id"], last["id"]);
    assert_eq!(alice.get(&on(&all[0], "")).ok().await, all[0]);
    assert_eq!(summary(&alice.get(POLICY).ok().await), (1, 2));
    assert!(merged(&alice).await);
    for (method, action) in [("get", ""), ("post", "/accept"), ("post", "/dismiss")] {
        let path = on(&all[0], action);
        if method == "get" {
            bob.get(&path).fails(404).await
        } else {
            bob.post(&path).fails(404).await
        };
    }

    let mut events = app.app.live.subscribe();
    alice.post(&on(&all[0], "/accept")).ok().await;
    assert!(requests(&alice, "").await.is_empty());
    assert!(!merged(&alice).await && index(&alice, "").await.is_empty());
    app.run_jobs().await;
    assert!(merged(&alice).await);
    let told = std::iter::from_fn(|| events.try_recv().ok());
    let receiver = told.filter_map(|change| match &*change {
        Change::NotificationsMerged { receiver } => Some(*receiver),
        _ => None,
    });
    assert_eq!(receiver.collect::<Vec<_>>(), [alice.id()]);
    assert_eq!(types(&index(&alice, "").await), ["favourite", "mention", "mention"], "and nothing of carol's");
    alice.post(&on(&all[0], "/accept")).fails(404).await;

    bob.publish_to("direct", "@alice three").await;
    assert_eq!(index(&alice, "").await.len(), 4, "permitted from now on");
    alice.block(&bob).ok().await;
    alice.unblock(&bob).ok().await;
    bob.publish("@alice four").await;
    assert_eq!((index(&alice, "").await.len(), requests(&alice, "").await.len()), (0, 1), "a block ends it");
}

#[tokio::test]
async fn request_dismissed_drops_filtered_notifications() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    set(&alice, json!({"for_not_following": "filter"})).await;
    for person in [&bob, &carol, &bob] {
        person.publish("@alice hello").await;
    }
    let all = requests(&alice, "").await;
    let names: Vec<&str> = all.iter().map(|request| request["account"]["acct"].as_str().unwrap()).collect();
    assert_eq!(names, ["carol", "bob"], "the newest request first");

    alice.post(&on(&all[1], "/dismiss")).ok().await;
    assert_eq!(requests(&alice, "").await, all[..1]);
    assert_eq!(index(&alice, "?include_filtered=true").await.len(), 1);
    alice.post(&on(&all[1], "/dismiss")).fails(404).await;
    bob.publish("@alice again").await;
    let again = requests(&alice, "").await;
    assert_eq!((again.len(), &again[0]["notifications_count"]), (2, &json!("1")));

    let both = json!({"id": [again[0]["id"], again[1]["id"], "1", "nonsense"]});
    bob.post(&format!("{REQUESTS}/dismiss")).json(&both).ok().await;
    assert_eq!(requests(&alice, "").await.len(), 2);
    alice.post(&format!("{REQUESTS}/accept")).json(&both).ok().await;
    app.run_jobs().await;
    assert_eq!((requests(&alice, "").await.len(), index(&alice, "").await.len()), (0, 2));
}

#[tokio::test]
async fn requests_of_many_notifications_are_handled_in_parts() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    set(&alice, json!({"for_not_following": "filter"})).await;
    for person in [&bob, &carol] {
        let theirs = status(person, "public").await;
        for _ in 0..11 {
            let batch: Vec<_> = (0..100).map(|_| notice(&app, Type::Mention, person, &alice, Some(theirs))).collect();
            assert_eq!(notify(&app, &batch).await, 0);
        }
    }
    let all = requests(&alice, "").await;
    assert!(all.iter().all(|request| request["notifications_count"] == "100"), "{all:?}");
    assert_eq!(summary(&alice.get(POLICY).ok().await), (2, 200));

    alice.post(&on(&all[0], "/dismiss")).ok().await;
    alice.post(&on(&all[1], "/accept")).ok().await;
    app.run_jobs().await;

    let count = async |of: &str| {
        let text = format!("SELECT COUNT(*) FROM notifications WHERE {of}");
        app.number(&text).await
    };
    assert_eq!((count("filtered").await, count("NOT filtered").await), (0, 1_100));
    assert!(merged(&alice).await);
}

#[tokio::test]
async fn requests_are_paged_without_suspended_senders() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    set(&alice, json!({"for_not_following": "filter"})).await;
    let people = app.accounts(["bob", "carol", "dave", "erin"]).await;
    let mut last = Value::Null;
    for person in &people {
        last = person.publish("@alice hello").await.into_json();
    }
    let all = requests(&alice, "").await;
    assert_eq!(all.len(), 4);
    let first = alice.get(&format!("{REQUESTS}?limit=2")).send().await;
    let link = first.header("link").to_owned();
    let url = format!("https://example.test{REQUESTS}?limit=2");
    let expected =
        format!("<{url}&max_id={}>; rel=\"next\", <{url}&min_id={}>; rel=\"prev\"", ids(&all)[1], ids(&all)[0]);
    assert_eq!(link, expected);
    assert_eq!(requests(&alice, &format!("?limit=2&max_id={}", ids(&all)[1])).await, all[2..]);
    assert_eq!(requests(&alice, &format!("?limit=2&min_id={}", ids(&all)[3])).await, all[1..3]);
    assert!(requests(&alice, "?limit=0").await.is_empty());

    people[3].delete_status(&last).ok().await;
    assert_eq!(requests(&alice, "").await, all[1..], "erin's mention is gone");
    alice.get(&on(&all[0], "")).fails(404).await;
    app.suspend(&people[2]).await;
    assert_eq!(requests(&alice, "").await, all[2..]);
    assert_eq!(summary(&alice.get(POLICY).ok().await), (2, 2));
    alice.post("/api/v1/notifications/clear").ok().await;
    assert!(requests(&alice, "").await.is_empty());
}
