//! <https://docs.joinmastodon.org/methods/oauth/>: from the application's request through the person's browser to the
//! code; `oauth_tokens` goes on from there.

use chrono::Duration;
use serde_json::json;

use crate::harness::{Answer, Browser, Client, TestApp, form_fields};
use crate::platform::contract::check;

const OOB: &str = "urn:ietf:wg:oauth:2.0:oob";
const CALLBACK: &str = "https://app.test/callback?kept=1";
pub const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// A registered application.
pub struct Application {
    pub server: TestApp,
    pub id: String,
    pub secret: String,
}

impl Application {
    pub async fn register(server: &TestApp, scopes: &str) -> Self {
        let new = json!({"client_name": "Test app", "redirect_uris": [CALLBACK, OOB, "app://cb"], "scopes": scopes});
        let made = server.anonymous().post("/api/v1/apps").json(&new).ok().await;
        let text = |key: &str| made[key].as_str().unwrap().to_owned();
        Self { server: server.clone(), id: text("client_id"), secret: text("client_secret") }
    }

    /// URL of an authorization request; `changes` replace parameters, an empty value removes one.
    pub fn authorize(&self, changes: &[(&str, &str)]) -> String {
        let defaults = [
            ("response_type", "code"),
            ("client_id", &self.id),
            ("redirect_uri", CALLBACK),
            ("scope", "read"),
            ("state", "s t&"),
        ];
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        for (name, value) in defaults {
            if !changes.iter().any(|(changed, _)| *changed == name) {
                query.append_pair(name, value);
            }
        }
        query.extend_pairs(changes.iter().filter(|(_, value)| !value.is_empty()));
        format!("/oauth/authorize?{}", query.finish())
    }

    /// Opens the authorization page and accepts it; returns the code.
    pub async fn code(&self, browser: &Browser, changes: &[(&str, &str)]) -> String {
        let page = browser.get(&self.authorize(&[changes, &[("force_login", "true")]].concat())).await;
        assert_eq!(page.status, 200, "{}", page.text());
        let answer = browser.submit(&page, "/oauth/authorize", &[("decision", "authorise")]).await;
        parameter(&answer, "code")
    }

    /// Exchanges with the client's credentials among the parameters.
    pub async fn token(&self, fields: &[(&str, &str)]) -> Answer {
        let credentials = [("client_id", self.id.as_str()), ("client_secret", self.secret.as_str())];
        self.server.anonymous().post("/oauth/token").form(&[&credentials, fields].concat()).send().await
    }

    pub async fn redeem(&self, code: &str, more: &[(&str, &str)]) -> Answer {
        let fields = [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", CALLBACK)];
        self.token(&[&fields, more].concat()).await
    }

    /// A token from the complete flow.
    pub async fn sign_in(&self, browser: &Browser, scope: &str) -> String {
        let code = self.code(browser, &[("scope", scope)]).await;
        let token = self.redeem(&code, &[]).await;
        assert_eq!(token.status, 200, "{}", token.text());
        token.json()["access_token"].as_str().unwrap().to_owned()
    }

    pub async fn post(&self, path: &str, token: &str) -> Answer {
        let fields = [("client_id", self.id.as_str()), ("client_secret", self.secret.as_str()), ("token", token)];
        self.server.anonymous().post(path).form(&fields).send().await
    }
}

/// A parameter of the redirect URL of `answer`.
#[track_caller]
pub fn parameter(answer: &Answer, name: &str) -> String {
    assert_eq!(answer.status, 302, "{}", answer.text());
    let location = answer.header("location").to_owned();
    let url = url::Url::parse("https://example.test").unwrap().join(&location).unwrap();
    let found = url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    found.unwrap_or_else(|| panic!("no {name} in {location}"))
}

#[track_caller]
pub fn refused(answer: &Answer, status: u16, code: &str) {
    assert_eq!(answer.status, status, "{}", answer.text());
    let json = answer.json();
    assert_eq!(json["error"], code);
    assert!(json["error_description"].as_str().is_some_and(|text| !text.is_empty()));
    assert_eq!(answer.header("cache-control"), if status == 404 { "" } else { "no-store" });
}

pub fn with_token(server: &TestApp, token: &str) -> Client {
    let mut client = server.anonymous();
    client.token = Some(token.to_owned());
    client
}

/// A server, the client and the browser of alice, and an application with `scopes`.
pub async fn setting(scopes: &str) -> (TestApp, Client, Browser, Application) {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let browser = Browser::signed_in(&app, "alice").await;
    let application = Application::register(&app, scopes).await;
    (app, alice, browser, application)
}

#[tokio::test]
async fn authorization_code_flow_gives_token() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    app.set_password("alice", crate::harness::PASSWORD).await;
    let application = Application::register(&app, "read write follow push").await;
    let browser = Browser::new(&app);

