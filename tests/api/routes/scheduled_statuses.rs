//! <https://docs.joinmastodon.org/methods/scheduled_statuses/>

use chrono::Duration;
use serde_json::{Value, json};

use crate::harness::{Client, TestApp};
use crate::platform::contract;
use crate::routes::media::png;

const STATUSES: &str = "/api/v1/statuses";
const SCHEDULED: &str = "/api/v1/scheduled_statuses";

/// The time of the tests' clock plus this many minutes.
fn ahead(app: &TestApp, minutes: i64) -> String {
    (app.app.clock.now() + Duration::minutes(minutes)).to_api()
}

async fn schedule(author: &Client, text: &str, minutes: i64) -> Value {
    author.server.tick();
    let at = ahead(&author.server, minutes);
    author.post(STATUSES).json(&json!({"status": text, "scheduled_at": at})).ok().await
}

fn one(scheduled: &Value) -> String {
    format!("{SCHEDULED}/{}", scheduled["id"].as_str().unwrap())
}

async fn texts(author: &Client) -> Vec<String> {
    let page = author.get(&format!("/api/v1/accounts/{}/statuses", author.id())).ok().await;
    page.as_array().unwrap().iter().map(|status| status["content"].as_str().unwrap().to_owned()).collect()
}

async fn due(app: &TestApp, minutes: i64) {
    app.app.clock.advance(Duration::minutes(minutes));
    app.run_jobs().await;
}

#[tokio::test]
async fn status_is_scheduled_as_it_came_and_published_in_time() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let parent = bob.post(STATUSES).json(&json!({"status": "a question"})).ok().await;
    let body = json!({"status": "@bob later", "spoiler_text": "cw", "visibility": "unlisted", "language": "de",
        "in_reply_to_id": parent["id"], "scheduled_at": ahead(&app, 6), "circle_id": "7",
        "poll": {"options": ["a", "b"], "expires_in": 300, "multiple": true}});
    let scheduled = alice.post(STATUSES).json(&body).ok().await;

    contract::check("ScheduledStatus", &scheduled);
    assert_eq!(scheduled["scheduled_at"], ahead(&app, 6));
    let params = &scheduled["params"];
    assert_eq!((&params["text"], &params["visibility"]), (&json!("@bob later"), &json!("unlisted")));
    assert_eq!((&params["poll"]["multiple"], &params["circle_id"]), (&json!(true), &json!("7")));
    assert_eq!(alice.get(&one(&scheduled)).ok().await, scheduled);
    assert_eq!(alice.get(SCHEDULED).ok().await, json!([scheduled]));
    due(&app, 5).await;
    assert!(texts(&alice).await.is_empty());

    due(&app, 1).await;
    due(&app, 1).await;
    assert_eq!(alice.get(SCHEDULED).ok().await, json!([]));
    alice.get(&one(&scheduled)).fails(404).await;
    let page = alice.get(&format!("/api/v1/accounts/{}/statuses", alice.id())).ok().await;
    let [status] = page.as_array().unwrap().as_slice() else { panic!("published once: {page}") };
    assert_eq!((&status["visibility"], &status["language"]), (&json!("unlisted"), &json!("de")));
    assert_eq!((&status["in_reply_to_id"], &status["spoiler_text"]), (&parent["id"], &json!("cw")));
    assert_eq!(status["poll"]["expires_at"], (app.app.clock.now() + Duration::minutes(4)).to_api());
    assert_eq!(crate::routes::notifications::types(&crate::routes::notifications::index(&bob, "").await), ["mention"]);
}

#[tokio::test]
async fn time_is_more_than_five_minutes_ahead_or_past() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    for at in [ahead(&app, 5), ahead(&app, 1), "nonsense".to_owned(), "2026-13-45T99:00:00Z".to_owned()] {
        alice.post(STATUSES).json(&json!({"status": "x", "scheduled_at": at})).fails(422).await;
    }
    let now = alice.post(STATUSES).json(&json!({"status": "now", "scheduled_at": ahead(&app, -1)})).ok().await;
    contract::check("Status", &now);
    for at in ["2030-01-01", "2030-01-01T12:00", "2030-01-01T13:00:00.000+01:00"] {
        let scheduled = alice.post(STATUSES).json(&json!({"status": "then", "scheduled_at": at})).ok().await;
        assert!(scheduled["scheduled_at"].as_str().unwrap().starts_with("2030-01-01T"), "{scheduled}");
    }
}

