//! Public pages: accounts, statuses, hashtags, the front page.

use axum::http::StatusCode;
use chrono::Duration;

use serde_json::json;

use crate::harness::{Answer, TestApp, path};
use crate::routes::media::png;

async fn page(app: &TestApp, path: &str) -> Answer {
    app.anonymous().get(path).header("accept", "text/html").send().await
}

/// Text of an existing page.
async fn text(app: &TestApp, path: &str) -> String {
    let answer = page(app, path).await;
    assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text());
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    answer.text()
}

#[tokio::test]
async fn profile_page_shows_account_and_public_statuses() {
    let app = TestApp::new().await;
    let alice = app.named_account("alice").await;
    let profile = json!({
        "display_name": "Alice <b>", "note": "Rooks & more", "indexable": true,
        "fields_attributes": {"0": {"name": "Web", "value": "https://alice.example/"}},
    });
    alice.patch("/api/v1/accounts/update_credentials").json(&profile).ok().await;
    for (visibility, words) in
        [("public", "for all"), ("unlisted", "quietly"), ("private", "secret one"), ("direct", "secret two")]
    {
        alice.publish(json!({"status": words, "visibility": visibility})).await;
    }

    let text = text(&app, "/@alice").await;

    assert!(text.contains("<h1 class=\"p-name\">Alice &lt;b&gt;</h1>"));
    assert!(text.contains("Rooks &amp; more"));
    assert!(text.contains("for all") && text.contains("quietly"));
    assert!(!text.contains("secret"));
    assert!(text.contains("<link rel=\"canonical\" href=\"https://example.test/@alice\">"));
    assert!(text.contains("<link rel=\"me\" href=\"https://alice.example/\">"));
    assert!(text.contains("href=\"https://example.test/@alice.atom\""));
    assert!(text.contains("type=\"application/activity+json\" href=\"https://example.test/users/alice\""));
    assert!(text.contains("<meta property=\"og:title\" content=\"Alice &lt;b&gt; (@alice@example.test)\">"));
    assert!(text.contains("<meta property=\"og:image\" content=\"https://example.test/assets/avatar.png\">"));
    assert!(!text.contains("name=\"robots\""));
    assert!(!text.contains("<script"));
}

#[tokio::test]
async fn replies_and_reblogs_are_shown_on_the_right_pages() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let root = alice.publish(json!({"status": "the question", "visibility": "public"})).await;
    let answer =
        bob.publish(json!({"status": "the answer", "in_reply_to_id": root["id"], "visibility": "public"})).await;
    let further =
        alice.publish(json!({"status": "the thanks", "in_reply_to_id": answer["id"], "visibility": "public"})).await;
    alice.publish(json!({"status": "psst", "in_reply_to_id": answer["id"], "visibility": "private"})).await;
    let boost = alice.reblog(&answer).ok().await;

    let profile = text(&app, "/@alice").await;
    assert!(profile.contains("the question") && !profile.contains("the thanks"));
    assert!(profile.contains("the answer") && profile.contains("boosted"));
    let thread = text(&app, path(&answer["url"])).await;
    let place = |words: &str| thread.find(words).unwrap_or_else(|| panic!("{words} is missing"));
    assert!(place("the question</p>") < place("the answer</p>") && place("the answer</p>") < place("the thanks</p>"));
    assert!(!thread.contains("psst"));
    assert!(thread.contains("<meta property=\"og:type\" content=\"article\">"));

    let redirected = page(&app, &format!("/@alice/{}", boost["id"].as_str().unwrap())).await;
    assert_eq!(
        (redirected.status, redirected.header("location")),
        (StatusCode::FOUND, answer["url"].as_str().unwrap())
    );
    let id = further["id"].as_str().unwrap();
    assert_eq!(page(&app, &format!("/@bob/{id}")).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn hidden_statuses_are_missing_from_pages() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    for visibility in ["private", "direct"] {
        let hidden = alice.publish(json!({"status": "secret", "visibility": visibility})).await;
        let answer = page(&app, &format!("/@alice/{}", hidden["id"].as_str().unwrap())).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND);
        assert!(!answer.text().contains("secret"));
        assert!(answer.text().contains("<h1 id=\"title\">"));
    }
    for absent in ["/@nobody", "/@alice@elsewhere.example", "/@alice/1", "/@alice/nonsense", "/@nobody.atom", "/@"] {
        let answer = page(&app, absent).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{absent}");
        assert!(answer.header("content-type").starts_with("text/html"), "{absent}");
    }
    assert_eq!(page(&app, "/@ALICE@example.test").await.status, StatusCode::OK);
    app.unapprove(&alice).await;
    assert_eq!(page(&app, "/@alice").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn suspended_account_has_no_page() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let status = alice.publish(json!({"status": "before"})).await;
    app.suspend(&alice).await;
    for path in ["/@alice", "/@alice.atom", path(&status["url"])] {
        let answer = page(&app, path).await;
        assert_eq!(answer.status, StatusCode::GONE, "{path}");
        assert!(!answer.text().contains("before"));
    }
}