    let first = browser.get(&application.authorize(&[("scope", "read write")])).await;
    assert_eq!(first.status, 302);
    let sign_in = browser.get(first.header("location")).await;
    assert!(sign_in.text().contains("Test app"), "the sign-in page names the app");
    let fields = [("email", "alice"), ("password", crate::harness::PASSWORD)];
    let signed_in = browser.submit(&sign_in, "/auth/sign_in", &fields).await;
    let consent = browser.get(signed_in.header("location")).await;
    assert_eq!(consent.status, 200);
    assert!(consent.text().contains("app.test") && consent.text().contains("@alice"));
    assert!(!consent.header("content-security-policy").contains("form-action"));

    let answer = browser.submit(&consent, "/oauth/authorize", &[("decision", "authorise")]).await;
    assert!(answer.header("location").starts_with("https://app.test/callback?kept=1&code="));
    assert_eq!(parameter(&answer, "state"), "s t&");

    let token = application.redeem(&parameter(&answer, "code"), &[]).await;
    assert_eq!(token.status, 200, "{}", token.text());
    assert_eq!(token.header("cache-control"), "no-store");
    let token = token.json();
    check("Token", &token);
    assert_eq!(token["scope"], "read write");
    assert_eq!(token["created_at"], app.app.clock.now().timestamp());

    let me = with_token(&app, token["access_token"].as_str().unwrap());
    me.get(&format!("/api/v1/accounts/{}", alice.id())).ok().await;
    let seen = me.get("/oauth/token/info").ok().await;
    check("TokenInfo", &seen);
    assert_eq!(seen["resource_owner_id"], alice.id().to_string());
    assert_eq!(seen["application"]["uid"], application.id);
    assert_eq!(seen["scope"], json!(["read", "write"]));
}

#[tokio::test]
async fn codes_and_tokens_are_stored_hashed() {
    let (app, _, browser, application) = setting("read").await;
    let code = application.code(&browser, &[]).await;
    let token = application.redeem(&code, &[]).await.json()["access_token"].as_str().unwrap().to_owned();

    let codes: Vec<(String,)> = app.db().fetch_raw("SELECT code_hash FROM oauth_grants").await.unwrap();
    assert_eq!(codes, [(crypto::hash(&code),)]);
    let tokens: Vec<(String, String)> =
        app.db().fetch_raw("SELECT token_hash, nonce FROM oauth_tokens WHERE app_id IS NOT NULL").await.unwrap();
    assert_eq!(tokens[0].0, crypto::hash(&token));
    assert!(!tokens[0].1.contains(&token));
}

#[tokio::test]
async fn authorization_may_be_refused() {
    let (_, _, browser, application) = setting("read").await;
    let page = browser.get(&application.authorize(&[])).await;
    let answer = browser.submit(&page, "/oauth/authorize", &[("decision", "deny")]).await;
    assert_eq!(parameter(&answer, "error"), "access_denied");
    assert_eq!(parameter(&answer, "state"), "s t&");

    let hidden = form_fields(&page.text(), "/oauth/authorize");
    let fields: Vec<(&str, &str)> = hidden.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let answer = browser.delete("/oauth/authorize", &fields).await;
    assert_eq!(parameter(&answer, "error"), "access_denied");
}

