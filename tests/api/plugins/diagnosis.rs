//! Diagnosis of failing plugins for authors and admins: the log, and the responsible party of a failure.

use plugins::life;
use serde_json::{Value, json};

use super::guest;
use crate::harness::{Browser, Client, NO_PLUGIN_YET, TestApp};

/// The log of the plugin `name`.
fn log(app: &TestApp, name: &str) -> Vec<String> {
    app.plugins()
        .plugins
        .logs
        .after(name, 0)
        .into_iter()
        .map(|line| format!("{} {}", line.level.as_str(), line.message))
        .collect()
}

async fn answer(person: &Client, told: Value) -> u16 {
    person.post("/api/v1/mirror/answer").json(&told).send().await.status.as_u16()
}

#[tokio::test]
async fn panic_is_logged_with_text_and_place() {
    let app = guest::serve("probe", &[]).await;
    let [alice] = app.accounts(["alice"]).await;
    alice.post("/api/v1/statuses").json(&json!({ "status": "trap probe" })).fails(503).await;
    let lines = log(&app, "probe");
    assert!(lines[0].starts_with("error panicked at ") && lines[0].contains("src/lib.rs:"), "{lines:?}");
    assert!(lines[0].ends_with(": as asked"), "{lines:?}");
    assert!(
        lines[1].starts_with("error hook status-filter ended by trap: ") && lines[1].contains("as asked"),
        "{lines:?}"
    );
    let failure = &app.plugins().plugins.observed.of("probe").failures[0];
    assert!(failure.message.contains("as asked"), "{failure:?}");
}

#[tokio::test]
async fn failed_call_is_logged_with_its_function() {
    let app = guest::serve("mirror", &[]).await;
    let [alice] = app.accounts(["alice"]).await;
    assert_eq!(answer(&alice, json!({ "trap": true })).await, 500);
    let lines = log(&app, "mirror");
    assert!(lines[0].starts_with("error route answer ended by trap: "), "{lines:?}");
}

#[tokio::test]
async fn plugin_mistake_is_not_fault_of_request() {
    let app = guest::serve("mirror", &[]).await;
    let [alice] = app.accounts(["alice"]).await;
    for (status, code) in [(422, "sql.params"), (404, "sql.unknown"), (403, "host.denied"), (422, "queue.undeclared")] {
        let told = json!({ "error": [status, code, "keep takes 2 parameters, not 1"] });
        assert_eq!(answer(&alice, told).await, 500, "{code}");
        let lines = log(&app, "mirror");
        assert!(lines.last().unwrap().contains("keep takes 2 parameters"), "{code}: {lines:?}");
    }
    let before = log(&app, "mirror").len();
    for (status, code) in [(422, "mirror.too-long"), (413, "sql.params"), (409, "sql.unique"), (422, "")] {
        assert_eq!(answer(&alice, json!({ "error": [status, code, "no"] })).await, status, "{code}");
    }
    assert_eq!(log(&app, "mirror").len(), before, "a refusal is not a failure");
}

#[tokio::test]
async fn dropped_headers_are_logged() {
    let app = guest::serve("mirror", &[]).await;
    let [alice] = app.accounts(["alice"]).await;
    let headers = json!([["set-cookie", "a=b"], ["etag", "\"1\""], ["location", "https://evil.test/"]]);
    assert_eq!(answer(&alice, json!({ "headers": headers })).await, 200);
    assert_eq!(
        log(&app, "mirror"),
        ["warn dropped headers that a plugin may not set, or not so: set-cookie, location"]
    );
}

#[tokio::test]
async fn filter_error_refuses_although_failure_is_skipped() {
    let app = guest::serve("cookbook", &[]).await;
    let [alice] = app.accounts(["alice"]).await;
    let long =
        alice.post("/api/v1/statuses").json(&json!({ "status": "hello", "mood": "x".repeat(21) })).fails(422).await;
    assert_eq!(long, "mood: is longer than 20 characters");
    assert_eq!(log(&app, "cookbook"), [""; 0]);
}

#[tokio::test]
async fn plugins_with_equal_setting_names_have_separate_fields() {
    let app = TestApp::with(&NO_PLUGIN_YET).await;
    for name in ["cookbook", "circles"] {
        guest::add(&app, name).await;
    }
    life::follow(&app.plugins()).await;
    let [_alice] = app.accounts(["alice"]).await;
    let page = Browser::signed_in(&app, "alice").await.get("/settings/extensions").await.text();
    let ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(ids.contains(&"cookbook-favourites"), "{ids:?}");
    let mut unique = ids.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), ids.len(), "{ids:?}");
}
