//! <https://docs.joinmastodon.org/methods/emails/>

use database::Engine;
use model::{AppId, Scopes};
use serde_json::{Value, json};
use service::token;

use crate::harness::{Browser, Client, PASSWORD, TestApp};

/// Token of an application that is stored in the database.
async fn registered_app(app: &TestApp, id: i64) -> Client {
    let now = match app.db().engine() {
        Engine::Sqlite => "0",
        Engine::Postgres => "now()",
    };
    let insert = format!(
        "INSERT INTO oauth_apps (id, name, redirect_uris, scopes, client_id, client_secret_hash, superapp, created_at)
         VALUES ({id}, 'Test', '[]', 'read write', 'client{id}', '', FALSE, {now})"
    );
    app.execute(&insert).await;
    let mut tx = app.app.db.begin().await.unwrap();
    let scopes = Scopes::parse("read write").unwrap();
    let token = token::mint(&app.app, &mut tx, Some(AppId::from(id)), None, &scopes).await.unwrap();
    tx.commit().await.unwrap();
    Client::new(app.clone(), None, "", Some(token.expose().to_owned()))
}

async fn signed_up(app: &TestApp, client: &Client, name: &str) -> Client {
    app.set("registrations_mode", "open").await;
    let form =
        json!({ "username": name, "email": format!("{name}@mail.test"), "password": "long enough", "agreement": true });
    let token = client.post("/api/v1/accounts").json(&form).ok().await;
    Client::new(app.clone(), None, name, Some(token["access_token"].as_str().unwrap().to_owned()))
}

#[tokio::test]
async fn unconfirmed_user_requests_mail_at_another_address() {
    let app = TestApp::new().await;
    let alice = signed_up(&app, &registered_app(&app, 1).await, "alice").await;
    let first = app.mailed_link().await;
    assert_eq!(alice.get("/api/v1/emails/check_confirmation").ok().await, Value::Bool(false));

    let answer = alice.post("/api/v1/emails/confirmations").form(&[("email", "new@mail.test")]).ok().await;
    assert_eq!(answer, json!({}));
    let second = app.mailed_link().await;
    assert!(app.letters().await.last().unwrap().contains("To: new@mail.test"));

    let browser = Browser::new(&app);
    assert!(browser.get(&first).await.text().contains("expired"));
    browser.get(&second).await;
    assert_eq!(alice.get("/api/v1/emails/check_confirmation").ok().await, Value::Bool(true));
    alice.post("/api/v1/emails/confirmations").fails(403).await;
}

#[tokio::test]
async fn email_address_must_be_valid_and_free() {
    let app = TestApp::new().await;
    let alice = signed_up(&app, &registered_app(&app, 1).await, "alice").await;
    app.account("bob").await;
    for email in ["nonsense", "bob@example.test", "BOB@example.test"] {
        alice.post("/api/v1/emails/confirmations").form(&[("email", email)]).fails(422).await;
    }
}

#[tokio::test]
async fn other_app_cannot_request_confirmation() {
    let app = TestApp::new().await;
    let alice = signed_up(&app, &registered_app(&app, 1).await, "alice").await;
    let id: i64 = app.number("SELECT account_id FROM users").await;
    let elsewhere = app.token(Some(id.into()), "read write").await;
    let elsewhere = Client::new(app.clone(), None, "alice", Some(elsewhere));

    elsewhere.post("/api/v1/emails/confirmations").fails(403).await;
    assert_eq!(elsewhere.get("/api/v1/emails/check_confirmation").ok().await, Value::Bool(false));
    alice.post("/api/v1/emails/confirmations").ok().await;
}

#[tokio::test]
async fn email_confirmation_checks_tokens() {
    let app = TestApp::new().await;
    let client = registered_app(&app, 1).await;
    let alice = app.account("alice").await;
    for path in ["/api/v1/emails/confirmations"] {
        app.anonymous().post(path).fails(401).await;
        client.post(path).fails(422).await;
        alice.with_scopes("read").await.post(path).fails(403).await;
    }
    let check = "/api/v1/emails/check_confirmation";
    app.anonymous().get(check).fails(401).await;
    client.get(check).fails(422).await;
    alice.with_scopes("write").await.get(check).fails(403).await;
    assert_eq!(alice.get(check).ok().await, Value::Bool(true));
}

#[tokio::test]
async fn confirmation_mails_are_limited_to_five_in_half_an_hour() {
    let app = TestApp::with(&[("ROOKERY_RATE_LIMITS_ENABLED", "true")]).await;
    let alice = signed_up(&app, &registered_app(&app, 1).await, "alice").await;
    for _ in 0..5 {
        alice.post("/api/v1/emails/confirmations").ok().await;
    }
    alice.post("/api/v1/emails/confirmations").fails(429).await;
}

#[tokio::test]
async fn confirmation_mails_are_limited_per_address() {
    let app = TestApp::with(&[("ROOKERY_RATE_LIMITS_ENABLED", "true")]).await;
    app.accounts(["alice", "bob"]).await;
    let ask = async |browser: &Browser, email: &str| {
        let settings = browser.get("/settings").await;
        let fields = [("email", email), ("email_password", PASSWORD)];
        browser.submit(&settings, "/settings/email", &fields).await.status.as_u16()
    };
    let (alice, bob) = (Browser::signed_in(&app, "alice").await, Browser::signed_in(&app, "bob").await);
    for _ in 0..3 {
        assert_eq!(ask(&alice, "victim@mail.test").await, 302);
    }
    for _ in 0..2 {
        assert_eq!(ask(&bob, "Victim@mail.test").await, 302);
    }
    assert_eq!(ask(&bob, "victim@mail.test").await, 429);
    assert_eq!(ask(&bob, "another@mail.test").await, 302, "bob has letters left");
}
