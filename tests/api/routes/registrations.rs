//! Sign-up: in an app, in a browser, and as the owner of a new server.

use model::Staff;
use serde_json::{Value, json};
use service::moderation::account;
use service::{owner, staff};

use crate::harness::{Browser, TestApp};

async fn open() -> TestApp {
    let app = TestApp::new().await;
    app.set("registrations_mode", "open").await;
    app
}

fn form(name: &str) -> Value {
    json!({
        "username": name, "email": format!("{name}@mail.test"), "password": "correct horse",
        "agreement": true, "locale": "en",
    })
}

#[tokio::test]
async fn registration_token_works_after_confirmation() {
    let app = open().await;
    let client = app.application("read write").await;

    let token = client.post("/api/v1/accounts").json(&form("alice")).ok().await;
    assert_eq!(token["token_type"], "Bearer");
    assert_eq!(token["scope"], "read write");
    assert_eq!(token["created_at"], 1_768_478_400);
    let alice = crate::harness::Client::new(
        app.clone(),
        None,
        "alice",
        Some(token["access_token"].as_str().unwrap().to_owned()),
    );
    alice.get("/api/v1/notifications").fails(403).await;

    let link = app.mailed_link().await;
    let page = Browser::new(&app).get(&link).await;
    assert!(page.text().contains("@alice@example.test"), "{}", page.text());
    alice.get("/api/v1/notifications").ok().await;
}

#[tokio::test]
async fn registration_errors_are_reported_together() {
    let app = open().await;
    let client = app.application("write:accounts").await;
    app.account("taken").await;

    let refused = client.post("/api/v1/accounts").json(&json!({})).expect(422.try_into().unwrap()).await;
    for (attribute, code) in
        [("username", "ERR_BLANK"), ("email", "ERR_BLANK"), ("password", "ERR_BLANK"), ("agreement", "ERR_ACCEPTED")]
    {
        assert_eq!(refused["details"][attribute][0]["error"], code, "{refused}");
    }
    let cases = [
        (json!({ "username": "admin" }), "username", "ERR_RESERVED"),
        (json!({ "username": "TAKEN" }), "username", "ERR_TAKEN"),
        (json!({ "username": "a b" }), "username", "ERR_INVALID"),
        (json!({ "username": "x".repeat(31) }), "username", "ERR_TOO_LONG"),
        (json!({ "email": "Taken@Example.test" }), "email", "ERR_TAKEN"),
        (json!({ "email": "nobody" }), "email", "ERR_INVALID"),
        (json!({ "password": "ünsafé1" }), "password", "ERR_TOO_SHORT"),
        (json!({ "password": "x".repeat(73) }), "password", "ERR_TOO_LONG"),
        (json!({ "agreement": "false" }), "agreement", "ERR_ACCEPTED"),
        (json!({ "reason": "x".repeat(421) }), "reason", "ERR_TOO_LONG"),
    ];
    for (changed, attribute, code) in cases {
        let mut all = form("alice");
        all.as_object_mut().unwrap().extend(changed.as_object().unwrap().clone());
        let refused = client.post("/api/v1/accounts").json(&all).expect(422.try_into().unwrap()).await;
        assert_eq!(refused["details"][attribute][0]["error"], code, "{refused}");
        assert_eq!(refused["details"].as_object().unwrap().len(), 1, "{refused}");
    }
    client.post("/api/v1/accounts").form(&[("username[]", "a")]).fails(422).await;
}

#[tokio::test]
async fn sign_up_by_app_needs_the_scope_and_open_registrations() {
    let app = open().await;
    let path = "/api/v1/accounts";
    app.anonymous().post(path).json(&form("alice")).fails(401).await;
    app.application("read").await.post(path).json(&form("alice")).fails(403).await;
    let client = app.application("write").await;

    app.set("registrations_mode", "none").await;
    client.post(path).json(&form("alice")).fails(403).await;
    app.set("registrations_mode", "approved").await;
    app.set("require_invite_text", true).await;
    client.post(path).json(&form("alice")).fails(422).await;
    let mut with_reason = form("alice");
    with_reason["reason"] = json!("I like birds");
    client.post(path).json(&with_reason).ok().await;
    let waiting: Vec<(bool, String)> = app.db().fetch_raw("SELECT approved, sign_up_reason FROM users").await.unwrap();
    assert_eq!(waiting, [(false, "I like birds".to_owned())]);
}

#[tokio::test]
async fn single_user_server_refuses_registration() {
    let app = TestApp::with(&[("ROOKERY_ACCESS_SINGLE_USER", "true")]).await;
    app.set("registrations_mode", "open").await;
    app.application("write").await.post("/api/v1/accounts").json(&form("alice")).fails(403).await;
}

