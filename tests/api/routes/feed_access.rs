//! Who may read the feeds of the whole server: public timelines, hashtags and links, their pages and their streams.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::harness::{Browser, Client, TestApp, ids};

const PUBLIC: &str = "/api/v1/timelines/public";
const TAG: &str = "/api/v1/timelines/tag/rooks";

/// A status of this server, and one that counts as a status of another server: its ids.
async fn statuses(app: &TestApp, author: &Client) -> (String, String) {
    let [here, elsewhere] = [author.publish("#rooks robin").await, author.publish("#rooks magpie").await];
    let (here, elsewhere) = (here.into_id(), elsewhere.into_id());
    app.execute(&format!("UPDATE statuses SET local = FALSE WHERE id = {elsewhere}")).await;
    (here, elsewhere)
}

async fn access(app: &TestApp) -> Value {
    app.anonymous().get("/api/v2/instance").ok().await["configuration"]["timelines_access"].take()
}

#[tokio::test]
async fn preview_decides_about_all_feeds_by_default() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let everyone = json!({ "local": "public", "remote": "public" });
    let all = |of: &Value| json!({ "live_feeds": of, "hashtag_feeds": of, "trending_link_feeds": of });
    assert_eq!(access(&app).await, all(&everyone));

    app.set("timeline_preview", false).await;
    assert_eq!(access(&app).await, all(&json!({ "local": "authenticated", "remote": "authenticated" })));
    for path in [PUBLIC, TAG] {
        app.anonymous().get(path).fails(401).await;
        alice.get(path).ok().await;
    }
    app.set("local_live_feed_access", "public").await;
    app.anonymous().get(&format!("{PUBLIC}?local=true")).ok().await;
    app.anonymous().get(TAG).fails(401).await;
}

#[tokio::test]
async fn statuses_of_each_origin_have_their_own_access() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let (here, elsewhere) = statuses(&app, &alice).await;
    for (path, remote) in [(PUBLIC, "remote_live_feed_access"), (TAG, "remote_topic_feed_access")] {
        app.set(remote, "authenticated").await;
        app.anonymous().get(path).fails(401).await;
        app.anonymous().get(&format!("{path}?remote=true")).fails(401).await;
        assert_eq!(ids(&app.anonymous().get(&format!("{path}?local=true")).ok().await), [here.as_str()], "{path}");
        assert_eq!(ids(&bob.get(path).ok().await), [elsewhere.as_str(), &here], "{path}");

        app.set(remote, "disabled").await;
        app.anonymous().get(path).fails(401).await;
        assert_eq!(ids(&bob.get(path).ok().await), [here.as_str()], "{path}");
        assert_eq!(bob.get(&format!("{path}?remote=true")).ok().await, json!([]), "{path}");
    }
    let shown = access(&app).await;
    assert_eq!(shown["live_feeds"], json!({ "local": "public", "remote": "disabled" }));
    assert_eq!(shown["hashtag_feeds"], shown["trending_link_feeds"]);
}

#[tokio::test]
async fn role_with_permission_reads_disabled_feeds() {
    let app = TestApp::new().await;
    let owner = app.staff("owner", "Owner").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let (here, elsewhere) = statuses(&app, &alice).await;
    for setting in ["local_live_feed_access", "remote_live_feed_access"] {
        app.set(setting, "disabled").await;
    }
    assert_eq!(bob.get(PUBLIC).ok().await, json!([]));
    let readers = json!({ "name": "Reader", "position": 1, "permissions": ["view_feeds"] });
    let role = owner.post("/api/v1/admin/roles").json(&readers).ok().await;
    assert_eq!(role["permissions"], "1048576");
    let path = format!("/api/v1/admin/accounts/{}/role", bob.id());
    owner.put(&path).json(&json!({ "role_id": role["id"] })).ok().await;
    assert_eq!(ids(&bob.get(PUBLIC).ok().await), [elsewhere.as_str(), &here]);
    assert_eq!(ids(&owner.get(PUBLIC).ok().await), [elsewhere.as_str(), &here], "administrators have all permissions");
}

#[tokio::test]
async fn timeline_of_a_link_has_the_statuses_that_its_reader_may_see() {
    let app = TestApp::new().await;
    app.set("remote_topic_feed_access", "disabled").await;
    let bob = app.account("bob").await;
    let path = "/api/v1/timelines/link?url=https://news.example/";
    app.anonymous().get(path).fails(401).await;
    bob.get(path).fails(404).await;
}

#[tokio::test]
async fn page_of_a_hashtag_has_what_its_visitor_may_read() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    statuses(&app, &alice).await;
    let visitor = Browser::new(&app);
    app.set("remote_topic_feed_access", "authenticated").await;
    let page = visitor.get("/tags/rooks").await.text();
    assert!(page.contains("robin") && !page.contains("magpie"));
    app.set("local_topic_feed_access", "authenticated").await;
    for path in ["/tags/rooks", "/tags/rooks.atom"] {
        assert_eq!(visitor.get(path).await.status, StatusCode::UNAUTHORIZED, "{path}");
    }
    let member = Browser::signed_in(&app, "alice").await;
    let page = member.get("/tags/rooks").await.text();
    assert!(page.contains("robin") && page.contains("magpie"));
}

#[tokio::test]
async fn streams_follow_the_access_of_their_feeds() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let mut all = bob.events("public").await;
    let mut tag = bob.events("hashtag?tag=rooks").await;
    app.set("local_live_feed_access", "disabled").await;
    let first = alice.publish("#rooks").await.into_id();
    assert_eq!(tag.next().await.unwrap().json()["id"], first.as_str(), "hashtags have their own setting");
    assert_eq!(bob.open_events("public/local").await.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(bob.open_events("public").await.status(), StatusCode::OK, "statuses of other servers remain");

    app.set("local_live_feed_access", "public").await;
    let second = alice.publish("again").await.into_id();
    assert_eq!(all.next().await.unwrap().json()["id"], second.as_str(), "the first one was not sent");
}
