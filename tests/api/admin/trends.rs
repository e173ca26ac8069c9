//! Reviews of trends, their publishers and hashtags: `/api/v1/admin/trends` and `/api/v1/admin/tags`.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::harness::{Client, TestApp};
use crate::platform::contract;
use crate::routes::trends::refresh;
use crate::seed::{Seed, Status};

const TAGS: &str = "/api/v1/admin/trends/tags";
const LINKS: &str = "/api/v1/admin/trends/links";
const STATUSES: &str = "/api/v1/admin/trends/statuses";
const PUBLISHERS: &str = "/api/v1/admin/trends/links/publishers";

/// A member of staff, and five people.
async fn world() -> (TestApp, Client, [Client; 5]) {
    let app = TestApp::new().await;
    let moderator = app.staff("moderator", "Moderator").await;
    let fans = app.accounts(["fan1", "fan2", "fan3", "fan4", "fan5"]).await;
    app.make_everybody_discoverable().await;
    (app, moderator, fans)
}

/// `key` of each of `list`.
fn each(list: &Value, key: &str) -> Vec<Value> {
    list.as_array().unwrap().iter().map(|item| item[key].clone()).collect()
}

/// The id of an entity, a string or a number, as it is in paths.
fn id_of(entity: &Value) -> String {
    entity["id"].as_str().map_or_else(|| entity["id"].to_string(), str::to_owned)
}

#[tokio::test]
async fn hashtag_is_reviewed_by_its_id() {
    let (app, moderator, fans) = world().await;
    for fan in &fans {
        fan.publish("#Rooks again").await;
    }
    refresh(&app).await;
    let person = &fans[0];
    let admin_read = person.with_scopes("read admin:read").await;
    for client in [&app.anonymous(), &admin_read] {
        let shown = client.get(TAGS).ok().await;
        contract::check("Tag[]", &shown);
        assert_eq!(shown, json!([]), "it was not reviewed");
    }
    person.get(TAGS).fails(403).await;
    let shown = moderator.get(TAGS).ok().await;
    contract::check("Admin_Tag[]", &shown);
    assert_eq!(each(&shown, "name"), ["Rooks"]);
    assert_eq!(
        (&shown[0]["requires_review"], &shown[0]["trendable"], &shown[0]["following"]),
        (&json!(true), &json!(false), &json!(false))
    );
    let id = id_of(&shown[0]);
    let approved = moderator.post(&format!("{TAGS}/{id}/approve")).ok().await;
    contract::check("Admin_Tag", &approved);
    assert_eq!((&approved["requires_review"], &approved["trendable"]), (&json!(false), &json!(true)));
    let public = app.anonymous().get("/api/v1/trends/tags").ok().await;
    assert_eq!(each(&public, "name"), ["Rooks"]);
    assert_eq!(each(&app.anonymous().get(TAGS).ok().await, "name"), ["Rooks"]);

    let rejected = moderator.post(&format!("{TAGS}/{id}/reject")).ok().await;
    assert_eq!(rejected["trendable"], false);
    assert_eq!(app.anonymous().get("/api/v1/trends/tags").ok().await, json!([]));
    assert_eq!(each(&moderator.get(TAGS).ok().await, "name"), ["Rooks"], "staff sees rejected ones");
    moderator.post(&format!("{TAGS}/1/approve")).fails(404).await;
    app.anonymous().post(&format!("{TAGS}/{id}/approve")).fails(403).await;
    admin_read.post(&format!("{TAGS}/{id}/approve")).fails(403).await;
}

