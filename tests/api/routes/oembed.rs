//! oEmbed with the page in its frame, searching known servers, and proofs of identity.

use serde_json::json;

use crate::harness::TestApp;
use crate::platform::contract;

fn oembed(url: &str, rest: &str) -> String {
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("url", url).finish();
    format!("/api/oembed?{query}{rest}")
}

#[tokio::test]
async fn status_is_embedded_in_a_frame() {
    let app = TestApp::with(&[("ROOKERY_ACCESS_DISALLOW_UNAUTHENTICATED_API", "true")]).await;
    let alice = app.account("alice").await;
    let status = alice.publish("hello <there>").await;
    let (url, uri) = (status["url"].as_str().unwrap(), status["uri"].as_str().unwrap());

    let shown = app.anonymous().get(&oembed(url, "")).ok().await;
    contract::check("OEmbed", &shown);
    assert_eq!((&shown["width"], &shown["height"], &shown["cache_age"]), (&json!(400), &json!(null), &json!(86_400)));
    assert_eq!((&shown["author_name"], &shown["author_url"]), (&json!("alice"), &json!("https://example.test/@alice")));
    assert!(shown["html"].as_str().unwrap().contains(&format!("<iframe src=\"{url}/embed\"")), "{shown}");
    let sized = app.anonymous().get(&oembed(uri, "&maxwidth=200&maxheight=300")).ok().await;
    assert_eq!((&sized["width"], &sized["height"]), (&json!(200), &json!(300)));
    let page = app.anonymous().get(url.strip_prefix("https://example.test").unwrap()).send().await;
    assert!(page.text().contains("application/json+oembed"));

    app.anonymous().get("/api/oembed").fails(400).await;
    for wrong in ["&maxwidth=0", "&maxwidth=wide", "&maxheight=-1"] {
        app.anonymous().get(&oembed(url, wrong)).fails(422).await;
    }
}

#[tokio::test]
async fn limited_federation_embeds_nothing_for_strangers() {
    let app = TestApp::with(&[("ROOKERY_ACCESS_LIMITED_FEDERATION", "true")]).await;
    let alice = app.account("alice").await;
    let status = alice.publish("hello").await;
    let url = status["url"].as_str().unwrap();
    for missing in [url, "https://example.test/@alice/1", ""] {
        app.anonymous().get(&oembed(missing, "")).fails(401).await;
    }
    assert_eq!(alice.get(&oembed(url, "")).ok().await["author_name"], "alice");
}

#[tokio::test]
async fn only_publicly_readable_statuses_are_embedded() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let mut public = None;
    for (visibility, found) in [
        ("public", true),
        ("unlisted", true),
        ("public_unlisted", true),
        ("login", false),
        ("private", false),
        ("direct", false),
    ] {
        let status = alice.publish_to(visibility, "hello <there>").await;
        let url = status["url"].as_str().unwrap().to_owned();
        let page = format!("{}/embed", url.strip_prefix("https://example.test").unwrap());
        let wanted = if found { 200 } else { 404 };
        // The author's token has no effect: tokens are not read.
        assert_eq!(alice.get(&oembed(&url, "")).send().await.status, wanted, "{visibility}");
        assert_eq!(alice.get(&page).send().await.status, wanted, "{visibility}");
        public = public.or(Some((status["id"].as_str().unwrap().to_owned(), url)));
    }
    let (id, url) = public.unwrap();
    let reblog = bob.reblog(&id).ok().await;
    for missing in [
        format!("https://example.test/@bob/{id}"),
        format!("https://example.test/@bob/{}", reblog["id"].as_str().unwrap()),
        format!("https://elsewhere.test/@alice/{id}"),
        "https://example.test/@alice/1".to_owned(),
        "https://example.test/@alice".to_owned(),
        "https://example.test.evil.test/@alice".to_owned(),
        "nonsense".to_owned(),
    ] {
        app.anonymous().get(&oembed(&missing, "")).fails(404).await;
    }
    app.run(&["user", "suspend", "alice"]).await.ok();
    app.anonymous().get(&oembed(&url, "")).fails(404).await;
}

#[tokio::test]
async fn page_of_a_frame_may_be_framed_and_has_no_cookies() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let status = alice.publish_to("unlisted", "hello <there>").await;
    let path = status["url"].as_str().unwrap().strip_prefix("https://example.test").unwrap().to_owned();

    let frame = app.anonymous().get(&format!("{path}/embed")).header("cookie", "a=b").send().await;
    assert_eq!(frame.status, 200);
    assert!(frame.text().contains("hello &lt;there&gt;") && frame.text().contains("<base target=\"_blank\">"));
    let policy = frame.header("content-security-policy");
    assert!(policy.contains("frame-ancestors *") && policy.contains("default-src 'none'"), "{policy}");
    assert!(!policy.contains("script") && !frame.text().contains("<script"), "{policy}");
    assert_eq!((frame.header("x-frame-options"), frame.header("set-cookie")), ("", ""));

    let page = app.anonymous().get(&path).send().await;
    assert!(page.header("content-security-policy").contains("frame-ancestors 'none'"));
    assert_eq!(page.header("x-frame-options"), "DENY");
    let missing = app.anonymous().get("/@alice/1/embed").send().await;
    assert_eq!((missing.status.as_u16(), missing.header("x-frame-options")), (404, "DENY"));
}

#[tokio::test]
async fn identity_proofs_are_empty() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let path = format!("/api/v1/accounts/{}/identity_proofs", bob.id());
    assert_eq!(alice.get(&path).ok().await, json!([]));
    assert_eq!(alice.with_scopes("push").await.get(&path).ok().await, json!([]));
    app.anonymous().get(&path).fails(422).await;
    alice.get("/api/v1/accounts/1/identity_proofs").fails(404).await;
}

#[tokio::test]
async fn removed_routes_stay_removed() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    for path in ["/api/v1/search?q=a", "/api/v1/timelines/direct", "/api/v1/statuses/1/card"] {
        alice.get(path).fails(404).await;
        app.anonymous().get(path).fails(404).await;
    }
}