#[tokio::test]
async fn registration_in_browser_confirms_and_signs_in() {
    let app = open().await;
    let browser = Browser::new(&app);
    let page = browser.get("/auth/sign_up").await;
    assert_eq!(page.status, 200);

    let short = [("username", "alice"), ("email", "alice@mail.test"), ("password", "short"), ("agreement", "true")];
    let again = browser.submit(&page, "/auth/sign_up", &short).await;
    assert_eq!(again.status, 422);
    assert!(again.text().contains("It is too short"), "{}", again.text());
    assert!(again.text().contains("value=\"alice\""), "the input stays");

    let good =
        [("username", "alice"), ("email", "alice@mail.test"), ("password", "long enough"), ("agreement", "true")];
    let done = browser.submit(&again, "/auth/sign_up", &good).await;
    assert_eq!(done.status, 200);
    assert!(done.text().contains("alice@mail.test"));

    assert_eq!(browser.sign_in("alice@mail.test", "long enough").await.status, 422, "not confirmed yet");
    let link = app.mailed_link().await;
    assert!(browser.get(&link).await.text().contains("Welcome to the colony"));
    assert!(browser.get(&link).await.text().contains("That link has expired"), "it works once");
    assert_eq!(browser.sign_in("alice@mail.test", "long enough").await.status, 302);
}

#[tokio::test]
async fn closed_registration_shows_own_message() {
    let app = TestApp::new().await;
    app.set("registrations_message", "Come back in **spring**.").await;
    let browser = Browser::new(&app);
    let page = browser.get("/auth/sign_up").await.text();
    assert!(page.contains("<strong>spring</strong>"));
    assert!(!page.contains("name=\"password\""));
}

#[tokio::test]
async fn resent_confirmation_replaces_earlier_link() {
    let app = open().await;
    let browser = Browser::new(&app);
    app.application("write").await.post("/api/v1/accounts").json(&form("alice")).ok().await;
    let first = app.mailed_link().await;

    let page = browser.get("/auth/confirmation").await;
    let sent = browser.submit(&page, "/auth/confirmation", &[("email", "ALICE@mail.test")]).await;
    assert_eq!(sent.status, 200);
    browser.submit(&page, "/auth/confirmation", &[("email", "nobody@mail.test")]).await;
    let second = app.mailed_link().await;

    assert_eq!(app.letters().await.len(), 2, "no other mail is sent");
    assert!(browser.get(&first).await.text().contains("That link has expired"));
    assert!(browser.get(&second).await.text().contains("Welcome to the colony"));
}

#[tokio::test]
async fn confirmation_link_expires_after_two_days() {
    let app = open().await;
    app.application("write").await.post("/api/v1/accounts").json(&form("alice")).ok().await;
    let link = app.mailed_link().await;
    app.app.clock.advance(chrono::Duration::days(2));
    assert!(Browser::new(&app).get(&link).await.text().contains("That link has expired"));
}

#[tokio::test]
async fn owner_link_works_once() {
    let app = TestApp::new().await;
    let lost = owner::setup_link(&app.app).await.unwrap().unwrap();
    let link = owner::setup_link(&app.app).await.unwrap().unwrap();
    let path = |link: &str| link.strip_prefix("https://example.test").unwrap().to_owned();
    let browser = Browser::new(&app);
    assert!(browser.get(&path(&lost)).await.text().contains("link is not valid"), "a later link replaces it");

    let page = browser.get(&path(&link)).await;
    assert_eq!(page.header("referrer-policy"), "no-referrer");
    let fields =
        [("site_title", "The Nest"), ("username", "olga"), ("email", "olga@mail.test"), ("password", "long enough")];
    let done = browser.submit(&page, "/auth/setup", &fields).await;
    assert_eq!(done.status, 302, "{}", done.text());
    let settings = browser.get("/settings").await;
    assert_eq!(settings.status, 200, "she is signed in");
    assert!(settings.text().contains("The Nest"));
    let role: Vec<i64> =
        app.db().fetch_raw::<(i64,)>("SELECT role_id FROM users").await.unwrap().into_iter().map(|row| row.0).collect();
    assert_eq!(role, [3]);

    assert!(browser.get(&path(&link)).await.text().contains("This server has an owner"));
    assert_eq!(owner::setup_link(&app.app).await.unwrap(), None);
}

#[tokio::test]
async fn approval_is_mailed() {
    let app = TestApp::new().await;
    app.set("registrations_mode", "approved").await;
    app.application("write").await.post("/api/v1/accounts").json(&form("alice")).ok().await;
    let link = app.mailed_link().await;
    assert!(Browser::new(&app).get(&link).await.text().contains("A moderator"));

    let account = staff::find(&app.app, "alice").await.unwrap();
    account::approve(&app.app, &Staff::operator(), account.id, true).await.unwrap();
    account::approve(&app.app, &Staff::operator(), account.id, true).await.expect_err("once");
    let letters = app.letters().await;
    assert_eq!(letters.len(), 2);
    assert!(letters[1].contains("your request was approved"));
    assert!(letters[1].contains("To: alice@mail.test"));
}

#[tokio::test]
async fn registration_shows_rules_first() {
    let app = open().await;
    service::rule::add(&app.app, &model::Staff::operator(), "Be kind", "To <all>").await.unwrap();
    let page = Browser::new(&app).get("/auth/sign_up").await.text();
    assert!(page.contains("Be kind"));
    assert!(page.contains("To &lt;all&gt;"));
}
