//! <https://docs.joinmastodon.org/methods/trends/>

use std::sync::Arc;

use chrono::Duration;
use context::extension::{Decorate, Decorations, Entity, Extensions, Members, Target, Versions};
use context::queue::{self, RefreshTrends};
use context::{Cx, default_answers};
use model::Actor;
use serde_json::{Value, json};
use service::trend::refresh::{measure, save};

use crate::harness::{Client, Site, TestApp};
use crate::platform::contract;
use crate::seed::{Seed, Status};

const TAGS: &str = "/api/v1/trends/tags";
const STATUSES: &str = "/api/v1/trends/statuses";

/// Scores trends, as the job does every five minutes.
pub async fn refresh(app: &TestApp) {
    let mut tx = app.db().begin().await.unwrap();
    queue::enqueue(&app.app, &mut tx, &RefreshTrends { since: 0 }).await.unwrap();
    tx.commit().await.unwrap();
    app.app.clock.advance(Duration::minutes(5));
    app.run_jobs().await;
}

/// Output of `rookery trend`.
async fn listed(app: &TestApp, arguments: &[&str]) -> Vec<Value> {
    let said = app.run(&[&["--json", "trend"], arguments].concat()).await.json();
    said[0].as_array().unwrap().clone()
}

/// A discoverable author, and five accounts that favourite statuses.
async fn world() -> (TestApp, Client, [Client; 5]) {
    let app = TestApp::new().await;
    let author = app.account("author").await;
    author.update_profile(json!({"discoverable": true})).ok().await;
    let fans = app.accounts(["fan1", "fan2", "fan3", "fan4", "fan5"]).await;
    (app, author, fans)
}

async fn favourite(fans: &[Client], status: &str) {
    for fan in fans {
        fan.favourite(&status).ok().await;
    }
}

async fn names(client: &Client, path: &str) -> Vec<String> {
    let tags = client.get(path).ok().await;
    contract::check("Tag[]", &tags);
    tags.as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap().to_owned()).collect()
}