#[tokio::test]
async fn redirect_goes_only_to_registered_address() {
    let (app, _, browser, application) = setting("read").await;
    let wrong_uris = [
        "https://evil.test/",
        "https://app.test/callback",
        "https://app.test/callback?kept=1&x",
        "https://APP.test/callback?kept=1",
        "https://app.test/callback?kept=1#f",
        "app://cb/",
        "",
    ];
    for person in [&browser, &Browser::new(&app)] {
        for uri in wrong_uris {
            let answer = person.get(&application.authorize(&[("redirect_uri", uri)])).await;
            assert_eq!(answer.status, 400, "{uri}");
            assert!(answer.text().contains("<h1"), "a page");
        }
        let unknown = person.get(&application.authorize(&[("client_id", "nobody")])).await;
        assert_eq!(unknown.status, 401);
        assert!(unknown.header("location").is_empty());
        assert_eq!(person.get(&application.authorize(&[("client_id", "")])).await.status, 400);
    }
}

#[tokio::test]
async fn other_errors_are_returned_to_the_app_after_sign_in() {
    let (app, _, browser, application) = setting("read:accounts").await;
    let cases: [(&[(&str, &str)], &str); 10] = [
        (&[("response_type", "token")], "unsupported_response_type"),
        (&[("response_type", "")], "invalid_request"),
        (&[("scope", "nonsense")], "invalid_scope"),
        (&[("scope", "read")], "invalid_scope"),
        (&[("scope", "")], "invalid_scope"),
        (&[("scope", "write")], "invalid_scope"),
        (&[("response_mode", "carrier_pigeon")], "invalid_request"),
        (&[("code_challenge", CHALLENGE), ("code_challenge_method", "plain")], "invalid_code_challenge_method"),
        (&[("code_challenge", CHALLENGE)], "invalid_code_challenge_method"),
        (&[("code_challenge", "short"), ("code_challenge_method", "S256")], "invalid_request"),
    ];
    for (changes, code) in cases {
        let changes = if changes.iter().any(|(name, _)| *name == "scope") {
            changes.to_vec()
        } else {
            [changes, &[("scope", "read:accounts")]].concat()
        };
        let answer = browser.get(&application.authorize(&changes)).await;
        assert!(answer.header("location").starts_with("https://app.test/"), "{changes:?}: {}", answer.text());
        assert_eq!(parameter(&answer, "error"), code, "{changes:?}");
        assert!(!parameter(&answer, "error_description").is_empty());
        assert_eq!(parameter(&answer, "state"), "s t&");

        let stranger = Browser::new(&app).get(&application.authorize(&changes)).await;
        assert!(stranger.header("location").starts_with("/auth/sign_in"), "{changes:?}");
    }
}

#[tokio::test]
async fn authorization_response_uses_query_fragment_or_form() {
    let (_, _, browser, application) = setting("read").await;
    let changes = [("response_mode", "fragment"), ("force_login", "1")];
    let page = browser.get(&application.authorize(&changes)).await;
    let answer = browser.submit(&page, "/oauth/authorize", &[]).await;
    assert!(answer.header("location").starts_with("https://app.test/callback?kept=1#code="));
    assert!(answer.header("location").ends_with("&state=s+t%26"));

    let page = browser.get(&application.authorize(&[("response_mode", "form_post")])).await;
    let answer = browser.submit(&page, "/oauth/authorize", &[]).await;
    assert_eq!((answer.status.as_u16(), answer.header("cache-control")), (200, "no-store"));
    assert!(!answer.header("content-security-policy").contains("form-action"));
    let fields = form_fields(&answer.text(), CALLBACK);
    assert_eq!(fields[1], ("state".to_owned(), "s t&".to_owned()));
    assert_eq!(fields[0].0, "code");
    assert_eq!(application.redeem(&fields[0].1, &[]).await.status, 200);
}