#[tokio::test]
async fn scheduled_status_is_checked_when_scheduled() {
    let app = TestApp::new().await;
    let [alice, _bob] = app.accounts(["alice", "bob"]).await;
    let at = ahead(&app, 60);
    for (body, status) in [
        (json!({"scheduled_at": at}), 422),
        (json!({"status": "x".repeat(501), "scheduled_at": at}), 422),
        (json!({"status": "x", "visibility": "secret", "scheduled_at": at}), 422),
        (json!({"status": "x", "in_reply_to_id": "1", "scheduled_at": at}), 404),
        (json!({"status": "x", "media_ids": ["1"], "scheduled_at": at}), 422),
        (json!({"status": "x", "poll": {"options": ["a"], "expires_in": 300}, "scheduled_at": at}), 422),
        (json!({"status": "@bob x", "allowed_mentions": [], "scheduled_at": at}), 422),
        (json!({"status": "x", "further": "x".repeat(17_000), "scheduled_at": at}), 422),
    ] {
        alice.post(STATUSES).json(&body).fails(status).await;
    }
    assert_eq!(alice.get(SCHEDULED).ok().await, json!([]));
}

#[tokio::test]
async fn attachments_are_kept_for_a_scheduled_status_and_freed_with_it() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let media = alice.upload(&png(40, 30)).ok().await;
    let path = format!("/api/v1/media/{}", media["id"].as_str().unwrap());
    let body = json!({"status": "look", "media_ids": [media["id"]], "scheduled_at": ahead(&app, 60 * 48)});
    let scheduled = alice.post(STATUSES).json(&body).ok().await;
    contract::check("ScheduledStatus", &scheduled);
    assert_eq!(scheduled["media_attachments"][0]["id"], media["id"]);
    alice.get(&path).fails(404).await;
    alice.put(&path).json(&json!({"description": "late"})).fails(404).await;
    let taken = json!({"status": "mine", "media_ids": [media["id"]]});
    alice.post(STATUSES).json(&taken).fails(422).await;
    due(&app, 60 * 30).await;

    alice.delete(&one(&scheduled)).ok().await;
    alice.get(&path).ok().await;
    let body = json!({"status": "look", "media_ids": [media["id"]], "scheduled_at": ahead(&app, 60)});
    alice.post(STATUSES).json(&body).ok().await;
    due(&app, 61).await;
    let page = alice.get(&format!("/api/v1/accounts/{}/statuses", alice.id())).ok().await;
    assert_eq!(page[0]["media_attachments"][0]["id"], media["id"]);
    due(&app, 60 * 48).await;
    assert_eq!(
        alice.get(&format!("{STATUSES}/{}", page[0]["id"].as_str().unwrap())).ok().await["media_attachments"],
        page[0]["media_attachments"]
    );
}

#[tokio::test]
async fn attachments_of_a_deleted_schedule_are_removed_after_a_day() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let media = alice.upload(&png(40, 30)).ok().await;
    let body = json!({"status": "look", "media_ids": [media["id"]], "scheduled_at": ahead(&app, 60)});
    let scheduled = alice.post(STATUSES).json(&body).ok().await;
    alice.delete(&one(&scheduled)).ok().await;
    due(&app, 25 * 60).await;
    let rows = app.db().fetch_raw::<(i64,)>("SELECT COUNT(*) FROM media_attachments").await.unwrap();
    assert_eq!(rows[0].0, 0);
}

#[tokio::test]
async fn update_changes_only_the_time() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let scheduled = schedule(&alice, "later", 60).await;
    bob.put(&one(&scheduled)).json(&json!({"scheduled_at": ahead(&app, 90)})).fails(404).await;
    bob.get(&one(&scheduled)).fails(404).await;
    bob.delete(&one(&scheduled)).fails(404).await;
    for at in [ahead(&app, 5), ahead(&app, -5), "never".to_owned()] {
        alice.put(&one(&scheduled)).json(&json!({"scheduled_at": at})).fails(422).await;
    }
    assert_eq!(alice.put(&one(&scheduled)).json(&json!({"status": "other"})).ok().await, scheduled);
    let moved = alice.put(&one(&scheduled)).json(&json!({"scheduled_at": ahead(&app, 120)})).ok().await;
    assert_eq!(moved["scheduled_at"], ahead(&app, 120));
    due(&app, 61).await;
    assert!(texts(&alice).await.is_empty(), "the first time passes");
    let moved = alice.patch(&one(&scheduled)).json(&json!({"scheduled_at": ahead(&app, 6)})).ok().await;
    assert_eq!(moved["params"], scheduled["params"]);
    due(&app, 7).await;
    assert_eq!(texts(&alice).await, ["<p>later</p>"]);
    due(&app, 120).await;
    assert_eq!(texts(&alice).await.len(), 1);
}