async fn ids(client: &Client, path: &str) -> Vec<String> {
    let statuses = client.get(path).ok().await;
    contract::check("Status[]", &statuses);
    statuses.as_array().unwrap().iter().map(|status| status["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn hashtag_of_five_people_trends_once_it_is_approved() {
    let (app, author, fans) = world().await;
    for fan in &fans {
        fan.publish("#Rooks again #rooks").await;
        fan.publish("#Rooks once more").await;
    }
    for fan in &fans[..4] {
        fan.publish("#crows").await;
    }
    for fan in &fans {
        fan.publish_to("unlisted", "#secrets").await;
    }
    refresh(&app).await;
    assert_eq!(names(&app.anonymous(), TAGS).await, [""; 0], "it was not reviewed");
    let pending = listed(&app, &["tags", "--pending"]).await;
    assert_eq!((pending.len(), &pending[0]["name"]), (1, &json!("Rooks")));
    assert!(pending[0]["review_requested_at"].is_string());

    app.run(&["trend", "approve", "tag", "rooks"]).await.ok();
    for path in [TAGS, "/api/v1/trends"] {
        assert_eq!(names(&app.anonymous(), path).await, ["Rooks"]);
    }
    let shown = author.get(TAGS).ok().await;
    assert_eq!((&shown[0]["following"], &shown[0]["history"][0]["accounts"]), (&json!(false), &json!("5")));
    assert_eq!(listed(&app, &["tags", "--pending"]).await.len(), 0);
    refresh(&app).await;
    assert_eq!(names(&app.anonymous(), TAGS).await, ["Rooks"], "a review holds");
    app.run(&["trend", "reject", "tag", "#Rooks"]).await.ok();
    assert_eq!(names(&app.anonymous(), TAGS).await, [""; 0]);
    assert!(app.run(&["trend", "approve", "tag", "no tag"]).await.fails(1).contains("hashtag"));
}

#[tokio::test]
async fn link_of_five_people_trends_once_it_is_approved() {
    let app = TestApp::new().await;
    let reader = app.account("reader").await;
    // An hour before the clock of the tests.
    let mut seed = Seed::after(app.db().engine(), "example.test", 14 * 86_400 + 11 * 3_600);
    let mut by = |people: usize, url: &str| {
        let author = |n: usize| seed.account(&format!("{}{n}", &url[8..12]), None);
        let authors: Vec<i64> = (0..people).map(author).collect();
        let status = |author| seed.status(&Status { author, ..Status::default() });
        let statuses: Vec<i64> = authors.into_iter().map(status).collect();
        seed.link(url, &statuses);
    };
    by(5, "https://five.test/news");
    by(4, "https://four.test/news");
    seed.write(app.db()).await;
    refresh(&app).await;
    let links = async || {
        let links = reader.get("/api/v1/trends/links").ok().await;
        contract::check("TrendsLink[]", &links);
        links
    };
    assert_eq!(links().await, json!([]), "it was not reviewed");
    let pending = listed(&app, &["links", "--pending"]).await;
    assert_eq!((pending.len(), &pending[0]["name"]), (1, &json!("https://five.test/news")));
    app.run(&["card", "approve", "https://five.test/news"]).await.ok();
    let shown = links().await;
    assert_eq!((&shown[0]["url"], &shown[0]["history"][0]["accounts"]), (&pending[0]["name"], &json!("5")));
    refresh(&app).await;
    assert_eq!(links().await.as_array().unwrap().len(), 1, "a review holds");
    app.run(&["card", "reject", "https://five.test/news"]).await.ok();
    assert_eq!(links().await, json!([]));
    app.set("trends", false).await;
    refresh(&app).await;
    assert_eq!(listed(&app, &["links"]).await.len(), 0);
}

#[tokio::test]
async fn author_of_a_trending_page_is_shown() {
    let app = TestApp::with(&Site::KEYS).await;
    let site = Site::start().await;
    let [ann, reader] = app.accounts(["ann", "reader"]).await;
    let host = url::Url::parse(&site.origin).unwrap().host_str().unwrap().to_owned();
    ann.update_profile(json!({ "attribution_domains": [host] })).ok().await;
    let page = site.html("/news", r#"<title>t</title><meta name="fediverse:creator" content="@ann@example.test">"#);
    for name in ["one", "two", "three", "four", "five"] {
        let author = app.account(name).await;
        author.publish(json!({ "status": page })).await;
    }
    app.run_jobs().await;
    refresh(&app).await;
    app.run(&["card", "approve", &page]).await.ok();
    let author = async || {
        let links = reader.get("/api/v1/trends/links").ok().await;
        contract::check("TrendsLink[]", &links);
        assert_eq!(links[0]["url"], page);
        links[0]["authors"][0]["account"].clone()
    };
    assert_eq!(author().await["acct"], "ann");
    ann.update_profile(json!({ "display_name": "Ann" })).ok().await;
    assert_eq!(author().await["display_name"], "Ann", "with her current name");
    ann.update_profile(json!({ "attribution_domains": [] })).ok().await;
    assert_eq!(author().await, Value::Null, "she no longer says so");
}

#[tokio::test]
async fn hashtag_decays_and_does_not_come_back_with_less() {
    let (app, author, fans) = world().await;
    app.set("trendable_by_default", true).await;
    for fan in &fans {
        fan.publish("#rooks").await;
    }
    refresh(&app).await;
    assert_eq!(names(&app.anonymous(), TAGS).await, ["rooks"]);
    for hours in [8, 7] {
        app.app.clock.advance(Duration::hours(hours));
        refresh(&app).await;
        assert_eq!(names(&app.anonymous(), TAGS).await, ["rooks"], "after {hours} hours");
    }
    app.app.clock.advance(Duration::hours(2));
    refresh(&app).await;
    assert_eq!(names(&app.anonymous(), TAGS).await, [""; 0], "16 is below 1 after four half-lives");
    for person in fans.iter().chain([&author]) {
        person.publish("#rooks").await;
    }
    refresh(&app).await;
    assert_eq!(names(&app.anonymous(), TAGS).await, [""; 0], "six after five yesterday do not trend");
}

#[tokio::test]
async fn limited_accounts_do_not_count_for_trends() {
    let (app, _, fans) = world().await;
    app.set("trendable_by_default", true).await;
    for fan in &fans {
        fan.publish("#rooks").await;
    }
    app.limit(&fans[0]).await;
    refresh(&app).await;
    assert_eq!(names(&app.anonymous(), TAGS).await, [""; 0]);
}

#[tokio::test]
async fn status_that_five_people_like_trends() {
    let (app, author, fans) = world().await;
    app.set("trendable_by_default", true).await;
    let liked = author.publish("liked").await.into_id();
    let shared = author.publish("shared").await.into_id();
    let little = author.publish("liked a little").await.into_id();
    favourite(&fans, &liked).await;
    favourite(&fans, &shared).await;
    favourite(&fans[..4], &little).await;
    fans[0].reblog(&shared).ok().await;
    refresh(&app).await;
    assert_eq!(ids(&app.anonymous(), STATUSES).await, [&*shared, &*liked]);
    // The fifth favourite, after the first run.
    favourite(&fans[4..], &little).await;
    refresh(&app).await;
    assert_eq!(ids(&app.anonymous(), STATUSES).await.len(), 3);
    fans[4].unfavourite(&little).ok().await;
    refresh(&app).await;
    assert_eq!(ids(&app.anonymous(), STATUSES).await, [&*shared, &*liked], "counts are current");
    author.delete_status(&liked).ok().await;
    assert_eq!(ids(&app.anonymous(), STATUSES).await, [&*shared], "deleted statuses are hidden before the next run");
    app.app.clock.advance(Duration::hours(7));
    refresh(&app).await;
    assert_eq!(ids(&app.anonymous(), STATUSES).await, [""; 0]);
}

#[tokio::test]
async fn statuses_that_must_not_trend_do_not() {
    let (app, author, fans) = world().await;
    app.set("trendable_by_default", true).await;
    let media = crate::routes::media::png(8, 8);
    let media = author.upload(&media).ok().await;
    let first = author.publish("good").await.into_id();
    let plain = author.publish(json!({"status": "sensitive without media", "sensitive": true})).await.into_id();
    let statuses = [
        json!({"status": "warned of", "spoiler_text": "beware"}),
        json!({"status": "a reply", "in_reply_to_id": first}),
        json!({"status": "unlisted", "visibility": "unlisted"}),
        json!({"status": "sensitive", "sensitive": true, "media_ids": [media["id"]]}),
    ];
    let mut all = vec![first.clone(), plain.clone()];
    for status in statuses {
        all.push(author.publish(status).await.into_id());
    }
    let hidden = fans[0].publish("of someone who does not want to be found").await.into_id();
    all.push(hidden);
    for status in &all {
        favourite(&fans, status).await;
    }
    refresh(&app).await;
    assert_eq!(ids(&app.anonymous(), STATUSES).await, [&*plain, &*first]);
    app.limit(&author).await;
    assert_eq!(ids(&app.anonymous(), STATUSES).await, [""; 0]);
    refresh(&app).await;
    assert_eq!(listed(&app, &["statuses"]).await.len(), 0);
}

#[tokio::test]
async fn preferred_languages_come_first_and_nothing_is_left_out() {
    let (app, author, fans) = world().await;
    app.set("trendable_by_default", true).await;
    let mut made = Vec::new();
    for language in ["de", "ja", "en"] {
        let status = author.publish(json!({"status": language, "language": language})).await.into_id();
        favourite(&fans, &status).await;
        made.push(status);
    }
    refresh(&app).await;
    let [german, japanese, english] = [&made[0], &made[1], &made[2]].map(String::as_str);
    assert_eq!(ids(&app.anonymous(), STATUSES).await, [english, japanese, german]);
    let answer = app.anonymous().get(STATUSES).header("accept-language", "ja, en;q=0.5").send().await;
    let shown = answer.json();
    assert_eq!([&shown[0]["id"], &shown[1]["id"]], [japanese, english]);
    assert_eq!(answer.header("vary"), "Authorization, Accept-Language");
    assert!(!answer.header("cache-control").contains("public"));
    assert!(app.anonymous().get(STATUSES).send().await.header("cache-control").contains("public"));
    assert!(app.anonymous().get(TAGS).send().await.header("cache-control").contains("public"));
    app.prefer(&fans[0], |preferences| preferences.chosen_languages = vec!["de".to_owned()]).await;
    assert_eq!(ids(&fans[0], STATUSES).await, [german, english, japanese]);
}

#[tokio::test]
async fn trends_are_paged_by_offset() {
    let (app, author, fans) = world().await;
    app.set("trendable_by_default", true).await;
    for number in 0..5 {
        let status = author.publish(&format!("number {number}")).await.into_id();
        favourite(&fans, &status).await;
    }
    refresh(&app).await;
    let all = ids(&app.anonymous(), STATUSES).await;
    assert_eq!(all.len(), 5);
    let page = app.anonymous().get(&format!("{STATUSES}?limit=2")).send().await;
    assert_eq!(page.header("link"), format!("<https://example.test{STATUSES}?limit=2&offset=2>; rel=\"next\""));
    let page = app.anonymous().get(&format!("{STATUSES}?limit=2&offset=4")).send().await;
    assert_eq!(page.json()[0]["id"], *all[4]);
    assert_eq!(page.header("link"), format!("<https://example.test{STATUSES}?limit=2&offset=2>; rel=\"prev\""));
    assert_eq!(ids(&app.anonymous(), &format!("{STATUSES}?limit=2&offset=2")).await, all[2..4]);
    assert_eq!(ids(&app.anonymous(), &format!("{STATUSES}?offset=-1")).await, all);
    assert_eq!(ids(&app.anonymous(), &format!("{STATUSES}?limit=0")).await, [""; 0]);
}

#[tokio::test]
async fn reviews_of_statuses_and_authors_decide() {
    let (app, author, fans) = world().await;
    let [one, other] = [author.publish("one").await.into_id(), author.publish("other").await.into_id()];
    favourite(&fans, &one).await;
    favourite(&fans, &other).await;
    refresh(&app).await;
    let shown = async || ids(&app.anonymous(), STATUSES).await;
    assert_eq!(shown().await, [""; 0]);
    let pending = listed(&app, &["statuses", "--pending"]).await;
    assert_eq!((pending.len(), &pending[0]["name"]), (2, &json!("author")));
    assert!(pending[0]["review_requested_at"].is_string(), "a review of the author is asked for");
    app.run(&["trend", "approve", "status", &one]).await.ok();
    assert_eq!(shown().await, [&*one]);
    app.run(&["trend", "approve", "author", "author"]).await.ok();
    assert_eq!(shown().await, [&*other, &*one]);
    app.run(&["trend", "reject", "author", "author"]).await.ok();
    assert_eq!(shown().await, [&*one], "a review of its own counts before that of the author");
    refresh(&app).await;
    assert_eq!(shown().await, [&*one]);
    app.run(&["trend", "reject", "status", &one]).await.ok();
    assert_eq!(shown().await, [""; 0]);
    assert!(app.run(&["trend", "approve", "status", "1"]).await.fails(1).contains("status"));
    assert!(app.run(&["trend", "approve", "author", "nobody"]).await.fails(1).contains("nobody"));
}

#[tokio::test]
async fn blocked_or_muted_authors_do_not_trend_for_viewer() {
    let (app, author, fans) = world().await;
    app.set("trendable_by_default", true).await;
    let status = author.publish("liked").await.into_id();
    favourite(&fans, &status).await;
    refresh(&app).await;
    fans[0].block(&author).ok().await;
    fans[1].mute(&author).ok().await;
    assert_eq!(ids(&fans[0], STATUSES).await, [""; 0]);
    assert_eq!(ids(&fans[1], STATUSES).await, [""; 0]);
    assert_eq!(ids(&fans[2], STATUSES).await, [&*status]);
}

#[tokio::test]
async fn trends_switched_off_are_empty() {
    let (app, author, fans) = world().await;
    app.set("trendable_by_default", true).await;
    let status = author.publish("#liked").await.into_id();
    favourite(&fans, &status).await;
    for fan in &fans {
        fan.publish("#liked").await;
    }
    refresh(&app).await;
    assert_eq!(names(&author, TAGS).await, ["liked"]);
    app.set("trends", false).await;
    for path in ["/api/v1/trends", TAGS, STATUSES] {
        assert_eq!(author.get(path).ok().await, json!([]), "{path}");
    }
    refresh(&app).await;
    let kept: Vec<(i64,)> = app.db().fetch_raw("SELECT COUNT(*) FROM trends").await.unwrap();
    assert_eq!(kept[0].0, 0);
}

/// An extension that adds the weight of nine favourites to every status.
#[derive(Debug)]
struct Weighing;

impl Extensions for Weighing {
    fn pinned(&self) -> Arc<dyn Extensions> {
        Arc::new(Self)
    }
}

default_answers! {
    Weighing: FilterDrafts, JudgeSignUps, JudgeNotifications, FindMarked, ExceptFromCleanup, DescribeServer, ServeChannels, ServeClient,
    ReceiveChanges, RunJobs, DeclareScopes
}

#[async_trait::async_trait]
impl Decorate for Weighing {
    fn decorates(&self, kind: Entity) -> bool {
        kind == Entity::Trend
    }

    async fn decorate(
        &self,
        _: &Cx,
        viewer: Option<&Actor>,
        _: Entity,
        targets: Vec<Target>,
        _: &[Versions],
    ) -> Decorations {
        assert!(viewer.is_none());
        let weight = |_: &Target| {
            let mut members = Members::default();
            members.add(None, "weight", "9.5");
            members
        };
        Decorations::new(targets.iter().map(weight).collect(), true)
    }
}

#[tokio::test]
async fn extensions_add_to_the_use_of_a_status() {
    let (app, author, fans) = world().await;
    app.set("trendable_by_default", true).await;
    let status = author.publish("liked by one, and by an extension").await.into_id();
    favourite(&fans[..1], &status).await;
    refresh(&app).await;
    assert_eq!(ids(&app.anonymous(), STATUSES).await, [""; 0]);
    let cx = app.app.with_extensions(Arc::new(Weighing));
    let measured = measure(&cx, 0).await.unwrap();
    let mut tx = app.db().begin().await.unwrap();
    save(&cx, &mut tx, &measured).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(ids(&app.anonymous(), STATUSES).await, [&*status]);
}