#[tokio::test]
async fn profile_page_is_paged_with_pins_first() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let first = alice.publish(json!({"status": "number 0 of all"})).await;
    for number in 1..45 {
        alice.publish(json!({"status": format!("number {number} of all")})).await;
    }
    alice.pin(&first).ok().await;
    let link = |text: &str, rel: &str| {
        let (_, after) = text.split_once(&format!("rel=\"{rel}\" href=\""))?;
        Some(format!("/@alice{}", after.split('"').next().unwrap()))
    };

    let newest = text(&app, "/@alice").await;
    assert!(newest.contains("number 44 of") && newest.contains("number 25 of") && !newest.contains("number 24 of"));
    assert!(newest.contains("Pinned") && newest.contains("number 0 of"));
    assert!(link(&newest, "prev").is_none());
    let middle = text(&app, &link(&newest, "next").unwrap()).await;
    assert!(middle.contains("number 24 of") && middle.contains("number 5 of") && !middle.contains("Pinned"));
    let oldest = text(&app, &link(&middle, "next").unwrap()).await;
    assert!(oldest.contains("number 4 of") && link(&oldest, "next").is_none());
    assert!(text(&app, &link(&oldest, "prev").unwrap()).await.contains("number 5 of"));
    assert!(text(&app, &link(&middle, "prev").unwrap()).await.contains("number 44 of"));
    assert_eq!(page(&app, "/@alice?max_id=nonsense").await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn page_costs_same_at_any_length() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let media = alice.upload(&png(20, 20)).ok().await;
    alice.publish(json!({"status": "one #rooks", "media_ids": [media["id"]]})).await;
    alice.publish(json!({"status": "two #rooks"})).await;
    let cost = async |path: &str| app.cost(text(&app, path)).await.0;
    let short = (cost("/@alice").await, cost("/tags/rooks").await);
    for number in 0..30 {
        alice.publish(json!({"status": format!("number {number} #rooks")})).await;
    }
    assert_eq!((cost("/@alice").await, cost("/tags/rooks").await), short);
}

#[tokio::test]
async fn media_warnings_and_emojis_are_shown() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let media = alice.upload_with(&png(64, 48), &[("description", "a \"slope\"")]).ok().await;
    let shown = alice.publish(json!({"status": "look", "media_ids": [media["id"]]})).await;
    let text = text(&app, path(&shown["url"])).await;
    assert!(text.contains("alt=\"a &quot;slope&quot;\""));
    assert!(
        text.contains(&format!("<meta property=\"og:image\" content=\"{}\">", media["preview_url"].as_str().unwrap()))
    );
    assert!(text.contains("summary_large_image"));

    let warned = alice.publish(json!({"status": "gore", "spoiler_text": "careful"})).await;
    let answer = page(&app, path(&warned["url"])).await.text();
    assert!(answer.contains("<details class=\"cw\">"));
    assert!(answer.contains("<meta property=\"og:description\" content=\"careful\">"));
    assert!(!answer.split("</head>").next().unwrap().contains("gore"));
}

#[tokio::test]
async fn search_engine_indexing_follows_preferences() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let status = alice.publish(json!({"status": "hello", "visibility": "public"})).await;
    let unlisted = alice.publish(json!({"status": "hello", "visibility": "unlisted"})).await;
    let robots = async |path: &str| text(&app, path).await.contains("<meta name=\"robots\" content=\"noindex");

    assert!(!robots("/@alice").await);
    assert!(robots(path(&status["url"])).await, "statuses are not indexed by default");
    alice.update_profile(json!({"indexable": true})).ok().await;
    assert!(!robots(path(&status["url"])).await);
    assert!(robots(path(&unlisted["url"])).await);
    app.execute("UPDATE accounts SET other_settings = '{\"noindex\": true}', version = version + 1").await;
    assert!(robots("/@alice").await);
    assert!(robots(path(&status["url"])).await);
}

