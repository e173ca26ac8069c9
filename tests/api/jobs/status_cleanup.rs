//! Automatic deletion of old statuses.

use std::collections::BTreeMap;

use chrono::Duration;
use serde_json::json;
use service::status_cleanup::{self, StatusCleanupPolicy};

use crate::harness::{Client, TestApp};
use crate::routes::media::png;

/// A policy with every exception enabled, for the caller to change.
async fn policy(person: &Client) -> StatusCleanupPolicy {
    let policy = status_cleanup::find(&person.server.app, person.id()).await.unwrap();
    assert!(!policy.enabled);
    StatusCleanupPolicy { enabled: true, keep_polls: true, keep_media: true, min_favs: Some(2), ..policy }
}

/// Runs the policies as a server does, a day after the previous run.
async fn walk(app: &TestApp) {
    worker::cron::schedule(&app.app).await.unwrap();
    app.app.clock.advance(Duration::days(1));
    app.run_jobs().await;
}

async fn left(person: &Client) -> Vec<String> {
    let sql = format!("SELECT id FROM statuses WHERE account_id = {}", person.id());
    person.server.db().fetch_raw::<(i64,)>(&sql).await.unwrap().into_iter().map(|(id,)| id.to_string()).collect()
}

#[tokio::test]
async fn deleted_statuses_leave_tombstones_if_anyone_could_read_them() {
    let app = TestApp::core().await;
    let alice = app.account("alice").await;
    for visibility in ["public", "unlisted", "public_unlisted", "login", "private"] {
        alice.publish_to(visibility, "hello").await;
    }
    status_cleanup::set(&app.app, &policy(&alice).await, &BTreeMap::new()).await.unwrap();
    app.app.clock.advance(Duration::days(30));
    walk(&app).await;
    assert_eq!((left(&alice).await.len(), app.count("tombstones").await), (0, 3));

    let bob = app.account("bob").await;
    bob.publish("hello").await;
    let account = store::account::find(app.db(), bob.id()).await.unwrap().unwrap();
    service::removal::remove(&app.app, &model::Staff::operator(), &account).await.unwrap();
    app.app.clock.advance(Duration::hours(1));
    app.run_jobs().await;
    assert_eq!((left(&bob).await.len(), app.count("tombstones").await), (0, 3), "the account answers that it is gone");
}

#[tokio::test]
async fn old_statuses_are_deleted_unless_policy_excepts_them() {
    let app = TestApp::core().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let image = alice.upload(&png(8, 8)).ok().await;
    let of_bob = bob.publish("bob's").await;
    let pinned = alice.publish("pinned").await;
    let liked = alice.publish("liked by myself").await;
    let marked = alice.publish("bookmarked by myself").await;
    let popular = alice.publish("popular").await;
    let unpopular = alice.publish("liked once").await;
    let asked = json!({"status": "which?", "poll": {"options": ["a", "b"], "expires_in": 600}});
    let poll = alice.publish(asked).await;
    let shown = alice.publish(json!({"status": "look", "media_ids": [image["id"]]})).await;
    let direct = alice.publish_to("direct", "@bob psst").await;
    alice.pin(&pinned).ok().await;
    alice.favourite(&liked).ok().await;
    alice.bookmark(&marked).ok().await;
    for (person, status) in [(&bob, &popular), (&carol, &popular), (&bob, &unpopular)] {
        person.favourite(status).ok().await;
    }
    alice.reblog(&of_bob).ok().await;
    for n in 0..60 {
        alice.publish(&format!("number {n}")).await;
    }
    status_cleanup::set(&app.app, &policy(&alice).await, &BTreeMap::new()).await.unwrap();
    let before = alice.get("/api/v1/accounts/verify_credentials").ok().await["statuses_count"].as_i64().unwrap();

    walk(&app).await;
    let now = alice.get("/api/v1/accounts/verify_credentials").ok().await;
    assert_eq!(now["statuses_count"], before, "nothing is two weeks old");

    app.app.clock.advance(Duration::days(13));
    let new = alice.publish("new").await;
    walk(&app).await;

    let mut kept =
        [&new, &direct, &shown, &poll, &popular, &marked, &liked, &pinned].map(|status| status.id().to_owned());
    let mut found = left(&alice).await;
    kept.sort();
    found.sort();
    assert_eq!(found, kept, "{unpopular} and the reblog are gone with the others");
    let now = alice.get("/api/v1/accounts/verify_credentials").ok().await;
    assert!(now["statuses_count"].as_i64().unwrap() < before - 60, "{now}");
    let of_bob = bob.status(&of_bob).ok().await;
    assert_eq!(of_bob["reblogs_count"], 0);

    let all = StatusCleanupPolicy {
        keep_direct: false,
        keep_pinned: false,
        keep_polls: false,
        keep_media: false,
        keep_self_fav: false,
        keep_self_bookmark: false,
        min_favs: None,
        ..policy_of(&alice).await
    };
    status_cleanup::set(&app.app, &all, &BTreeMap::new()).await.unwrap();
    walk(&app).await;
    assert_eq!(left(&alice).await, [new.id()]);
    assert_eq!(left(&bob).await.len(), 1, "others keep theirs");
}

async fn policy_of(person: &Client) -> StatusCleanupPolicy {
    status_cleanup::find(&person.server.app, person.id()).await.unwrap()
}

#[tokio::test]
async fn cleanup_policy_is_checked_and_removed_with_account() {
    let app = TestApp::core().await;
    let alice = app.account("alice").await;
    let good = policy(&alice).await;
    for (bad, attribute) in [
        (StatusCleanupPolicy { min_status_age: 60, ..good.clone() }, "min status age"),
        (StatusCleanupPolicy { min_favs: Some(0), ..good.clone() }, "min favs"),
        (StatusCleanupPolicy { min_reblogs: Some(-1), ..good.clone() }, "min reblogs"),
    ] {
        let error = status_cleanup::set(&app.app, &bad, &BTreeMap::new()).await.unwrap_err().to_string();
        assert!(error.contains(attribute), "{error}");
    }
    let sets = (0..8).map(|n| {
        let (cx, policy) = (app.app.clone(), StatusCleanupPolicy { min_reblogs: Some(n + 1), ..good.clone() });
        async move { status_cleanup::set(&cx, &policy, &BTreeMap::new()).await }
    });
    assert!(futures_util::future::join_all(sets).await.iter().all(Result::is_ok));
    assert!(policy_of(&alice).await.enabled);
    app.run(&["user", "suspend", "alice"]).await.ok();
    app.app.clock.advance(Duration::days(20));
    walk(&app).await;
    crate::jobs::removal::remove(&app, "alice").await;
    let rows = app.db().fetch_raw::<(i64,)>("SELECT COUNT(*) FROM status_cleanup_policies").await.unwrap();
    assert_eq!(rows[0].0, 0);
}