#[tokio::test]
async fn app_without_redirect_gets_code_shown() {
    let (_, _, browser, application) = setting("read").await;
    let page = browser.get(&application.authorize(&[("redirect_uri", OOB)])).await;
    let answer = browser.submit(&page, "/oauth/authorize", &[]).await;
    assert!(answer.header("location").starts_with("/oauth/authorize/native?code="));
    let shown = browser.get(answer.header("location")).await;
    let code = parameter(&answer, "code");
    assert!(shown.text().contains(&code));
    assert_eq!((shown.header("cache-control"), shown.header("referrer-policy")), ("no-store", "no-referrer"));
    let fields = [("grant_type", "authorization_code"), ("code", code.as_str()), ("redirect_uri", OOB)];
    assert_eq!(application.token(&fields).await.status, 200);

    let page = browser.get(&application.authorize(&[("redirect_uri", OOB), ("force_login", "t")])).await;
    let refused = browser.submit(&page, "/oauth/authorize", &[("decision", "deny")]).await;
    assert_eq!(refused.status, 400);
    assert_eq!(browser.get("/oauth/authorize/native").await.status, 400);
    assert_eq!(browser.get("/oauth/authorize/native?code=%3Cscript%3E").await.text().matches("<script").count(), 0);
}

#[tokio::test]
async fn authorization_needs_own_form() {
    let (app, _, browser, application) = setting("read").await;
    let fields = [
        ("response_type", "code"),
        ("client_id", application.id.as_str()),
        ("redirect_uri", CALLBACK),
        ("decision", "authorise"),
    ];
    assert_eq!(browser.post("/oauth/authorize", &fields).await.status, 403);
    let wrong = [&fields[..], &[("csrf", "x")]].concat();
    assert_eq!(browser.post("/oauth/authorize", &wrong).await.status, 403);

    // The form of one person does not work for another.
    app.account("bob").await;
    let bob = Browser::signed_in(&app, "bob").await;
    let page = browser.get(&application.authorize(&[])).await;
    assert_eq!(bob.submit(&page, "/oauth/authorize", &[]).await.status, 403);

    assert_eq!(Browser::new(&app).post("/oauth/authorize", &fields).await.status, 403);
    let codes: Vec<(i64,)> = app.db().fetch_raw("SELECT id FROM oauth_grants").await.unwrap();
    assert!(codes.is_empty());
}

#[tokio::test]
async fn forced_login_requires_sign_in_again() {
    let (app, _, browser, application) = setting("read").await;
    let request = [("code_challenge", CHALLENGE), ("code_challenge_method", "S256")];
    let page = browser.get(&application.authorize(&request)).await;
    app.app.clock.advance(Duration::days(15));

    let ended = browser.submit(&page, "/oauth/authorize", &[("decision", "authorise")]).await;
    let sign_in = browser.get(ended.header("location")).await;
    let fields = [("email", "alice"), ("password", crate::harness::PASSWORD)];
    let back = browser.submit(&sign_in, "/auth/sign_in", &fields).await;
    let asked = browser.get(back.header("location")).await;
    let same = |html: &str| form_fields(html, "/oauth/authorize").split_off(1);
    assert_eq!(same(&asked.text()), same(&page.text()));

    // Another person signs out in the same browser, signs in, and returns to the same authorization page.
    let out = browser.submit(&asked, "/auth/sign_out", &[]).await;
    let sign_in = browser.get(out.header("location")).await;
    assert!(sign_in.text().contains("Test app"));
}

#[tokio::test]
async fn app_with_same_token_skips_consent() {
    let (app, _, browser, application) = setting("read write").await;
    let token = application.sign_in(&browser, "read").await;

    let again = browser.get(&application.authorize(&[])).await;
    let code = parameter(&again, "code");
    let same = application.redeem(&code, &[]).await.json();
    assert_eq!(same["access_token"], token, "the same token again");

    assert_eq!(browser.get(&application.authorize(&[("force_login", "true")])).await.status, 200);
    assert_eq!(browser.get(&application.authorize(&[("scope", "read write")])).await.status, 200);
    let more = application.sign_in(&browser, "read write").await;
    assert_ne!(more, token);

    application.post("/oauth/revoke", &token).await;
    assert_eq!(browser.get(&application.authorize(&[])).await.status, 200, "asked again once it is revoked");
    let other = application.sign_in(&browser, "read").await;
    assert_ne!(other, token, "a revoked token never comes back");

    app.execute("UPDATE oauth_apps SET superapp = TRUE").await;
    let own = browser.get(&application.authorize(&[("scope", "read:accounts")])).await;
    parameter(&own, "code");
}
