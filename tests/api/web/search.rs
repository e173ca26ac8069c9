//! The search page, and its description for browsers.

use axum::http::StatusCode;

use crate::harness::{Browser, TestApp};
use crate::routes::trends::refresh;

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

#[tokio::test]
async fn explore_shows_what_trends() {
    let app = TestApp::new().await;
    let empty = app.anonymous().get("/explore").send().await;
    assert_eq!(empty.status, StatusCode::OK);
    assert!(empty.text().contains("Nothing trends at present."), "{}", empty.text());
    for fan in app.accounts(["fan1", "fan2", "fan3", "fan4", "fan5"]).await {
        fan.publish("#Rooks again").await;
    }
    refresh(&app).await;
    app.run(&["trend", "approve", "tag", "rooks"]).await.ok();
    app.app.clock.advance(chrono::Duration::minutes(1));
    let text = app.anonymous().get("/explore").send().await.text();
    assert!(text.contains("href=\"https://example.test/tags/rooks\""), "{text}");
    app.set("trends", false).await;
    let text = app.anonymous().get("/explore").send().await.text();
    assert!(text.contains("Nothing trends at present."), "{text}");
}

#[tokio::test]
async fn directory_lists_people_who_want_to_be_found() {
    let app = TestApp::new().await;
    let [alice, bob, _hidden] = app.accounts(["alice", "bob", "hidden"]).await;
    for client in [&alice, &bob] {
        client.update_profile(serde_json::json!({"discoverable": true})).ok().await;
    }
    alice.publish("newest post").await;
    let text = async |path: &str| app.anonymous().get(path).send().await.text();
    let (active, new) = (text("/directory").await, text("/directory?order=new").await);
    let place = |text: &str, name: &str| text.find(&format!("https://example.test/@{name}")).expect("listed");
    assert!(place(&active, "alice") < place(&active, "bob"), "{active}");
    assert!(place(&new, "bob") < place(&new, "alice"), "{new}");
    assert!(!active.contains("@hidden") && !active.contains("rel=\"next\""));
    assert!(text("/directory?page=2").await.contains("There is no entry yet."));
    assert_eq!(app.anonymous().get("/directory?page=x").send().await.status, StatusCode::UNPROCESSABLE_ENTITY);
    app.set("profile_directory", false).await;
    assert_eq!(app.anonymous().get("/directory").send().await.status, StatusCode::NOT_FOUND);
    assert!(!text("/explore").await.contains("href=\"/directory\""));
}

#[tokio::test]
async fn shared_text_is_kept_over_the_sign_in() {
    let app = TestApp::new().await;
    app.account("alice").await;
    let path = "/share?title=Rooks&text=%3Cb%3Ethey%20nest&url=https%3A%2F%2Fnest.test%2F";
    let away = app.anonymous().get(path).send().await;
    assert!(away.header("location").starts_with("/auth/sign_in?next=%2Fshare%3Ftitle"), "{}", away.header("location"));
    let browser = Browser::signed_in(&app, "alice").await;
    let form = browser.get(path).await.header("location").to_owned();
    let page = browser.get(&form).await.text();
    assert!(page.contains(">\nRooks\n\n&lt;b&gt;they nest\n\nhttps://nest.test/</textarea>"), "{page}");
}

#[tokio::test]
async fn style_sheet_of_the_admins_follows_that_of_the_pages() {
    let app = TestApp::new().await;
    let sheet = async |path: &str| app.anonymous().get(path).send().await;
    let empty = sheet("/custom.css").await;
    assert_eq!((empty.status, empty.text().as_str()), (StatusCode::OK, ""));
    assert!(!sheet("/about").await.text().contains("custom.css"));

    app.run_with(&["settings", "set", "custom_css", "-"], "body { color: teal }\n").await.ok();
    app.app.invalidate().await.unwrap();
    let page = sheet("/about?new").await.text();
    let start = page.find("/custom.css?v=").expect("the page loads it");
    let path = page[start..].split('"').next().unwrap();
    let served = sheet(path).await;
    assert_eq!(served.text(), "body { color: teal }");
    assert_eq!(served.header("content-type"), "text/css; charset=utf-8");
    assert_eq!(served.header("content-security-policy"), "default-src 'none'");
    assert!(served.header("cache-control").contains("immutable"));
    assert_eq!(sheet("/custom.css?v=0").await.header("cache-control"), "public, max-age=300");
    let large = "a".repeat(200_000);
    app.run_with(&["settings", "set", "custom_css", "-"], &large).await.fails(1);
}