#[tokio::test]
async fn clock_that_goes_back_delays_and_publishes_once() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    schedule(&alice, "once", 60).await;
    let early = "UPDATE jobs SET run_at = created_at WHERE kind = 'publish_scheduled'";
    app.execute(early).await;
    app.run_jobs().await;
    assert!(texts(&alice).await.is_empty(), "it is not yet time");
    due(&app, 61).await;
    assert_eq!(texts(&alice).await, ["<p>once</p>"]);
}

#[tokio::test]
async fn scheduled_statuses_stay_within_limits() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    // 25 on each of twelve days are 300.
    for number in 0..300 {
        let at = format!("2026-02-{:02}T23:59:59Z", 1 + number / 25);
        alice.post(STATUSES).json(&json!({"status": "then", "scheduled_at": at})).ok().await;
        if number == 24 {
            let full = json!({"status": "one more", "scheduled_at": "2026-02-01T00:00:00Z"});
            assert!(alice.post(STATUSES).json(&full).fails(422).await.contains("day"));
        }
    }
    let error = alice.post(STATUSES).json(&json!({"status": "x", "scheduled_at": "2026-03-01"})).fails(422).await;
    assert!(error.contains("300"), "{error}");
    let newest = alice.get(&format!("{SCHEDULED}?limit=1")).send().await;
    assert!(newest.header("link").contains("rel=\"next\""), "{}", newest.header("link"));
    let newest = newest.json()[0].clone();
    alice.put(&one(&newest)).json(&json!({"scheduled_at": "2026-02-01T12:00:00Z"})).fails(422).await;
    alice.put(&one(&newest)).json(&json!({"scheduled_at": "2026-02-12T12:00:00Z"})).ok().await;
    alice.put(&one(&newest)).json(&json!({"scheduled_at": "2026-02-13T12:00:00Z"})).ok().await;
}

#[tokio::test]
async fn repeated_key_returns_the_schedule_and_then_its_status() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let at = ahead(&app, 10);
    let send = || alice.post(STATUSES).header("idempotency-key", "k").json(&json!({"status": "x", "scheduled_at": at}));
    let first = send().ok().await;
    assert_eq!(send().ok().await, first);
    let plain = alice.post(STATUSES).header("idempotency-key", "k").json(&json!({})).ok().await;
    assert_eq!(plain, first, "before any validation");
    due(&app, 11).await;
    let published = send().ok().await;
    contract::check("Status", &published);
    assert_eq!(texts(&alice).await.len(), 1);
}

#[tokio::test]
async fn failed_schedule_is_kept_with_the_reason_and_mailed() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let parent = bob.post(STATUSES).json(&json!({"status": "soon gone"})).ok().await;
    let body = json!({"status": "an answer", "in_reply_to_id": parent["id"], "scheduled_at": ahead(&app, 10)});
    let scheduled = alice.post(STATUSES).json(&body).ok().await;
    bob.delete(&format!("{STATUSES}/{}", parent["id"].as_str().unwrap())).ok().await;
    app.app.clock.advance(Duration::minutes(11));

    let letters = app.letters().await;
    let letter = letters.last().expect("a letter");
    assert!(letter.contains("was not published") && letter.contains("alice@example.test"), "{letter}");
    assert!(letter.contains("deleted or is hidden") && !letter.contains("an answer"), "{letter}");
    let kept = alice.get(&one(&scheduled)).ok().await;
    contract::check("ScheduledStatus", &kept);
    assert!(kept["error"].as_str().unwrap().contains("deleted or is hidden"), "{kept}");
    due(&app, 60).await;
    assert_eq!(app.letters().await.len(), 1, "it is mailed once");
    let dead = app.db().fetch_raw::<(i64,)>("SELECT COUNT(*) FROM jobs WHERE state = 'dead'").await.unwrap();
    assert_eq!(dead[0].0, 0);

    let again = alice.put(&one(&scheduled)).json(&json!({"scheduled_at": ahead(&app, 10)})).ok().await;
    assert!(again.get("error").is_none());
    due(&app, 11).await;
    assert_eq!(app.letters().await.len(), 2, "and at the new time again");
    alice.delete(&one(&scheduled)).ok().await;
}

#[tokio::test]
async fn suspended_account_publishes_nothing() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let scheduled = schedule(&alice, "later", 10).await;
    app.run(&["user", "suspend", "alice"]).await.ok();
    app.app.invalidate().await.unwrap();
    due(&app, 11).await;
    app.run(&["user", "unsuspend", "alice"]).await.ok();
    app.app.invalidate().await.unwrap();
    assert!(texts(&alice).await.is_empty());
    assert!(alice.get(&one(&scheduled)).ok().await["error"].is_string());
}
