//! The languages of pages and mails.

use crate::harness::{Browser, RequestBuilder, TestApp};
use serde_json::json;

/// Public pages and settings pages.
const PAGES: [&str; 31] = [
    "/",
    "/about",
    "/privacy-policy",
    "/terms-of-service",
    "/@alice",
    "/tags/rooks",
    "/auth/sign_in",
    "/auth/sign_up",
    "/auth/password/new",
    "/auth/password/edit?token=x",
    "/auth/confirmation?token=x",
    "/auth/setup?token=x",
    "/remote_interaction?uri=https%3A%2F%2Fexample.test%2F%40alice",
    "/authorize_interaction?uri=bob@example.test",
    "/settings",
    "/settings/profile",
    "/settings/preferences",
    "/settings/filters",
    "/settings/filters/new",
    "/settings/followed_tags",
    "/settings/requests",
    "/settings/requests?state=revoked",
    "/settings/strikes",
    "/settings/sessions",
    "/settings/transfer",
    "/settings/cleanup",
    "/settings/delete",
    "/settings/extensions",
    "/oauth/authorized_applications",
    "/@alice.rss",
    "/nothing",
];

#[tokio::test]
async fn every_page_is_written_in_every_language() {
    let app = TestApp::new().await;
    let client = app.account("alice").await;
    app.account("bob").await;
    client.publish("one #rooks").await;
    service::terms::publish(&app.app, &model::Staff::operator(), "2026-01-01", "Be kind", false).await.unwrap();
    let signed_in = Browser::signed_in(&app, "alice").await;
    for language in ["en", "de", "ja"] {
        app.set_locale(language).await;
        for path in PAGES {
            let own = ["/settings", "/oauth", "/authorize"].iter().any(|start| path.starts_with(start));
            let browser = if own { signed_in.clone() } else { Browser::preferring(&app, language) };
            let page = browser.get(path).await;
            assert!(page.status.as_u16() < 500 && page.status != 302, "{path} in {language}: {}", page.text());
            let html = page.text().contains("<html ");
            assert!(!html || page.text().contains(&format!("<html lang=\"{language}\">")), "{path} in {language}");
        }
    }
}

#[tokio::test]
async fn page_language_prefers_user_then_browser_then_server() {
    let app = TestApp::with(&[("ROOKERY_SERVER_LOCALE", "ja")]).await;
    app.account("alice").await;
    let title = async |browser: &Browser, path: &str| {
        let text = browser.get(path).await.text();
        text.split_once("<h1").unwrap().1.split_once('>').unwrap().1.split('<').next().unwrap().to_owned()
    };
    assert_eq!(title(&Browser::new(&app), "/auth/sign_in").await, "ログイン");
    assert_eq!(title(&Browser::preferring(&app, "fr, de;q=0.5"), "/auth/sign_in").await, "Anmelden");
    assert_eq!(title(&Browser::preferring(&app, "fr"), "/auth/sign_in").await, "ログイン");

    let alice = Browser::signed_in(&app, "alice").await;
    assert_eq!(title(&alice, "/settings/sessions").await, "ログイン中のブラウザー");
    app.set_locale("de").await;
    assert_eq!(title(&alice, "/settings/sessions").await, "Angemeldete Browser");
    app.set_locale("fr").await;
    assert_eq!(title(&alice, "/settings/sessions").await, "ログイン中のブラウザー");
}

#[tokio::test]
async fn errors_of_the_api_are_in_the_language_of_account_parameter_or_header() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let missing = "/api/v1/statuses/1";
    let german = "Das gibt es nicht.";
    let text = async |request: RequestBuilder| request.fails(404).await;
    assert_eq!(text(alice.get(missing)).await, "Record not found");
    assert_eq!(text(alice.get(missing).header("accept-language", "fr, de;q=0.5")).await, german);
    assert_eq!(text(app.anonymous().get(missing).header("accept-language", "de")).await, german);
    let named = alice.get(&format!("{missing}?lang=de")).header("accept-language", "ja").send().await;
    assert_eq!((named.json()["error"].as_str(), named.header("content-language")), (Some(german), "de"));

    // In a body too, and with parts that are filled in.
    let long = json!({ "status": "x".repeat(501), "lang": "de" });
    let refused = alice.post("/api/v1/statuses").json(&long).fails(422).await;
    assert!(refused.contains("501") && refused.contains("500") && !refused.contains("exceeded"), "{refused}");
    let form = [("status", ""), ("lang", "ja")];
    let refused = alice.post("/api/v1/statuses").form(&form).fails(422).await;
    assert!(refused.contains("本文が空") && !refused.contains("blank"), "{refused}");
    assert_eq!(app.anonymous().get("/api/v1/preferences?lang=de").fails(401).await, "Dafür musst du angemeldet sein.");

    app.set_locale("ja").await;
    assert_eq!(text(alice.get(&format!("{missing}?lang=de"))).await, german, "the parameter goes first");
    let own = text(alice.get(missing).header("accept-language", "de")).await;
    assert!(own != german && own != "Record not found", "then the locale of the account: {own}");
    app.set_locale("fr").await;
    let own = text(alice.get(missing).header("accept-language", "de")).await;
    assert_eq!(own, german, "a locale without messages does not count");
    let other = alice.get("/oauth/token/info?lang=de").header("authorization", "Bearer x").send().await;
    assert_eq!(other.json()["error"], "invalid_token", "codes are no messages");
}

