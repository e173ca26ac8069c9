//! The search page, and its description for browsers.

use axum::http::StatusCode;

use crate::harness::TestApp;

#[tokio::test]
async fn search_page_finds_what_anyone_may_find() {
    let app = TestApp::new().await;
    let [alice, rookie] = app.accounts(["alice", "rookie"]).await;
    app.make_everybody_discoverable().await;
    rookie.publish("hello #rooks").await;
    alice.publish_to("private", "a secret #rookery").await;
    let page = async |q: &str| {
        let answer = app.anonymous().get(&format!("/search?q={q}")).send().await;
        assert_eq!(answer.status, StatusCode::OK, "{q}");
        answer.text()
    };
    let empty = app.anonymous().get("/search").send().await.text();
    assert!(empty.contains("role=\"search\"") && !empty.contains("Nothing was found"), "{empty}");
    let found = page("rooki").await;
    assert!(found.contains("https://example.test/@rookie") && !found.contains("@alice"), "{found}");
    let found = page("%23rooks").await;
    assert!(found.contains("/tags/rooks"), "{found}");
    assert!(page("rooke").await.contains("Nothing was found"), "what is private is not");
    assert!(page("%22%3E%3Cscript%3E").await.contains("value=\"&quot;&gt;&lt;script&gt;\""));
    for elsewhere in ["https://other.test/@bob", "@bob@other.test", "acct:bob@other.test"] {
        let answer = app.anonymous().get(&format!("/search?q={elsewhere}")).send().await;
        let to = answer.header("location");
        assert!(to.starts_with("/authorize_interaction?uri="), "{elsewhere}: {to}");
    }
}

#[tokio::test]
async fn browsers_are_offered_the_search() {
    let app = TestApp::new().await;
    let front = app.anonymous().get("/").send().await.text();
    assert!(front.contains("type=\"application/opensearchdescription+xml\""), "{front}");
    let answer = app.anonymous().get("/opensearch.xml").send().await;
    assert_eq!(answer.header("content-type"), "application/opensearchdescription+xml; charset=utf-8");
    let text = answer.text();
    assert!(
        text.starts_with("<?xml") && text.contains("template=\"https://example.test/search?q={searchTerms}\""),
        "{text}"
    );
}

#[tokio::test]
async fn browsers_and_crawlers_find_their_documents() {
    let app = TestApp::new().await;
    app.set("site_title", "The Nest").await;
    let front = app.anonymous().get("/").send().await.text();
    assert!(front.contains("<link rel=\"manifest\" href=\"/manifest\">"), "{front}");
    let manifest = app.anonymous().get("/manifest").send().await;
    assert_eq!(manifest.header("content-type"), "application/manifest+json; charset=utf-8");
    let manifest = manifest.json();
    assert_eq!((&manifest["name"], &manifest["start_url"]), (&"The Nest".into(), &"/".into()));
    for icon in manifest["icons"].as_array().unwrap() {
        let src = icon["src"].as_str().unwrap().strip_prefix("https://example.test").unwrap();
        assert_eq!(app.anonymous().get(src).send().await.header("content-type"), icon["type"].as_str().unwrap());
    }
    let robots = app.anonymous().get("/robots.txt").send().await.text();
    assert!(robots.starts_with("User-agent: *\n") && robots.contains("Disallow: /settings\n"), "{robots}");
    assert!(!robots.contains("Disallow: /\n"));
    let icon = app.anonymous().get("/favicon.ico").send().await;
    assert_eq!((icon.status, icon.header("location")), (StatusCode::MOVED_PERMANENTLY, "/assets/icon-32.png"));
}
