//! <https://docs.joinmastodon.org/methods/apps/>

use serde_json::{Value, json};

use crate::harness::TestApp;
use crate::platform::contract::check;

#[tokio::test]
async fn app_registers_and_gets_its_secret_once() {
    let app = TestApp::new().await;
    let new = json!({"client_name": "Test", "redirect_uris": "app://cb", "scopes": "read write", "website": "https://app.test"});

    let made = app.anonymous().post("/api/v1/apps").json(&new).ok().await;

    check("CredentialApplication", &made);
    assert_eq!(made["client_secret_expires_at"], 0, "it does not expire");
    assert_eq!(made["name"], "Test");
    assert_eq!(made["scopes"], json!(["read", "write"]));
    assert_eq!(made["redirect_uris"], json!(["app://cb"]));
    assert_eq!(made["redirect_uri"], "app://cb");
    assert_eq!(made["website"], "https://app.test");
    assert_eq!(made["vapid_key"], app.app.vapid.as_ref().unwrap().public_key());

    let secret = made["client_secret"].as_str().unwrap();
    let stored: Vec<(String, String)> =
        app.db().fetch_raw("SELECT client_id, client_secret_hash FROM oauth_apps").await.unwrap();
    assert_eq!(stored, [(made["client_id"].as_str().unwrap().to_owned(), crypto::hash(secret))]);
}

#[tokio::test]
async fn app_registers_in_every_body_format() {
    let app = TestApp::new().await;
    let anonymous = app.anonymous();

    let form = [("client_name", "F"), ("redirect_uris[]", "https://a.test/cb"), ("redirect_uris[]", "app:/b")];
    let made = anonymous.post("/api/v1/apps").form(&form).ok().await;
    assert_eq!(made["redirect_uris"], json!(["https://a.test/cb", "app:/b"]));
    assert_eq!(made["redirect_uri"], "https://a.test/cb\napp:/b");
    assert_eq!(made["scopes"], json!(["read"]));
    assert_eq!(made["website"], Value::Null);

    let query =
        "/api/v1/apps?client_name=Q&redirect_uris=urn:ietf:wg:oauth:2.0:oob%0Aapp://x&scopes=follow%20follow%20push";
    let made = anonymous.post(query).ok().await;
    assert_eq!(made["redirect_uris"], json!(["urn:ietf:wg:oauth:2.0:oob", "app://x"]));
    assert_eq!(made["scopes"], json!(["follow", "push"]));

    let array =
        json!({"client_name": "A", "redirect_uris": ["http://localhost:1/"], "scopes": ["write"], "website": ""});
    let made = anonymous.post("/api/v1/apps").json(&array).ok().await;
    assert_eq!(made["scopes"], json!(["read"]));
    assert_eq!(made["website"], Value::Null);
}

#[tokio::test]
async fn missing_or_wrong_app_fields_are_reported() {
    let app = TestApp::new().await;
    let long = "x".repeat(2000);
    let cases = [
        (json!({"redirect_uris": "app://cb"}), "client_name"),
        (json!({"client_name": "  ", "redirect_uris": "app://cb"}), "client_name"),
        (json!({"client_name": "n".repeat(61), "redirect_uris": "app://cb"}), "client_name"),
        (json!({"client_name": ["a"], "redirect_uris": "app://cb"}), "client_name"),
        (json!({"client_name": "A\u{0}", "redirect_uris": "app://cb"}), "client_name"),
        (json!({"client_name": "A"}), "redirect_uris"),
        (json!({"client_name": "A", "redirect_uris": " "}), "redirect_uris"),
        (json!({"client_name": "A", "redirect_uris": []}), "redirect_uris"),
        (json!({"client_name": "A", "redirect_uris": [{"a": 1}]}), "redirect_uris"),
        (json!({"client_name": "A", "redirect_uris": "/relative"}), "redirect_uris"),
        (json!({"client_name": "A", "redirect_uris": "https://a.test/#x"}), "redirect_uris"),
        (json!({"client_name": "A", "redirect_uris": "javascript:alert(1)"}), "redirect_uris"),
        (json!({"client_name": "A", "redirect_uris": "DATA:text/html,x"}), "redirect_uris"),
        (json!({"client_name": "A", "redirect_uris": "vbscript:x"}), "redirect_uris"),
        (json!({"client_name": "A", "redirect_uris": format!("app://{long}")}), "redirect_uris"),
        (json!({"client_name": "A", "redirect_uris": "app://cb", "scopes": "read nonsense"}), "scopes"),
        (json!({"client_name": "A", "redirect_uris": "app://cb", "website": "ftp://a.test"}), "website"),
        (json!({"client_name": "A", "redirect_uris": "app://cb", "website": "nonsense"}), "website"),
        (
            json!({"client_name": "A", "redirect_uris": "app://cb", "website": format!("https://a.test/{long}")}),
            "website",
        ),
    ];
    for (body, parameter) in cases {
        let error = app.anonymous().post("/api/v1/apps").json(&body).fails(422).await;
        assert!(error.contains(parameter), "{body}: {error}");
    }
    let none: Vec<(i64,)> = app.db().fetch_raw("SELECT id FROM oauth_apps").await.unwrap();
    assert!(none.is_empty(), "nothing was written");
}

#[tokio::test]
async fn every_token_of_an_app_identifies_the_app() {
    let app = TestApp::new().await;
    let new = json!({"client_name": "Test", "redirect_uris": "app://cb", "scopes": "push"});
    let made = app.anonymous().post("/api/v1/apps").json(&new).ok().await;
    let form = [
        ("grant_type", "client_credentials"),
        ("client_id", made["client_id"].as_str().unwrap()),
        ("client_secret", made["client_secret"].as_str().unwrap()),
        ("scope", "push"),
    ];
    let token = app.anonymous().post("/oauth/token").form(&form).ok().await;
    let mut client = app.anonymous();
    client.token = Some(token["access_token"].as_str().unwrap().to_owned());

    let application = client.get("/api/v1/apps/verify_credentials").ok().await;

    check("Application", &application);
    assert_eq!(application["id"], made["id"]);
    assert!(application.get("client_id").is_none() && application.get("client_secret").is_none());

    app.anonymous().get("/api/v1/apps/verify_credentials").fails(401).await;
    client.token = Some("nonsense".to_owned());
    client.get("/api/v1/apps/verify_credentials").fails(401).await;
}

#[tokio::test]
async fn unconfirmed_user_may_verify_app_credentials() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    // Tokens of the command line have no application.
    alice.get("/api/v1/apps/verify_credentials").fails(404).await;
    app.unconfirm(&alice).await;
    alice.get("/api/v1/apps/verify_credentials").fails(404).await;
    app.suspend(&alice).await;
    alice.get("/api/v1/apps/verify_credentials").fails(403).await;
}
