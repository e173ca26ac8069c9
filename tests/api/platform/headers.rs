//! Response headers, and servers that are closed to anonymous callers (docs/contract/rules.md#6-caching-cors-headers
//! and docs/contract/rules.md#7-access-modes).

use axum::http::Method;

use crate::harness::{Browser, TestApp};
use crate::platform::contract;
use crate::routes::media::png;

const PUBLIC: &str = "max-age=15, public, stale-while-revalidate=30, stale-if-error=86400";

#[tokio::test]
async fn responses_are_cacheable_only_when_anonymous() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let path = format!("/api/v1/accounts/{}", alice.id());

    let anonymous = app.anonymous().get(&path).send().await;
    assert_eq!(anonymous.header("cache-control"), PUBLIC);
    assert_eq!(anonymous.header("vary"), "Authorization");

    let signed_in = alice.get(&path).send().await;
    assert_eq!(signed_in.header("cache-control"), "private, no-store");
    let token = alice.token.clone().unwrap();
    for name in ["access_token", "access%5Ftoken", "%61ccess_toke%6E", "bearer%5ftoken"] {
        let by_query = app.anonymous().get(&format!("{path}?{name}={token}")).send().await;
        assert_eq!(by_query.header("cache-control"), "private, no-store", "{name}");
        app.anonymous().get(&format!("/api/v1/accounts/verify_credentials?{name}={token}")).ok().await;
    }

    let missing = app.anonymous().get("/api/v1/accounts/1").send().await;
    assert_eq!(missing.header("cache-control"), "private, no-store");
}

