//! <https://docs.joinmastodon.org/methods/oauth/#token>: codes are redeemed, tokens are issued, introspected and revoked,
//! and the server's metadata names these endpoints.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::Duration;
use serde_json::{Value, json};

use super::oauth::{Application, CHALLENGE, refused, setting, with_token};
use crate::harness::{Browser, OTHER_SECRET, TestApp, form_fields};
use crate::platform::contract::check;

const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

#[tokio::test]
async fn code_reuse_revokes_its_token() {
    let (app, alice, browser, application) = setting("read").await;
    let code = application.code(&browser, &[]).await;
    let token = application.redeem(&code, &[]).await.json()["access_token"].as_str().unwrap().to_owned();
    let me = with_token(&app, &token);
    me.get("/oauth/token/info").ok().await;

    refused(&application.redeem(&code, &[]).await, 400, "invalid_grant");
    me.get(&format!("/api/v1/accounts/{}", alice.id())).fails(401).await;
}

#[tokio::test]
async fn concurrent_redemptions_of_a_code_issue_one_token() {
    let (app, _, browser, application) = setting("read").await;
    let code = application.code(&browser, &[]).await;
    let all = futures_util::future::join_all((0..6).map(|_| application.redeem(&code, &[]))).await;
    assert_eq!(all.iter().filter(|answer| answer.status == 200).count(), 1);
    let tokens: Vec<(i64,)> = app
        .db()
        .fetch_raw("SELECT id FROM oauth_tokens WHERE app_id IS NOT NULL AND revoked_at IS NULL")
        .await
        .unwrap();
    assert!(tokens.is_empty(), "and the issued token is revoked");
}

#[tokio::test]
async fn code_is_bound_to_client_redirect_and_time() {
    let (app, _, browser, application) = setting("read").await;
    let other = Application::register(&app, "read").await;
    let code = application.code(&browser, &[]).await;

    refused(&other.redeem(&code, &[]).await, 400, "invalid_grant");
    let elsewhere = [("grant_type", "authorization_code"), ("code", code.as_str()), ("redirect_uri", "app://cb")];
    refused(&application.token(&elsewhere).await, 400, "invalid_grant");
    refused(&application.redeem("nonsense", &[]).await, 400, "invalid_grant");
    assert_eq!(application.redeem(&code, &[]).await.status, 200, "failures do not use it up");

    let late = application.code(&browser, &[]).await;
    app.app.clock.advance(Duration::seconds(601));
    refused(&application.redeem(&late, &[]).await, 400, "invalid_grant");
}

#[tokio::test]
async fn code_with_challenge_needs_verifier() {
    let (_, _, browser, application) = setting("read").await;
    let challenge = [("code_challenge", CHALLENGE), ("code_challenge_method", "S256")];
    let code = application.code(&browser, &challenge).await;

    refused(&application.redeem(&code, &[]).await, 400, "invalid_request");
    refused(&application.redeem(&code, &[("code_verifier", "wrong")]).await, 400, "invalid_grant");
    refused(&application.redeem(&code, &[("code_verifier", CHALLENGE)]).await, 400, "invalid_grant");
    assert_eq!(application.redeem(&code, &[("code_verifier", VERIFIER)]).await.status, 200);

    let plain = application.code(&browser, &[]).await;
    refused(&application.redeem(&plain, &[("code_verifier", VERIFIER)]).await, 400, "invalid_grant");
}

#[tokio::test]
async fn token_endpoint_names_errors() {
    let (app, _, _, application) = setting("write").await;
    let anonymous = app.anonymous();

    refused(&application.token(&[]).await, 400, "invalid_request");
    refused(&application.token(&[("grant_type", "password")]).await, 400, "unsupported_grant_type");
    refused(&application.token(&[("grant_type", "refresh_token")]).await, 400, "unsupported_grant_type");
    refused(&application.token(&[("grant_type", "authorization_code")]).await, 400, "invalid_request");
    let no_uri = [("grant_type", "authorization_code"), ("code", "x")];
    refused(&application.token(&no_uri).await, 400, "invalid_request");

    let credentials = [("grant_type", "client_credentials")];
    for (id, secret) in [("nobody", "x"), (application.id.as_str(), "x"), (application.id.as_str(), "")] {
        let fields = [&credentials[..], &[("client_id", id), ("client_secret", secret)]].concat();
        let answer = anonymous.post("/oauth/token").form(&fields).send().await;
        refused(&answer, 401, "invalid_client");
        assert!(answer.header("www-authenticate").starts_with("Basic"));
    }
    refused(&anonymous.post("/oauth/token").form(&credentials).send().await, 401, "invalid_client");
    let broken = anonymous.post("/oauth/token").body("application/json", b"{".to_vec()).send().await;
    refused(&broken, 400, "invalid_request");
    let nul = anonymous.post("/oauth/token").form(&[("grant_type", "a\0")]).send().await;
    refused(&nul, 400, "invalid_request");
    anonymous.get("/oauth/token").fails(404).await;

    // Without a scope parameter, `read` is requested, which this application did not register.
    refused(&application.token(&credentials).await, 400, "invalid_scope");
    refused(&application.token(&[credentials[0], ("scope", "admin:read")]).await, 400, "invalid_scope");
    refused(&application.token(&[credentials[0], ("scope", "nonsense")]).await, 400, "invalid_scope");
}

