//! Rate limits (docs/contract/rules.md#5-rate-limits).

use chrono::Duration;
use service::rate_limits::{self, Family};

use crate::harness::{Browser, TestApp};

async fn limited() -> TestApp {
    TestApp::with(&[("ROOKERY_RATE_LIMITS_ENABLED", "true")]).await
}

#[tokio::test]
async fn anonymous_requests_are_limited_to_300_in_five_minutes() {
    let app = limited().await;
    let path = "/api/v1/accounts/1";

    let first = app.anonymous().get(path).send().await;
    assert_eq!(first.header("x-ratelimit-limit"), "300");
    assert_eq!(first.header("x-ratelimit-remaining"), "299");
    assert_eq!(first.header("x-ratelimit-reset"), "2026-01-15T12:05:00.000000Z");
    for _ in 0..299 {
        assert_eq!(app.anonymous().get(path).send().await.status, 404);
    }
    let refused = app.anonymous().get(path).send().await;
    assert_eq!(refused.status, 429);
    assert_eq!(refused.header("x-ratelimit-remaining"), "0");
    assert!(refused.json()["error"].is_string());

    app.app.clock.advance(Duration::minutes(5));
    assert_eq!(app.anonymous().get(path).send().await.status, 404);
}

#[tokio::test]
async fn rate_limit_closest_to_exhaustion_is_shown() {
    let app = limited().await;
    let alice = app.account("alice").await;
    let path = format!("/api/v1/accounts/{}", alice.id());

    let plain = alice.get(&path).send().await;
    assert_eq!(plain.header("x-ratelimit-limit"), "300", "the token's is lower than the person's 1500");
    let paging = alice.get(&format!("{path}?max_id=1")).send().await;
    assert_eq!(paging.header("x-ratelimit-remaining"), "298", "the token's second, the first of paging");
    let page = app.anonymous().get("/").send().await;
    assert_eq!(page.header("x-ratelimit-limit"), "", "only the API shows limits");
}

#[tokio::test]
async fn credentials_of_applications_have_a_limit_per_address_and_small_bodies() {
    let app = limited().await;
    let long = serde_json::json!({"client_id": "x".repeat(16 * 1024)}).to_string();
    for path in ["/oauth/token", "/oauth/revoke", "/oauth/introspect"] {
        app.anonymous().post(path).body("application/json", long.clone().into_bytes()).fails(413).await;
        let named = app.anonymous().post(path).header("authorization", "Basic x");
        named.body("application/json", long.clone().into_bytes()).fails(413).await;
    }
    for _ in 0..294 {
        assert_ne!(app.anonymous().post("/oauth/token").send().await.status, 429);
    }
    for path in ["/oauth/token", "/oauth/revoke", "/oauth/introspect"] {
        app.anonymous().post(path).fails(429).await;
    }
    assert_eq!(app.anonymous().get("/oauth/token/info").send().await.status, 401, "looks at one token, by its hash");
}

#[tokio::test]
async fn json_of_too_many_values_is_refused_before_it_is_parsed() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    for odd in [format!("[{}]", "{},".repeat(20_000)), format!("{}{}", "[".repeat(40), "]".repeat(40))] {
        let body = format!("{{\"client_name\": {odd}}}").into_bytes();
        let refusal = alice.post("/api/v1/apps").body("application/json", body).fails(400).await;
        assert!(refusal.contains("values") || refusal.contains("levels"), "{refusal}");
    }
}

#[tokio::test]
async fn failed_action_refunds_rate_limit() {
    let app = limited().await;
    let alice = app.account("alice").await;

    for _ in 0..500 {
        drop(rate_limits::family(&app.app, alice.id(), Family::Follows).unwrap());
    }
    for _ in 0..400 {
        rate_limits::family(&app.app, alice.id(), Family::Follows).unwrap().keep();
    }
    assert!(rate_limits::family(&app.app, alice.id(), Family::Follows).is_err());
    assert!(rate_limits::family(&app.app, alice.id(), Family::Statuses).is_ok());

    app.app.clock.advance(Duration::hours(24));
    assert!(rate_limits::family(&app.app, alice.id(), Family::Follows).is_ok());
}

#[tokio::test]
async fn disabled_rate_limits_count_nothing() {
    let app = TestApp::new().await;
    let answer = app.anonymous().get("/api/v1/accounts/1").send().await;
    assert_eq!(answer.header("x-ratelimit-limit"), "");
}

#[tokio::test]
async fn registering_apps_is_limited_by_address_behind_a_trusted_proxy() {
    let app =
        TestApp::with(&[("ROOKERY_RATE_LIMITS_ENABLED", "true"), ("ROOKERY_SERVER_TRUSTED_PROXIES", "127.0.0.0/8")])
            .await;
    let register = |from: &'static str| app.anonymous().post("/api/v1/apps").header("x-forwarded-for", from);

    for _ in 0..5 {
        assert_ne!(register("192.0.2.1").send().await.status, 429);
    }
    register("192.0.2.1").fails(429).await;
    assert_ne!(register("192.0.2.2").send().await.status, 429);
}

#[tokio::test]
async fn publishing_shows_the_limit_of_statuses() {
    let app = limited().await;
    let alice = app.account("alice").await;

    let published = alice.post("/api/v1/statuses").form(&[("status", "hello")]).send().await;
    assert_eq!(published.status, 200);
    assert_eq!(published.header("x-ratelimit-reset"), "2026-01-15T15:00:00.000000Z", "three hours");
    assert_eq!(published.header("x-ratelimit-remaining"), "299");

    for _ in 0..299 {
        rate_limits::family(&app.app, alice.id(), Family::Statuses).unwrap().keep();
    }
    let refused = alice.post("/api/v1/statuses").form(&[("status", "again")]).send().await;
    assert_eq!(refused.status, 429);
    assert_eq!(refused.header("x-ratelimit-remaining"), "0");
}

#[tokio::test]
async fn password_guessing_ends_with_a_page() {
    let app = limited().await;
    app.account("alice").await;
    let browser = Browser::new(&app);
    let page = browser.get("/auth/sign_in").await;
    let fields = [("email", "alice"), ("password", "guess")];

    for _ in 0..25 {
        assert_eq!(browser.submit(&page, "/auth/sign_in", &fields).await.status, 422);
    }
    let refused = browser.submit(&page, "/auth/sign_in", &fields).await;
    assert_eq!(refused.status, 429);
    assert!(refused.text().contains("Too many tries"), "{}", refused.text());
}

#[tokio::test]
async fn password_guesses_count_per_account_in_any_spelling() {
    let app = limited().await;
    app.account("alice").await;
    let browser = Browser::new(&app);
    let page = browser.get("/auth/sign_in").await;
    let spellings = ["alice", "ALICE", " @alice", "@Alice@example.test", "alice@example.test"];
    let guess = async |name: &str| {
        // Long enough for the limit per address, which is separate.
        app.app.clock.advance(Duration::minutes(1));
        browser.submit(&page, "/auth/sign_in", &[("email", name), ("password", "guess")]).await.status
    };
    for _ in 0..5 {
        for name in spellings {
            assert_eq!(guess(name).await, 422, "{name}");
        }
    }
    for name in spellings {
        assert_eq!(guess(name).await, 429, "{name}");
    }
    assert_eq!(guess("bob").await, 422);
}
