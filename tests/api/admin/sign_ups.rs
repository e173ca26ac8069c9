//! The settings `sign_ups_per_day` and `sign_up_hours`.

use serde_json::{Value, json};

use crate::harness::TestApp;

const SIGN_UP: &str = "/api/v1/accounts";

async fn open(settings: &[(&str, Value)]) -> TestApp {
    let app = TestApp::new().await;
    app.set("registrations_mode", "open").await;
    for (key, value) in settings {
        app.set(key, value.clone()).await;
    }
    app
}

fn form(name: &str) -> Value {
    let email = format!("{name}@mail.test");
    json!({ "username": name, "email": email, "password": "correct horse", "agreement": true, "locale": "en" })
}

/// Whether the documents about the server say that people may sign up.
async fn announced(app: &TestApp) -> [bool; 3] {
    let visitor = app.anonymous();
    let (v2, v1) = (visitor.get("/api/v2/instance").ok().await, visitor.get("/api/v1/instance").ok().await);
    let node = visitor.get("/nodeinfo/2.0").ok().await;
    [&v2["registrations"]["enabled"], &v1["registrations"], &node["openRegistrations"]]
        .map(|open| open.as_bool().unwrap())
}

#[tokio::test]
async fn sign_ups_of_a_day_are_limited() {
    let app = open(&[("sign_ups_per_day", json!(2))]).await;
    let client = app.application("write:accounts").await;
    assert_eq!(announced(&app).await, [true; 3]);
    client.post(SIGN_UP).json(&form("one")).ok().await;
    client.post(SIGN_UP).json(&json!({})).fails(422).await;
    assert_eq!(announced(&app).await, [true; 3]);
    client.post(SIGN_UP).json(&form("two")).ok().await;
    assert_eq!(announced(&app).await, [false; 3]);
    assert!(client.post(SIGN_UP).json(&form("three")).fails(403).await.contains("no new members"));
    let page = app.anonymous().get("/auth/sign_up").send().await;
    assert!(!page.text().contains("name=\"username\""), "{}", page.text());

    app.app.clock.advance(chrono::Duration::days(1));
    assert_eq!(announced(&app).await, [true; 3]);
    client.post(SIGN_UP).json(&form("three")).ok().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_concurrent_sign_ups_respect_the_limit() {
    let app = open(&[("sign_ups_per_day", json!(3))]).await;
    let client = app.application("write:accounts").await;
    let forms = (0..8).map(|number| form(&format!("person{number}")));
    let running: Vec<_> = forms.map(|form| tokio::spawn(client.post(SIGN_UP).json(&form).send())).collect();
    let mut statuses = Vec::new();
    for task in running {
        statuses.push(task.await.unwrap().status.as_u16());
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 200, 403, 403, 403, 403, 403]);
    assert_eq!(app.count("users").await, 3);
}

#[tokio::test]
async fn sign_up_is_closed_outside_of_its_hours() {
    // The clock of the tests begins at noon.
    let app = open(&[("sign_up_hours", json!("8-12"))]).await;
    let client = app.application("write:accounts").await;
    assert_eq!(announced(&app).await, [false; 3]);
    client.post(SIGN_UP).json(&form("one")).fails(403).await;
    app.set("sign_up_hours", "12-13").await;
    assert_eq!(announced(&app).await, [true; 3]);
    client.post(SIGN_UP).json(&form("one")).ok().await;
    app.app.clock.advance(chrono::Duration::hours(1));
    assert_eq!(announced(&app).await, [false; 3]);
    client.post(SIGN_UP).json(&form("two")).fails(403).await;
}