#[tokio::test]
async fn app_token_is_granted_in_every_body_format() {
    let app = TestApp::new().await;
    let application = Application::register(&app, "read write:media").await;
    let credentials = [("grant_type", "client_credentials"), ("scope", "write:media")];
    let token = application.token(&credentials).await.json();
    check("Token", &token);
    assert_eq!(token["scope"], "write:media");

    let basic = STANDARD.encode(format!("{}:{}", application.id, application.secret));
    let post = || app.anonymous().post("/oauth/token").header("authorization", &format!("Basic {basic}"));
    assert_eq!(post().form(&credentials).ok().await["access_token"], token["access_token"]);
    let body = json!({"grant_type": "client_credentials", "scope": "write:media"});
    assert_eq!(post().json(&body).ok().await["access_token"], token["access_token"], "the same token again");
    let read = post().json(&json!({"grant_type": "client_credentials"})).ok().await;
    assert_eq!(read["scope"], "read");
    let nul = STANDARD.encode("a\0b:c");
    let wrong =
        app.anonymous().post("/oauth/token").header("authorization", &format!("Basic {nul}")).form(&credentials);
    refused(&wrong.send().await, 401, "invalid_client");

    let info = with_token(&app, token["access_token"].as_str().unwrap()).get("/oauth/token/info").ok().await;
    assert_eq!(info["resource_owner_id"], Value::Null);
}

#[tokio::test]
async fn app_revokes_only_own_tokens() {
    let (app, _, browser, application) = setting("read").await;
    let other = Application::register(&app, "read").await;
    let token = application.sign_in(&browser, "read").await;
    let mut events = app.app.live.subscribe();

    refused(&other.post("/oauth/revoke", &token).await, 403, "unauthorized_client");
    let thief = Application { secret: "wrong".to_owned(), id: application.id.clone(), server: app.clone() };
    refused(&thief.post("/oauth/revoke", &token).await, 403, "unauthorized_client");
    refused(&app.anonymous().post("/oauth/revoke").form(&[("token", &token)]).send().await, 403, "unauthorized_client");
    with_token(&app, &token).get("/oauth/token/info").ok().await;

    for token in [token.as_str(), token.as_str(), "unknown", ""] {
        let answer = application.post("/oauth/revoke", token).await;
        assert_eq!((answer.status.as_u16(), answer.json()), (200, json!({})), "{token}");
    }
    refused(&with_token(&app, &token).get("/oauth/token/info").send().await, 401, "invalid_token");
    let told = events.try_recv().expect("connected streams are notified");
    assert!(matches!(*told, context::change::Change::TokenRevoked { .. }));
}

#[tokio::test]
async fn app_introspects_only_own_tokens() {
    let (app, _, browser, application) = setting("read").await;
    let other = Application::register(&app, "read").await;
    let token = application.sign_in(&browser, "read").await;

    let active = application.post("/oauth/introspect", &token).await.json();
    check("TokenIntrospection", &active);
    assert_eq!(active["active"], true);
    assert_eq!((&active["scope"], &active["client_id"]), (&json!("read"), &json!(application.id)));

    for (who, what) in [(&other, token.as_str()), (&application, "unknown"), (&application, "")] {
        let answer = who.post("/oauth/introspect", what).await;
        assert_eq!(answer.json(), json!({"active": false}));
    }
    refused(&app.anonymous().post("/oauth/introspect").form(&[("token", &token)]).send().await, 401, "invalid_client");

    let credentials = [("grant_type", "client_credentials")];
    let own = application.token(&credentials).await.json()["access_token"].as_str().unwrap().to_owned();
    let by_token = |bearer: &str| with_token(&app, bearer).post("/oauth/introspect").form(&[("token", &token)]).send();
    assert_eq!(by_token(&own).await.json()["active"], true);
    refused(&by_token(&token).await, 401, "invalid_token");
    refused(&by_token("nonsense").await, 401, "invalid_token");
    let foreign = other.token(&credentials).await.json()["access_token"].as_str().unwrap().to_owned();
    assert_eq!(by_token(&foreign).await.json(), json!({"active": false}));

    application.post("/oauth/revoke", &token).await;
    assert_eq!(application.post("/oauth/introspect", &token).await.json(), json!({"active": false}));
}

