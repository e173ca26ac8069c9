//! Statuses in Markdown, and statuses with an expiry in their text.

use chrono::Duration;
use context::queue::ExpireStatus;
use serde_json::{Value, json};

use crate::harness::{TestApp, status_path};
use crate::platform::contract;
use crate::routes::notifications::{index, types};

#[tokio::test]
async fn markdown_is_rendered_and_its_source_kept() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let text = "**hi** @bob #rooks\n`@alice` [x](https://x.example/)";
    let status = alice.publish(json!({"status": text, "markdown": true})).await;
    contract::check("Status", &status);
    assert_eq!(status["markdown"], true);
    let content = status["content"].as_str().unwrap();
    assert!(content.starts_with("<p><strong>hi</strong> <span class=\"h-card\""), "{content}");
    assert!(content.contains("<br /><code>@alice</code> [x](<a href=\"https://x.example/\""), "{content}");
    assert_eq!((status["tags"][0]["name"].as_str(), status["mentions"].as_array().unwrap().len()), (Some("rooks"), 1));
    assert_eq!(types(&index(&bob, "").await), ["mention"]);
    let source = alice.get(&status_path(&status, "/source")).ok().await;
    assert_eq!((&source["text"], &source["markdown"]), (&json!(text), &json!(true)));

    let plain = alice.edit(&status, json!({"status": text})).ok().await;
    assert_eq!(plain["markdown"], false, "an edit replaces everything");
    assert!(plain["content"].as_str().unwrap().contains("**hi**"));
    let history = alice.get(&status_path(&status, "/history")).ok().await;
    contract::check("StatusEdit[]", &history);
    assert_eq!((&history[0]["markdown"], &history[1]["markdown"]), (&json!(true), &json!(false)));
    let again = alice.put(&status_path(&status, "")).form(&[("status", text), ("markdown", "1")]).ok().await;
    assert_eq!(again["content"], status["content"].as_str().unwrap());
    assert_eq!(alice.publish("**no**").await["content"], "<p>**no**</p>");
    let long = json!({"status": "*".repeat(501), "markdown": true});
    alice.post("/api/v1/statuses").json(&long).fails(422).await;
}

#[tokio::test]
async fn status_is_deleted_when_its_text_says() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = alice.publish("gone soon #exp10m").await;
    contract::check("Status", &status);
    assert_eq!(status["expires_at"], "2026-01-15T12:10:03.000Z");
    bob.reblog(&status).ok().await;
    app.app.clock.advance(Duration::seconds(590));
    app.run_jobs().await;
    bob.status(&status).ok().await;
    app.app.clock.advance(Duration::seconds(20));
    app.run_jobs().await;
    bob.status(&status).fails(404).await;
    for person in [&alice, &bob] {
        let account = person.get("/api/v1/accounts/verify_credentials").ok().await;
        assert_eq!(account["statuses_count"], 0);
    }
    assert!(alice.publish("#exp0s #experts").await.get("expires_at").is_none());
    assert!(
        alice.publish(json!({"status": "`#exp5m`", "markdown": true})).await.get("expires_at").is_none(),
        "code has no effect"
    );
}

#[tokio::test]
async fn edits_move_and_cancel_the_end_of_a_status() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let [moved, kept, cancelled] =
        [alice.publish("a #exp10m").await, alice.publish("b #exp10m").await, alice.publish("c #exp10m").await];
    app.app.clock.advance(Duration::minutes(5));
    let edit = async |status: &Value, text: &str| alice.edit(&status, json!({"status": text})).ok().await;
    assert_eq!(edit(&kept, "b, mended #exp10m").await["expires_at"], kept["expires_at"]);
    assert_ne!(edit(&moved, "a #exp20m").await["expires_at"], moved["expires_at"]);
    assert!(edit(&cancelled, "c").await.get("expires_at").is_none());
    app.app.clock.advance(Duration::minutes(6));
    app.run_jobs().await;
    alice.status(&kept).fails(404).await;
    alice.status(&cancelled).ok().await;
    alice.status(&moved).ok().await;
    app.app.clock.advance(Duration::minutes(15));
    app.run_jobs().await;
    alice.status(&moved).fails(404).await;
    alice.status(&cancelled).ok().await;
}

#[tokio::test]
async fn job_waits_when_the_clock_was_set_back() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let status = alice.publish("#exp10m").await;
    let gone = alice.publish("#exp10m").await;
    alice.delete_status(&gone).ok().await;
    let id = status["id"].as_str().unwrap();
    let mut tx = app.db().begin().await.unwrap();
    let status_id = id.parse::<i64>().unwrap().into();
    service::status::expire(&app.app, &mut tx, ExpireStatus { status: status_id }).await.unwrap();
    tx.commit().await.unwrap();
    alice.status(&status).ok().await;
    app.app.clock.advance(Duration::minutes(11));
    app.run_jobs().await;
    alice.status(&status).fails(404).await;
    let jobs = app.db().fetch_raw::<(i64,)>("SELECT COUNT(*) FROM jobs WHERE kind = 'expire_status'").await.unwrap();
    assert_eq!(jobs[0].0, 0);
}