#[tokio::test]
async fn hashtag_page_shows_public_statuses() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    alice.publish(json!({"status": "see #Rooks", "visibility": "public"})).await;
    alice.publish(json!({"status": "secret #rooks", "visibility": "private"})).await;

    let text = text(&app, "/tags/rooks").await;
    assert!(text.contains("see <a") && !text.contains("secret"));
    assert_eq!(page(&app, "/tags/ROOKS").await.status, StatusCode::OK);
    assert_eq!(page(&app, "/tags/unknown").await.status, StatusCode::OK);
    assert_eq!(page(&app, "/tags/%21").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn addresses_of_documents_lead_to_pages() {
    let app = TestApp::new().await;
    app.account("alice").await;
    for (from, to) in [
        ("/users/alice", "https://example.test/@alice"),
        ("/users/alice.atom", "https://example.test/@alice.atom"),
        ("/users/alice/statuses/1", "https://example.test/@alice/1"),
    ] {
        let answer = page(&app, from).await;
        assert_eq!((answer.status, answer.header("location")), (StatusCode::MOVED_PERMANENTLY, to));
    }
}

#[tokio::test]
async fn caches_may_keep_a_page_for_a_moment() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let first = page(&app, "/@alice").await;
    assert!(first.header("cache-control").starts_with("max-age=15, public"));
    let ask = || app.anonymous().get("/@alice").header("if-none-match", first.header("etag")).send();
    let unchanged = ask().await;
    assert_eq!((unchanged.status, unchanged.body.len()), (StatusCode::NOT_MODIFIED, 0));
    alice.publish(json!({"status": "news"})).await;
    app.app.clock.advance(Duration::seconds(1));
    assert_eq!(ask().await.status, StatusCode::OK);
}

#[tokio::test]
async fn limited_federation_pages_need_a_sign_in() {
    let app = TestApp::with(&[("ROOKERY_ACCESS_LIMITED_FEDERATION", "true")]).await;
    app.account("alice").await;
    for path in ["/@alice", "/@alice.rss", "/tags/rooks"] {
        let answer = page(&app, path).await;
        assert_eq!(answer.status, StatusCode::FOUND, "{path}");
        assert!(answer.header("location").starts_with("/auth/sign_in"), "{path}");
    }
}

#[tokio::test]
async fn front_page_describes_server_and_how_to_connect() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    alice.publish(json!({"status": "hello"})).await;
    for (key, value) in [
        ("site_title", "Elm <wood>"),
        ("site_short_description", "Birds & books"),
        ("site_extended_description", "We *like* trees."),
        ("contact_username", "alice"),
        ("contact_email", "keeper@example.test"),
    ] {
        service::settings::set(&app.app, &model::Staff::operator(), key, value).await.unwrap();
    }
    app.app.reload().await.unwrap();

    app.run(&["user", "set-role", "alice", "Owner"]).await.ok();
    let front = text(&app, "/").await;
    for part in [
        "Elm &lt;wood&gt;</h1>",
        "<p>Birds &amp; books</p>",
        "By invitation",
        "id=\"connect\"",
        "<code>example.test</code>",
        "@alice",
        "mailto:keeper@example.test",
        "<meta property=\"og:type\" content=\"website\">",
    ] {
        assert!(front.to_lowercase().contains(&part.to_lowercase()), "{part}: {front}");
    }
    assert!(text(&app, "/about").await.contains("We <em>like</em> trees."));
    assert!(text(&app, "/privacy-policy").await.contains("<h1>Privacy policy</h1>"));
}

#[tokio::test]
async fn front_of_single_user_server_is_the_profile_page() {
    let app = TestApp::with(&[("ROOKERY_ACCESS_SINGLE_USER", "true")]).await;
    assert!(text(&app, "/").await.contains("id=\"connect\""), "there is no account yet");
    app.accounts(["alice", "bob"]).await;
    let answer = page(&app, "/").await;
    assert_eq!((answer.status, answer.header("location")), (StatusCode::FOUND, "https://example.test/@alice"));
}
