//! Statuses that stay on this server: how they are published, and who sees them here.
//!
//! That other servers see nothing of them is tested in `federation::local_only`.
//!
//! Spec: docs/contract/rules.md#10-statuses, "Local-only"

use chrono::Duration;
use serde_json::{Value, json};

use crate::harness::{Client, Published, TestApp};
use crate::platform::contract;

const STATUSES: &str = "/api/v1/statuses";

/// Publishes a status that stays here.
async fn keep(author: &Client, text: &str) -> Published {
    author.publish(json!({ "status": text, "local_only": true })).await
}

#[tokio::test]
async fn each_name_of_the_parameter_keeps_a_status_here() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let sent = [
        ("local_only", true, true),
        ("localOnly", true, true),
        ("federated", false, true),
        ("local_only", false, false),
        ("federated", true, false),
    ];
    for (name, value, kept) in sent {
        let status = alice.publish(json!({ "status": "hello", (name): value })).await;
        contract::check("Status", &status);
        assert_eq!(status["local_only"], kept, "{name}={value}");
    }
    assert_eq!(alice.publish("hello").await["local_only"], false);
    let form = alice.post(STATUSES).form(&[("status", "hello"), ("local_only", "true")]).ok().await;
    assert_eq!(form["local_only"], true);
    for both in [true, false] {
        let body = json!({ "status": "hello", "local_only": both, "federated": both });
        let refused = alice.post(STATUSES).json(&body).fails(422).await;
        assert_eq!(refused, "local_only and federated contradict each other");
    }
}

#[tokio::test]
async fn replies_boosts_and_quotes_of_a_local_only_status_stay_too() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = keep(&alice, "stays").await;
    let reply = json!({ "status": "me too", "in_reply_to_id": status["id"], "local_only": false });
    let reply = bob.publish(reply).await;
    assert_eq!(reply["local_only"], true);
    assert_eq!(alice.reply(&reply, "yes").await["local_only"], true);
    let boost = bob.reblog(&status).ok().await;
    assert_eq!((&boost["local_only"], &boost["reblog"]["local_only"]), (&json!(true), &json!(true)));
    let quote = bob.publish(json!({ "status": "look", "quoted_status_id": status["id"] })).await;
    assert_eq!((&quote["quote_id"], &quote["local_only"]), (&status["id"], &json!(true)));
    let seen = alice.status(&status).ok().await;
    assert_eq!(
        (&seen["replies_count"], &seen["reblogs_count"], &seen["quotes_count"]),
        (&json!(1), &json!(1), &json!(1))
    );
    let open = alice.publish("goes").await;
    assert_eq!(bob.reply(&open, "hello").await["local_only"], false);
}

#[tokio::test]
async fn edit_changes_neither_way() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let (kept, open) = (keep(&alice, "stays").await, alice.publish("goes").await);
    app.tick();
    let edited = alice.edit(&kept, json!({ "status": "still", "local_only": false, "federated": true })).ok().await;
    assert_eq!(edited["local_only"], true);
    let edited = alice.edit(&open, json!({ "status": "still", "local_only": true })).ok().await;
    assert_eq!(edited["local_only"], false);
    // A status that other servers have cannot begin to quote one that they do not have.
    app.tick();
    let edited = alice.edit(&open, &format!("QT {}", kept["url"].as_str().unwrap())).ok().await;
    assert_eq!((edited.get("quote_id"), &edited["status_references_count"]), (None, &json!(1)));
    assert_eq!(edited["local_only"], false);
}

#[tokio::test]
async fn scheduled_status_stays_when_it_is_published() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let at = (app.app.clock.now() + Duration::minutes(6)).to_api();
    let body = json!({ "status": "later", "federated": false, "scheduled_at": at });
    let scheduled = alice.post(STATUSES).json(&body).ok().await;
    contract::check("ScheduledStatus", &scheduled);
    assert_eq!(scheduled["params"]["local_only"], true);
    app.app.clock.advance(Duration::minutes(7));
    app.run_jobs().await;
    let page = alice.get(&format!("/api/v1/accounts/{}/statuses", alice.id())).ok().await;
    assert_eq!(page[0]["local_only"], true);
}

/// What anyone may request about `status` of Alice and her other statuses.
fn paths(alice: &Client, status: &Published) -> Vec<String> {
    vec![
        status.path(""),
        format!("{STATUSES}?id[]={status}"),
        format!("/api/v1/accounts/{}/statuses", alice.id()),
        format!("/api/v1/accounts/{}/statuses?pinned=true", alice.id()),
        "/api/v1/timelines/public?local=true".to_owned(),
        "/api/v1/timelines/tag/staying".to_owned(),
        format!("/@alice/{status}"),
        format!("/@alice/{status}/embed"),
        "/@alice".to_owned(),
        "/@alice.rss".to_owned(),
        "/@alice.atom".to_owned(),
        "/tags/staying".to_owned(),
    ]
}

#[tokio::test]
async fn strangers_see_a_local_only_status_only_with_the_setting() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    bob.follow(&alice).ok().await;
    let poll = json!({ "options": ["a", "b"], "expires_in": 300 });
    let text = json!({ "status": "zqstays #staying", "local_only": true, "poll": poll });
    let status = alice.publish(text).await;
    let private = json!({ "status": "zqprivate", "local_only": true, "visibility": "private" });
    let private = alice.publish(private).await;
    let open = alice.publish("goes").await;
    alice.reply(&open, "zqbelow").await;
    alice.publish(json!({ "status": "zqreply", "in_reply_to_id": open["id"], "local_only": true })).await;
    alice.pin(&status).ok().await;
    app.run_jobs().await;
    let application = app.application("read").await;
    let paths = paths(&alice, &status);
    let thread = open.path("/context");
    let oembed = format!("/api/oembed?url={}", status["url"].as_str().unwrap());
    let poll = format!("/api/v1/polls/{}", status["poll"]["id"].as_str().unwrap());

    for path in &paths {
        for stranger in [&app.anonymous(), &application] {
            let answer = stranger.get(path).send().await;
            assert!(!answer.text().contains("zqstays"), "{path}: {}", answer.text());
        }
    }
    let strangers = app.anonymous();
    for path in [status.path(""), status.path("/context"), status.path("/history"), oembed.clone()] {
        strangers.get(&path).fails(404).await;
    }
    assert_eq!(strangers.get(&format!("/@alice/{status}")).send().await.status, 404);
    strangers.get(&poll).fails(401).await;
    let below = strangers.get(&thread).ok().await.to_string();
    assert!(below.contains("zqbelow") && !below.contains("zqreply"), "{below}");

    // Signed in, by the visibility as usual.
    let home = bob.get("/api/v1/timelines/home").ok().await;
    let ids: Vec<&Value> = home.as_array().unwrap().iter().map(|status| &status["id"]).collect();
    assert!(ids.contains(&&status["id"]) && ids.contains(&&private["id"]), "{home}");
    let carol = app.account("carol").await;
    carol.status(&status).ok().await;
    carol.status(&private).fails(404).await;
    let public = carol.get("/api/v1/timelines/public?local=true").ok().await.to_string();
    assert!(public.contains("zqstays"), "{public}");

    app.set("local_only_public", true).await;
    for path in &paths {
        let text = strangers.get(path).send().await.text();
        assert!(text.contains("zqstays"), "{path}: {text}");
        assert!(!text.contains("zqprivate"), "{path}: {text}");
    }
    strangers.get(&oembed).ok().await;
    strangers.get(&poll).ok().await;
    strangers.status(&private).fails(404).await;
    assert!(strangers.get(&thread).ok().await.to_string().contains("zqreply"));
}