#[tokio::test]
async fn authorized_apps_are_listed_and_revoked() {
    let (app, _, browser, application) = setting("read write").await;
    let tokens = [application.sign_in(&browser, "read").await, application.sign_in(&browser, "read write").await];
    let pending = application.code(&browser, &[("scope", "write")]).await;

    let page = browser.get("/oauth/authorized_applications").await;
    assert_eq!(page.status, 200);
    assert_eq!(page.text().matches("Test app</h2>").count(), 1, "once, whatever it holds");
    let html = page.text();
    let start = html.find("action=\"/oauth/authorized_applications/").unwrap() + "action=\"".len();
    let action = html[start..].split('"').next().unwrap().to_owned();

    // Another person cannot, and neither can another site.
    app.account("bob").await;
    let bob = Browser::signed_in(&app, "bob").await;
    let bobs = form_fields(&bob.get("/settings").await.text(), "/auth/sign_out");
    let csrf = bobs[0].1.as_str();
    assert_eq!(bob.post(&action, &[("_method", "delete"), ("csrf", csrf)]).await.status, 404);
    assert_eq!(browser.post(&action, &[("_method", "delete")]).await.status, 403);
    assert_eq!(bob.delete("/oauth/authorized_applications/x", &[("csrf", csrf)]).await.status, 404);

    let answer = browser.submit(&page, &action, &[]).await;
    assert_eq!(answer.header("location"), "/oauth/authorized_applications");
    for token in &tokens {
        with_token(&app, token).get("/api/v1/apps/verify_credentials").fails(401).await;
    }
    refused(&application.redeem(&pending, &[]).await, 400, "invalid_grant");
    assert!(browser.get("/oauth/authorized_applications").await.text().contains("No app is connected"));
    assert_eq!(Browser::new(&app).get("/oauth/authorized_applications").await.status, 302);
}

#[tokio::test]
async fn token_is_limited_to_its_scopes() {
    let (app, alice, browser, application) = setting("profile push read").await;
    let narrow = with_token(&app, &application.sign_in(&browser, "profile push").await);
    narrow.get(&format!("/api/v1/accounts/{}", alice.id())).fails(403).await;
    let wide = with_token(&app, &application.sign_in(&browser, "read").await);
    wide.get(&format!("/api/v1/accounts/{}", alice.id())).ok().await;
}

#[tokio::test]
async fn userinfo_names_the_owner_of_the_token() {
    let (app, alice, browser, application) = setting("profile read").await;
    alice.patch("/api/v1/profile").json(&json!({ "display_name": "Alice A." })).ok().await;
    let token = application.sign_in(&browser, "profile").await;
    let claims = with_token(&app, &token).get("/oauth/userinfo").ok().await;
    check("UserInfo", &claims);
    let shown = app.anonymous().get(&format!("/api/v1/accounts/{}", alice.id())).ok().await;
    let expected = json!({
        "iss": "https://example.test/", "sub": shown["uri"], "name": "Alice A.", "preferred_username": "alice",
        "profile": shown["url"], "picture": shown["avatar"],
    });
    assert_eq!(claims, expected);
    assert_eq!(with_token(&app, &token).post("/oauth/userinfo").ok().await, claims);

    app.anonymous().get("/oauth/userinfo").fails(401).await;
    with_token(&app, &application.sign_in(&browser, "read").await).get("/oauth/userinfo").fails(403).await;
    let own = application.token(&[("grant_type", "client_credentials"), ("scope", "profile")]).await.json();
    with_token(&app, own["access_token"].as_str().unwrap()).get("/oauth/userinfo").fails(422).await;
    let metadata = app.anonymous().get("/.well-known/oauth-authorization-server").ok().await;
    assert_eq!(metadata["userinfo_endpoint"], "https://example.test/oauth/userinfo");
}

#[tokio::test]
async fn oauth_metadata_describes_server() {
    let app = TestApp::new().await;
    let metadata = app.anonymous().get("/.well-known/oauth-authorization-server").ok().await;
    check("OAuthServerMetadata", &metadata);
    assert_eq!(metadata["issuer"], "https://example.test/");
    assert_eq!(metadata["response_modes_supported"], json!(["query", "fragment", "form_post"]));
    for path in ["/oauth/applications", "/oauth/applications/1", "/oauth/applications/new"] {
        app.anonymous().get(path).fails(403).await;
        app.anonymous().post(path).fails(403).await;
    }
}

#[tokio::test]
async fn token_is_reissued_after_secret_key_change_and_the_previous_one_stays_valid() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let browser = Browser::signed_in(&app, "alice").await;
    let application = Application::register(&app, "read").await;
    let own = [("grant_type", "client_credentials")];
    let token = async |application: &Application| {
        application.token(&own).await.json()["access_token"].as_str().unwrap().to_owned()
    };
    let (before, of_alice) = (token(&application).await, application.sign_in(&browser, "read").await);
    assert_eq!(token(&application).await, before, "the same again, by the same key");

    // On another server with different files, including the secret key.
    let moved = app.beside(&[("ROOKERY_SECRETS_KEY", OTHER_SECRET)]).await;
    let there = Application { server: moved.clone(), ..application };
    let after = token(&there).await;
    assert_ne!(after, before);
    assert_eq!(token(&there).await, after, "the same again, by the new key");
    for valid in [&before, &after] {
        with_token(&moved, valid).get("/api/v1/apps/verify_credentials").ok().await;
    }
    let browser = Browser::signed_in(&moved, "alice").await;
    let renewed = there.sign_in(&browser, "read").await;
    assert_ne!(renewed, of_alice);
    for valid in [&of_alice, &renewed] {
        let account = with_token(&moved, valid).get("/api/v1/accounts/verify_credentials").ok().await;
        assert_eq!(account["id"], alice.id().to_string());
    }
}