#[tokio::test]
async fn public_page_is_cached_per_language() {
    let app = TestApp::new().await;
    app.account("alice").await;
    let german = Browser::preferring(&app, "de").get("/@alice").await;
    assert_eq!(german.header("vary").split(',').next().unwrap().trim().to_ascii_lowercase(), "accept-language");
    assert!(german.header("cache-control").contains("public"));
    assert!(german.text().contains("Januar 2026") && german.text().contains("Noch wurde nichts"));
    let english = Browser::new(&app).get("/@alice").await;
    assert!(english.text().contains("January 2026"));
    assert_ne!(english.header("etag"), german.header("etag"));
}

#[tokio::test]
async fn default_privacy_policy_is_in_language_of_page_and_english_in_api() {
    let app = TestApp::new().await;
    for (language, heading) in
        [("en", "What this server keeps"), ("de", "Was dieser Server speichert"), ("ja", "このサーバーが保存する情報")]
    {
        let page = Browser::preferring(&app, language).get("/privacy-policy").await.text();
        assert!(page.contains(heading) && page.contains("example.test") && !page.contains("**"), "{page}");
    }
    let path = "/api/v1/instance/privacy_policy";
    let policy = app.anonymous().get(path).header("accept-language", "de").ok().await;
    assert!(policy["content"].as_str().unwrap().contains("What this server keeps"));
}

#[tokio::test]
async fn errors_use_language_of_page() {
    let app = TestApp::new().await;
    app.set("registrations_mode", "open").await;
    let browser = Browser::preferring(&app, "de");
    let page = browser.get("/auth/sign_up").await;
    let fields = [("username", "a b"), ("email", "x"), ("password", "short")];
    let refused = browser.submit(&page, "/auth/sign_up", &fields).await;
    assert_eq!(refused.status, 422);
    for words in [
        "Erlaubt sind nur Buchstaben, Ziffern und Unterstriche.",
        "Das ist keine E-Mail-Adresse.",
        "Das ist zu kurz (mindestens 8 Zeichen).",
        "Dem musst du zustimmen.",
        "<title>Bitte prüfen: Konto anlegen",
    ] {
        assert!(refused.text().contains(words), "{words}");
    }
    let page = browser.get("/auth/sign_in").await;
    let refused = browser.submit(&page, "/auth/sign_in", &[("email", "nobody"), ("password", "x")]).await;
    assert!(refused.text().contains("Dieser Name und dieses Passwort gehören nicht zusammen."));
    let forged = browser.post("/auth/sign_in", &[("csrf", "x")]).await;
    assert!(forged.text().contains("Nicht erlaubt") && forged.text().contains("Dieses Formular ist zu alt"));
    let missing = Browser::preferring(&app, "ja").get("/@nobody").await;
    assert!(missing.text().contains("ここには何もありません"));
    // So do errors of the API.
    let refused = app.anonymous().get("/api/v1/preferences").header("accept-language", "de").send().await;
    assert_eq!(refused.json()["error"], "Dafür musst du angemeldet sein.");
}

#[tokio::test]
async fn mails_are_written_in_the_language_of_their_account() {
    let app = TestApp::new().await;
    app.set("registrations_mode", "open").await;
    let browser = Browser::preferring(&app, "ja, en;q=0.5");
    let page = browser.get("/auth/sign_up").await;
    let fields =
        [("username", "alice"), ("email", "alice@mail.test"), ("password", "long enough"), ("agreement", "true")];
    assert_eq!(browser.submit(&page, "/auth/sign_up", &fields).await.status, 200);
    let link = app.mailed_link().await;
    let letter = app.letters().await.pop().unwrap();
    assert!(letter.contains("<html lang=3D\"ja\">") || letter.contains("<html lang=\"ja\">"), "{letter}");
    assert_eq!(browser.get(&link).await.status, 200);

    app.set_locale("de").await;
    let page = browser.get("/auth/password/new").await;
    browser.submit(&page, "/auth/password/new", &[("email", "alice@mail.test")]).await;
    let letter = app.letters().await.pop().unwrap();
    assert!(letter.contains("Subject: ") && letter.contains("neues Passwort"), "{letter}");
}

#[tokio::test]
async fn scopes_are_explained_in_the_language_of_the_person() {
    let app = TestApp::new().await;
    app.account("alice").await;
    let alice = Browser::signed_in(&app, "alice").await;
    app.set_locale("de").await;
    let registration =
        json!({"client_name": "Crow", "redirect_uris": "https://crow.example/cb", "scopes": "write:media"});
    let registered = app.anonymous().post("/api/v1/apps").json(&registration).ok().await;
    let id = registered["client_id"].as_str().unwrap();
    let consent = format!(
        "/oauth/authorize?response_type=code&client_id={id}&redirect_uri=https://crow.example/cb&scope=write:media"
    );
    let page = alice.get(&consent).await.text();
    assert!(page.contains("Crow einlassen?") && page.contains("Bilder und andere Medien hochladen"));
}