#[tokio::test]
async fn deprecated_routes_of_the_contract_have_their_date() {
    let app = TestApp::new().await;
    let client = app.application("read").await;
    let (mut dated, mut wrong) = (0, Vec::new());
    let ours = |row: &contract::Route| row.path.starts_with("/api/") && row.group != "streaming";
    for row in contract::routes().into_iter().filter(ours) {
        let expected = row.notes.strip_prefix("deprecated: Mastodon ").map(|notes| {
            let date = notes.split_once('(').unwrap().1.split_once(')').unwrap().0;
            let date: chrono::NaiveDate = date.parse().unwrap();
            format!("@{}", date.and_time(chrono::NaiveTime::MIN).and_utc().timestamp())
        });
        dated += usize::from(expected.is_some());
        let method: Method = row.method.parse().unwrap();
        let response = client.request(method, &row.path.replace(':', "")).send().await;
        let sent = response.headers.get("deprecation").map(|value| value.to_str().unwrap().to_owned());
        if sent != expected {
            wrong.push(format!("{}: {sent:?} instead of {expected:?}", row.name()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(dated > 9, "the notes of the table have dates");
    let document = app.anonymous().get("/api/openapi.json").ok().await;
    let marked = |path: &str| document["paths"][path]["get"]["deprecated"].clone();
    assert_eq!((marked("/api/v1/instance"), marked("/api/v2/instance")), (true.into(), serde_json::Value::Null));
}

#[tokio::test]
async fn every_api_response_is_protected_and_has_an_id() {
    let app = TestApp::new().await;
    let first = app.anonymous().get("/api/v1/nothing").send().await;
    let second = app.anonymous().get("/api/v1/nothing").send().await;

    assert_eq!(
        first.header("content-security-policy"),
        "default-src 'none'; frame-ancestors 'none'; form-action 'none'"
    );
    assert_eq!(first.header("x-content-type-options"), "nosniff");
    assert_eq!(first.header("access-control-allow-origin"), "*");
    assert!(first.header("access-control-expose-headers").contains("X-RateLimit-Remaining"));
    assert!(!first.header("x-request-id").is_empty());
    assert_ne!(first.header("x-request-id"), second.header("x-request-id"));
}

#[tokio::test]
async fn scripts_of_other_origins_may_use_the_api_and_not_the_pages() {
    let app = TestApp::new().await;
    let ask = |path: &str| {
        let request = app.anonymous().request(Method::OPTIONS, path);
        request.header("origin", "https://elsewhere.test").header("access-control-request-method", "POST")
    };

    let api = ask("/api/v1/statuses").header("access-control-request-headers", "authorization").send().await;
    assert_eq!(api.status, 200);
    assert_eq!(api.header("access-control-allow-methods"), "POST, PUT, DELETE, GET, PATCH, OPTIONS");
    assert_eq!(api.header("access-control-allow-headers"), "authorization");
    let token = ask("/oauth/token").send().await;
    assert_eq!(token.header("access-control-allow-methods"), "POST");
    let page = ask("/settings").send().await;
    assert_eq!(page.header("access-control-allow-origin"), "");
}

#[tokio::test]
async fn closed_server_serves_only_users() {
    let app = TestApp::with(&[("ROOKERY_ACCESS_DISALLOW_UNAUTHENTICATED_API", "true")]).await;
    let alice = app.account("alice").await;
    let path = format!("/api/v1/accounts/{}", alice.id());

    app.anonymous().get(&path).fails(401).await;
    app.application("read").await.get(&path).fails(401).await;
    assert_eq!(alice.get(&path).send().await.status, 200);
    // Open to anonymous callers, since it describes the server.
    assert_ne!(app.anonymous().get("/api/v1/instance/rules").send().await.status, 401);
}

#[tokio::test]
async fn closed_server_serves_no_account_that_cannot_be_used() {
    let app = TestApp::with(&[("ROOKERY_ACCESS_DISALLOW_UNAUTHENTICATED_API", "true")]).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    app.unconfirm(&bob).await;

    let refusal = bob.get(&format!("/api/v1/accounts/{}", alice.id())).fails(403).await;
    assert!(refusal.contains("confirmed"), "{refusal}");
    // Routes for unconfirmed accounts stay open: this account is found, and has no application.
    bob.get("/api/v1/apps/verify_credentials").fails(404).await;
}

/// Changes by an admin or by time that make an account unusable.
const UNUSABLE: [&str; 6] = [
    "UPDATE users SET confirmed_at = NULL WHERE account_id = ",
    "UPDATE users SET approved = FALSE WHERE account_id = ",
    "UPDATE users SET disabled = TRUE WHERE account_id = ",
    "UPDATE accounts SET suspended_at = created_at WHERE id = ",
    "UPDATE accounts SET memorial = TRUE WHERE id = ",
    "UPDATE accounts SET moved_to_account_id = id WHERE id = ",
];

#[tokio::test]
async fn limited_federation_treats_unusable_accounts_as_signed_out() {
    let app = TestApp::with(&[("ROOKERY_ACCESS_LIMITED_FEDERATION", "true")]).await;
    let alice = app.account("alice").await;
    let media = alice.upload(&png(8, 8)).ok().await;
    let file = media["url"].as_str().unwrap().strip_prefix("https://example.test").unwrap();
    for (at, statement) in UNUSABLE.into_iter().enumerate() {
        let bob = app.account(&format!("bob{at}")).await;
        let browser = Browser::signed_in(&app, &bob.name).await;
        assert_eq!(browser.get(file).await.status, 200);
        app.execute(&format!("{statement}{}", bob.id())).await;

        for path in [&format!("/api/v1/accounts/{}", alice.id()), "/api/v1/reaction_deck", "/api/v1/instance/rules"] {
            // The owner of an account that moved may read, and manage applications in the browser.
            let refused = bob.get(path).send().await.status == 403;
            assert_eq!(refused, !statement.contains("moved"), "{statement}: {path}");
        }
        let (file_status, page) = if statement.contains("moved") { (200, 200) } else { (401, 302) };
        assert_eq!(bob.get(file).send().await.status, file_status, "{statement}");
        assert_eq!(browser.get("/@alice").await.status, page, "{statement}");
    }
}

#[tokio::test]
async fn limited_federation_closes_the_instance_too() {
    let app = TestApp::with(&[("ROOKERY_ACCESS_LIMITED_FEDERATION", "true")]).await;
    let alice = app.account("alice").await;

    app.anonymous().get("/api/v1/instance/rules").fails(401).await;
    let instance = alice.get("/api/v2/instance").ok().await;
    contract::check("Instance", &instance);
    assert_eq!(instance["configuration"]["limited_federation"], true);
    alice.get("/api/v1/instance/peers").fails(404).await;
    let account = alice.get(&format!("/api/v1/accounts/{}", alice.id())).send().await;
    assert_eq!(account.header("cache-control"), "private, no-store");
}

#[tokio::test]
async fn declared_oversized_body_is_refused_unread() {
    let app = TestApp::new().await;
    let request = app.anonymous().post("/api/v1/apps").header("content-length", "100000000");
    request.body("application/json", b"{}".to_vec()).fails(413).await;

    let alice = app.account("alice").await;
    let upload = alice.post("/api/v2/media").header("content-length", "100000000");
    assert!(upload.multipart(&[], &[("file", "a.png", b"x")]).fails(422).await.contains("larger"));
}

#[tokio::test]
async fn large_public_responses_are_compressed() {
    let app = TestApp::new().await;
    let get = |path: &str| app.anonymous().get(path).header("accept-encoding", "gzip");

    let page = app.anonymous().get("/auth/sign_up").send().await;
    let text = page.text();
    let css = text.split('"').find(|part| part.starts_with("/assets/style")).unwrap();
    let style = get(css).send().await;
    assert_eq!(style.header("content-encoding"), "gzip");
    assert!(style.header("vary").contains("accept-encoding"));
    assert_eq!(get("/auth/sign_in").send().await.header("content-encoding"), "", "its form holds a token");
    assert_eq!(get("/livez").send().await.header("content-encoding"), "");
}

#[tokio::test]
async fn limited_federation_shows_pages_to_local_accounts() {
    let app = TestApp::with(&[("ROOKERY_ACCESS_LIMITED_FEDERATION", "true")]).await;
    app.account("alice").await;
    let stranger = Browser::new(&app);

    let page = stranger.get("/@alice").await;
    assert_eq!(page.status, 302);
    assert_eq!(page.header("location"), "/auth/sign_in?next=%2F%40alice");
    assert_eq!(stranger.get("/auth/sign_up").await.status, 200);

    let page = Browser::signed_in(&app, "alice").await.get("/@alice").await;
    assert_eq!(page.status, 200);
    assert_eq!(page.header("cache-control"), "private, no-store");
}
