//! Feeds of an account's public statuses.

use axum::http::StatusCode;
use serde_json::json;

use crate::harness::{Answer, TestApp};
use crate::routes::media::png;

async fn feed(app: &TestApp, path: &str) -> Answer {
    let answer = app.anonymous().get(path).send().await;
    assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text());
    answer
}

#[tokio::test]
async fn both_feeds_have_public_statuses() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let media = alice.upload(&png(20, 20)).ok().await;
    let status = json!({"status": "first <words>\nand more", "media_ids": [media["id"]], "language": "en"});
    let shown = alice.publish(&status).await;
    alice.publish_to("private", "secret").await;
    let other = bob.publish("from bob").await;
    alice.reblog(&other).ok().await;

    let atom = feed(&app, "/@alice.atom").await;
    assert_eq!(atom.header("content-type"), "application/atom+xml; charset=utf-8");
    assert_eq!(atom.header("x-robots-tag"), "noindex, noarchive");
    assert!(atom.text().starts_with("<?xml"));
    assert!(atom.text().contains("<title>first &lt;words&gt;</title>"));
    assert!(atom.text().contains(&format!("<id>{}</id>", shown["uri"].as_str().unwrap())));
    assert!(atom.text().contains("type=\"image/png\""));
    let rss = feed(&app, "/@alice.rss").await;
    assert_eq!(rss.header("content-type"), "application/rss+xml; charset=utf-8");
    assert!(rss.text().contains("<pubDate>Thu, 15 Jan 2026 12:00:0"));
    for text in [atom.text(), rss.text()] {
        assert!(text.contains("&lt;p&gt;first &amp;lt;words&amp;gt;"), "{text}");
        assert!(!text.contains("secret") && !text.contains("from bob"), "{text}");
    }
}

#[tokio::test]
async fn feed_without_statuses_is_valid() {
    let app = TestApp::new().await;
    app.account("alice").await;
    assert!(feed(&app, "/@alice.atom").await.text().contains("<updated>2026-01-15T12:00:01Z</updated>"));
    assert!(feed(&app, "/@alice.rss").await.text().contains("<channel>"));
}

#[tokio::test]
async fn feed_is_paged() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    for number in 0..22 {
        app.tick();
        alice.publish(&format!("number {number} of all")).await;
    }
    let text = feed(&app, "/@alice.atom").await.text();
    let (_, next) = text.split_once("rel=\"next\" type=\"application/atom+xml\" href=\"https://example.test").unwrap();
    let rest = feed(&app, next.split('"').next().unwrap()).await.text();
    assert!(rest.contains("number 1 of") && !rest.contains("number 2 of") && !rest.contains("rel=\"next\""));
}

#[tokio::test]
async fn hashtag_has_feeds_and_a_preview() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    alice.publish("a #Caf\u{e9} & more").await;
    app.tick();
    bob.publish("another #caf\u{e9}").await;
    bob.publish_to("private", "a secret #caf\u{e9}").await;
    let page = feed(&app, "/tags/caf\u{e9}").await.text();
    assert!(page.contains("<meta property=\"og:title\" content=\"#cafe\">"), "{page}");
    let found = page.split("type=\"application/atom+xml\"").nth(1).and_then(|rest| rest.split('"').nth(3)).unwrap();
    let atom = feed(&app, found.strip_prefix("https://example.test").unwrap()).await;
    assert_eq!(atom.header("content-type"), "application/atom+xml; charset=utf-8");
    let rss = feed(&app, "/tags/caf\u{e9}.rss").await;
    assert_eq!(rss.header("content-type"), "application/rss+xml; charset=utf-8");
    for text in [atom.text(), rss.text()] {
        assert!(text.contains("more") && text.contains("another") && !text.contains("secret"), "{text}");
    }
    let (first, second) = (atom.text().find("<name>bob</name>"), atom.text().find("<name>alice</name>"));
    assert!(first.is_some() && first < second, "each entry has its author, the newest first: {}", atom.text());
    assert!(feed(&app, "/tags/nothing.atom").await.text().contains("<updated>1970-01-01T00:00:00Z</updated>"));
    assert_eq!(app.anonymous().get("/tags/!.atom").send().await.status, StatusCode::NOT_FOUND);
}