#[tokio::test]
async fn staff_sees_trends_while_they_are_disabled() {
    let (app, moderator, fans) = world().await;
    for fan in &fans {
        fan.publish("#one #two #three").await;
    }
    refresh(&app).await;
    app.set("trends", false).await;
    assert_eq!(moderator.get(TAGS).ok().await.as_array().unwrap().len(), 3);
    assert_eq!(app.anonymous().get(TAGS).ok().await, json!([]));
    let page = moderator.get(&format!("{TAGS}?limit=2")).send().await;
    let link = page.header("link").to_owned();
    assert!(link.contains("/api/v1/admin/trends/tags?") && link.contains("offset=2"), "{link}");
    assert_eq!(moderator.get(&format!("{TAGS}?limit=2&offset=2")).ok().await.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn status_is_reviewed_by_its_id() {
    let (app, moderator, fans) = world().await;
    let status = fans[0].publish("liked").await.into_id();
    for fan in &fans {
        fan.favourite(&status).ok().await;
    }
    refresh(&app).await;
    let public = async || app.anonymous().get("/api/v1/trends/statuses").ok().await;
    assert_eq!(public().await, json!([]));
    // A block does not hide a status from its review.
    fans[0].block(&moderator).ok().await;
    let shown = moderator.get(STATUSES).ok().await;
    contract::check("Admin_TrendsStatus[]", &shown);
    assert_eq!((each(&shown, "id"), &shown[0]["requires_review"]), (vec![json!(status)], &json!(true)));
    let approved = moderator.post(&format!("{STATUSES}/{status}/approve")).ok().await;
    contract::check("Admin_TrendsStatus", &approved);
    assert_eq!(approved["requires_review"], false);
    assert_eq!(each(&public().await, "id"), [json!(status)]);
    moderator.post(&format!("{STATUSES}/{status}/reject")).ok().await;
    assert_eq!(public().await, json!([]));

    let letter = fans[0].publish_to("private", "for followers").await.into_id();
    moderator.post(&format!("{STATUSES}/{letter}/approve")).fails(404).await;
    moderator.post(&format!("{STATUSES}/1/approve")).fails(404).await;
}

/// Five people share each of two pages of one site; returns the moderator.
async fn linked() -> (TestApp, Client) {
    let app = TestApp::new().await;
    let moderator = app.staff("moderator", "Moderator").await;
    let mut seed = Seed::after(app.db().engine(), "example.test", 14 * 86_400 + 11 * 3_600);
    for page in ["one", "two"] {
        let authors: Vec<i64> = (0..5).map(|n| seed.account(&format!("{page}{n}"), None)).collect();
        let statuses: Vec<i64> =
            authors.into_iter().map(|author| seed.status(&Status { author, ..Status::default() })).collect();
        seed.link(&format!("https://news.site.test/{page}"), &statuses);
    }
    seed.write(app.db()).await;
    refresh(&app).await;
    (app, moderator)
}

#[tokio::test]
async fn link_is_reviewed_by_its_id() {
    let (app, moderator) = linked().await;
    let shown = moderator.get(LINKS).ok().await;
    contract::check("Admin_TrendsLink[]", &shown);
    assert!(shown[0]["id"].is_i64(), "{shown}");
    assert_eq!(each(&shown, "requires_review"), [true, true]);
    let id = id_of(&shown[0]);
    let approved = moderator.post(&format!("{LINKS}/{id}/approve")).ok().await;
    contract::check("Admin_TrendsLink", &approved);
    assert_eq!((&approved["id"], &approved["requires_review"]), (&shown[0]["id"], &json!(false)));
    let public = app.anonymous().get("/api/v1/trends/links").ok().await;
    assert_eq!(each(&public, "url"), [shown[0]["url"].clone()]);
    moderator.post(&format!("{LINKS}/{id}/reject")).ok().await;
    assert_eq!(app.anonymous().get("/api/v1/trends/links").ok().await, json!([]));
    moderator.post(&format!("{LINKS}/1/approve")).fails(404).await;
}

#[tokio::test]
async fn publisher_decides_about_links_without_their_own_review() {
    let (app, moderator) = linked().await;
    let publishers = moderator.get(PUBLISHERS).ok().await;
    contract::check("Admin_Publisher[]", &publishers);
    assert_eq!(each(&publishers, "domain"), ["news.site.test"]);
    let publisher = &publishers[0];
    assert_eq!((&publisher["trendable"], &publisher["requires_review"]), (&Value::Null, &json!(true)));
    assert!(publisher["requested_review_at"].is_string() && publisher["reviewed_at"].is_null());
    let public = async || each(&app.anonymous().get("/api/v1/trends/links").ok().await, "url");
    assert_eq!(public().await, [""; 0]);

    let one = "https://news.site.test/one";
    app.run(&["trend", "reject", "link", one]).await.ok();
    let id = id_of(publisher);
    let approved = moderator.post(&format!("{PUBLISHERS}/{id}/approve")).ok().await;
    contract::check("Admin_Publisher", &approved);
    assert_eq!((&approved["trendable"], &approved["requires_review"]), (&json!(true), &json!(false)));
    for _ in 0..2 {
        assert_eq!(public().await, ["https://news.site.test/two"], "the review of the link goes before");
        refresh(&app).await;
    }
    assert_eq!(each(&moderator.get(LINKS).ok().await, "requires_review"), [false, false]);
    let timeline = "/api/v1/timelines/link?url=https://news.site.test/two";
    app.anonymous().get(timeline).ok().await;
    moderator.post(&format!("{PUBLISHERS}/{id}/reject")).ok().await;
    assert_eq!(public().await, [""; 0]);
    app.anonymous().get(timeline).expect(StatusCode::NOT_FOUND).await;

    // The domain above covers it, unless it has its own decision.
    app.run(&["trend", "approve", "publisher", "site.test"]).await.ok();
    assert_eq!(public().await, [""; 0]);
    let listed = app.run(&["--json", "trend", "publishers"]).await.json();
    assert_eq!(each(&listed[0], "domain"), ["site.test", "news.site.test"]);
    moderator.post(&format!("{PUBLISHERS}/1/approve")).fails(404).await;
    assert!(app.run(&["trend", "approve", "publisher", "no domain"]).await.fails(1).contains("domain"));
}

#[tokio::test]
async fn all_hashtags_are_listed_and_decided_about() {
    let (app, moderator, fans) = world().await;
    let fan = &fans[0];
    fan.publish("#Rooks").await;
    fan.publish_to("private", "#SecretPlan").await;
    let tags = moderator.get("/api/v1/admin/tags").ok().await;
    contract::check("Admin_Tag[]", &tags);
    assert_eq!(each(&tags, "name"), ["secretplan", "Rooks"], "a private spelling is not shown");
    let first = moderator.get("/api/v1/admin/tags?limit=1").send().await;
    let link = first.header("link").to_owned();
    assert!(link.contains("max_id=") && link.contains("min_id="), "{link}");

    let path = format!("/api/v1/admin/tags/{}", id_of(&tags[1]));
    assert_eq!(moderator.get(&path).ok().await, tags[1]);
    let refused = moderator.put(&path).json(&json!({ "display_name": "crows", "usable": false })).fails(422).await;
    assert!(refused.contains("display_name"), "{refused}");
    assert_eq!(moderator.get(&path).ok().await, tags[1], "nothing half done");

    let changed = moderator.put(&path).json(&json!({ "display_name": "RÔOKS" })).ok().await;
    contract::check("Admin_Tag", &changed);
    assert_eq!((&changed["name"], &changed["requires_review"]), (&json!("RÔOKS"), &json!(false)));
    assert_eq!(app.anonymous().get("/api/v1/tags/rooks").ok().await["name"], "RÔOKS");

    moderator.patch(&path).json(&json!({ "usable": false })).ok().await;
    let refused = fan.post("/api/v1/statuses").json(&json!({ "status": "more #rooks" })).fails(422).await;
    assert!(refused.contains("rooks"), "{refused}");
    moderator.put(&path).json(&json!({ "usable": true, "listable": true })).ok().await;
    fan.publish("more #rooks").await;

    let found = async || fan.get("/api/v2/search?q=rooks&type=hashtags").ok().await["hashtags"].clone();
    assert_eq!(each(&found().await, "name"), ["RÔOKS"]);
    let changed = moderator.put(&path).json(&json!({ "listable": false })).ok().await;
    assert_eq!((&changed["listable"], &changed["usable"]), (&json!(false), &json!(true)));
    assert_eq!(found().await, json!([]));

    moderator.get("/api/v1/admin/tags/1").fails(404).await;
    moderator.put("/api/v1/admin/tags/1").json(&json!({ "usable": [] })).fails(404).await;
    moderator.put(&path).json(&json!({ "usable": {} })).fails(422).await;
    fan.get("/api/v1/admin/tags").fails(403).await;
    app.anonymous().get("/api/v1/admin/tags").fails(403).await;
}

#[tokio::test]
async fn unlistable_and_unusable_hashtags_leave_trends() {
    let (app, moderator, fans) = world().await;
    app.set("trendable_by_default", true).await;
    for fan in &fans {
        fan.publish("#one #two #three").await;
    }
    refresh(&app).await;
    let public = async || {
        let tags = app.anonymous().get("/api/v1/trends/tags").ok().await;
        let mut names: Vec<String> = each(&tags, "name").iter().map(|name| name.as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(public().await, ["one", "three", "two"]);
    app.run(&["trend", "hashtag", "one", "--listable", "false"]).await.ok();
    app.run(&["trend", "hashtag", "#two", "--usable", "false"]).await.ok();
    assert_eq!(public().await, ["three"]);
    refresh(&app).await;
    assert_eq!(public().await, ["three"]);
    app.run(&["trend", "hashtag", "three", "--trendable", "false"]).await.ok();
    assert_eq!(public().await, [""; 0]);
    assert_eq!(moderator.get(TAGS).ok().await.as_array().unwrap().len(), 3, "staff sees them");
    let listed = app.run(&["--json", "trend", "hashtags"]).await.json();
    assert_eq!(listed[0].as_array().unwrap().len(), 3);
    let shown = app.run(&["--json", "trend", "hashtag", "two"]).await.json();
    assert_eq!((&shown[0]["name"], &shown[0]["usable"]), (&json!("two"), &json!(false)));
    assert!(app.run(&["trend", "hashtag", "four"]).await.fails(1).contains("hashtag"));
}

#[tokio::test]
async fn decisions_about_trends_are_in_the_audit_log() {
    let (app, moderator) = linked().await;
    let author = app.account("writer").await;
    let status = author.publish("#Rooks").await;
    let id = async |path: &str| id_of(&moderator.get(path).ok().await[0]);
    let (tag, link, publisher) = (id("/api/v1/admin/tags").await, id(LINKS).await, id(PUBLISHERS).await);
    let act = async |path: String| {
        app.tick();
        moderator.post(&path).ok().await;
    };
    act(format!("{TAGS}/{tag}/approve")).await;
    act(format!("{LINKS}/{link}/reject")).await;
    act(format!("{PUBLISHERS}/{publisher}/approve")).await;
    act(format!("{STATUSES}/{}/reject", status.id())).await;
    app.tick();
    moderator.put(&format!("/api/v1/admin/tags/{tag}")).json(&json!({ "usable": false })).ok().await;
    app.tick();
    app.run(&["trend", "approve", "author", "writer"]).await.ok();
    moderator.post(&format!("{TAGS}/1/approve")).fails(404).await;

    let log = moderator.get("/api/v1/admin/audit_log").ok().await;
    let rows: Vec<[String; 3]> = log
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .map(|entry| {
            ["/actor", "/action", "/target/name"]
                .map(|place| entry.pointer(place).unwrap().as_str().unwrap().to_owned())
        })
        .collect();
    let status = format!("#{}", status.id());
    let expected = [
        ["moderator", "trend.approve", "#rooks"],
        ["moderator", "trend.reject", "https://news.site.test/two"],
        ["moderator", "trend.approve", "news.site.test"],
        ["moderator", "trend.reject", &status],
        ["moderator", "tag.update", "#rooks"],
        ["operator", "trend.approve", "@writer"],
    ];
    assert_eq!(rows[rows.len() - 6..], expected.map(|row| row.map(str::to_owned)));
}
