//! <https://docs.joinmastodon.org/methods/announcements/>, and `rookery announcement`.

use std::sync::Arc;

use chrono::Duration;
use context::change::Change;
use model::RowId;
use serde_json::{Value, json};
use service::announcement::{self, Draft, Publication};
use tokio::sync::broadcast::Receiver;

use crate::harness::{Client, TestApp};
use crate::jobs::removal::remove;
use crate::platform::contract;
use crate::routes::media::png;

const PATH: &str = "/api/v1/announcements";

fn draft(text: &str) -> Draft {
    Draft { text: text.to_owned(), starts_at: None, ends_at: None, all_day: false }
}

/// Creates a published announcement; returns its path.
pub async fn announce(app: &TestApp, text: &str) -> String {
    app.tick();
    let id = announcement::create(&app.app, &model::Staff::operator(), draft(text), Publication::Now).await.unwrap();
    format!("{PATH}/{id}")
}

async fn index(person: &Client) -> Vec<Value> {
    let page = person.get(PATH).ok().await;
    contract::check("Announcement[]", &page);
    page.as_array().unwrap().clone()
}

fn texts(page: &[Value]) -> Vec<&str> {
    page.iter().map(|announcement| announcement["content"].as_str().unwrap()).collect()
}

async fn emoji(app: &TestApp, shortcode: &str) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(format!("{shortcode}.png")), png(20, 20)).unwrap();
    app.run(&["emoji", "import", folder.path().to_str().unwrap()]).await.ok();
    app.app.reload().await.unwrap();
}

fn reaction(path: &str, name: &str) -> String {
    let name = percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC);
    format!("{path}/reactions/{name}")
}

#[tokio::test]
async fn announcement_shows_mentioned_records() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    emoji(&app, "rook").await;
    let publish = async |visibility: &str| {
        let status = bob.publish(json!({"status": "hello", "visibility": visibility})).await;
        (status["id"].clone(), status["url"].as_str().unwrap().to_owned())
    };
    let ((public, shown), (_, hidden)) = (publish("public").await, publish("private").await);
    announce(&app, &format!("Hi @bob@example.test, :rook: #Birds\n\n{shown} and {hidden} & <b>")).await;

    let page = index(&alice).await;
    let announced = &page[0];
    let content = announced["content"].as_str().unwrap();
    assert!(content.contains("class=\"u-url mention\"") && content.contains("&amp; &lt;b&gt;"), "{content}");
    assert_eq!((&announced["mentions"][0]["acct"], &announced["tags"][0]["name"]), (&json!("bob"), &json!("birds")));
    assert_eq!(announced["emojis"][0]["shortcode"], "rook");
    let statuses: Vec<&Value> = announced["statuses"].as_array().unwrap().iter().map(|status| &status["id"]).collect();
    assert_eq!(statuses, [&public]);
    assert_eq!(
        (&announced["read"], &announced["all_day"], &announced["starts_at"]),
        (&json!(false), &json!(false), &json!(null))
    );
    app.anonymous().get(PATH).fails(422).await;
    app.application("read").await.get(PATH).fails(422).await;
    Client::new(app.clone(), None, "", Some("nonsense".to_owned())).get(PATH).fails(401).await;
}

#[tokio::test]
async fn dismissed_announcement_stays_and_is_read() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let path = announce(&app, "first").await;
    announce(&app, "second").await;
    for _ in 0..2 {
        assert_eq!(alice.post(&format!("{path}/dismiss")).ok().await, json!({}));
    }
    let page = index(&alice).await;
    assert_eq!(texts(&page), ["<p>first</p>", "<p>second</p>"]);
    assert_eq!((&page[0]["read"], &page[1]["read"]), (&json!(true), &json!(false)));
    assert_eq!(index(&bob).await[0]["read"], false);
    let hidden =
        announcement::create(&app.app, &model::Staff::operator(), draft("hidden"), Publication::Draft).await.unwrap();
    alice.post(&format!("{PATH}/{hidden}/dismiss")).fails(404).await;
}

#[tokio::test]
async fn reactions_are_counted_in_the_order_of_their_first_use() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    emoji(&app, "rook").await;
    let path = announce(&app, "hello").await;
    for (person, name) in [(&alice, "rook"), (&bob, "🎉"), (&alice, "🎉")] {
        assert_eq!(person.put(&reaction(&path, name)).ok().await, json!({}));
    }
    let page = index(&alice).await;
    let shown = page[0]["reactions"].as_array().unwrap();
    assert_eq!((&shown[0]["name"], &shown[0]["count"], &shown[0]["me"]), (&json!("rook"), &json!(1), &json!(true)));
    assert!(shown[0]["url"].as_str().unwrap().starts_with("https://example.test/media/"));
    assert_eq!(shown[1], json!({"name": "🎉", "count": 2, "me": true}));
    assert_eq!(index(&bob).await[0]["reactions"][0]["me"], false);

    alice.put(&reaction(&path, "🎉")).fails(422).await;
    for name in ["no", "nothing_here", "a", "🎉🎉", "text"] {
        alice.put(&reaction(&path, name)).fails(422).await;
        alice.delete(&reaction(&path, name)).fails(404).await;
    }
    alice.delete(&reaction(&path, "rook")).ok().await;
    alice.delete(&reaction(&path, "rook")).fails(404).await;
    alice.put(&reaction(&format!("{PATH}/1"), "🎉")).fails(404).await;
    assert_eq!(index(&alice).await[0]["reactions"], json!([{"name": "🎉", "count": 2, "me": true}]));

    alice.put(&reaction(&path, "rook")).ok().await;
    app.run(&["emoji", "remove", "rook"]).await.ok();
    app.app.reload().await.unwrap();
    assert_eq!(index(&alice).await[0]["reactions"].as_array().unwrap().len(), 1, "it goes with its emoji");
}

#[tokio::test]
async fn reactions_are_limited_to_eight_emojis() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let path = announce(&app, "hello").await;
    let names = ["🎉", "🐦", "🌳", "🌍", "🔥", "🌊", "🍎", "🍞", "🧀"];
    for name in &names[..8] {
        alice.put(&reaction(&path, name)).ok().await;
    }
    assert!(bob.put(&reaction(&path, names[8])).fails(422).await.contains('8'));
    bob.put(&reaction(&path, names[0])).ok().await;
    alice.delete(&reaction(&path, names[7])).ok().await;
    bob.put(&reaction(&path, names[8])).ok().await;
    let page = index(&bob).await;
    let shown = page[0]["reactions"].as_array().unwrap();
    assert_eq!((shown.len(), &shown[0]["count"]), (8, &json!(2)));
}

fn told(heard: &mut Receiver<Arc<Change>>) -> Vec<(&'static str, RowId)> {
    let mut told = Vec::new();
    while let Ok(change) = heard.try_recv() {
        match &*change {
            Change::AnnouncementPublished { announcement } => told.push(("published", *announcement)),
            Change::AnnouncementDeleted { announcement } => told.push(("deleted", *announcement)),
            Change::AnnouncementReaction { announcement, .. } => told.push(("reaction", *announcement)),
            _ => {}
        }
    }
    told
}

#[tokio::test]
async fn scheduled_announcement_is_published_and_withdrawn_in_time() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let mut heard = app.app.live.subscribe();
    let now = app.app.clock.now();
    let event =
        Draft { starts_at: Some(now + Duration::hours(2)), ends_at: Some(now + Duration::hours(3)), ..draft("a fair") };
    let at = Publication::At(now + Duration::hours(1));
    let id = announcement::create(&app.app, &model::Staff::operator(), event, at).await.unwrap();
    app.run_jobs().await;
    assert_eq!(index(&alice).await.len(), 0);
    told(&mut heard);

    app.app.clock.advance(Duration::hours(1));
    app.run_jobs().await;
    let page = index(&alice).await;
    assert_eq!(page[0]["starts_at"], (now + Duration::hours(2)).to_api());
    assert_eq!(page[0]["published_at"], (now + Duration::hours(1)).to_api());
    assert_eq!(told(&mut heard), [("published", id)]);
    alice.put(&reaction(&format!("{PATH}/{id}"), "🎉")).ok().await;
    assert_eq!(told(&mut heard), [("reaction", id)]);

    app.app.clock.advance(Duration::hours(2));
    assert_eq!(index(&alice).await.len(), 0, "also before the job ran");
    app.run_jobs().await;
    assert_eq!(told(&mut heard), [("deleted", id)]);
}

#[tokio::test]
async fn commands_create_change_and_remove_announcements() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let made = app.run(&["announcement", "add", "The rooks are back", "--json"]).await.json();
    let id = made[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(texts(&index(&alice).await), ["<p>The rooks are back</p>"]);

    app.run(&[
        "announcement",
        "edit",
        &id,
        "--text",
        "-",
        "--starts-at",
        "2026-02-01",
        "--ends-at",
        "2026-02-02",
        "--all-day",
    ])
    .await
    .fails(1);
    let edit = ["announcement", "edit", &id, "--starts-at", "2126-02-01", "--ends-at", "2126-02-02", "--all-day"];
    app.run(&edit).await.ok();
    let shown = index(&alice).await;
    assert_eq!((&shown[0]["all_day"], &shown[0]["starts_at"]), (&json!(true), &json!("2126-02-01T00:00:00.000Z")));
    assert_eq!(shown[0]["ends_at"], "2126-02-02T23:59:59.999Z");
    app.run(&["announcement", "edit", &id, "--no-event", "--text", "Gone again"]).await.ok();
    assert_eq!(
        (texts(&index(&alice).await), index(&alice).await[0]["all_day"].clone()),
        (vec!["<p>Gone again</p>"], json!(false))
    );

    app.run(&["announcement", "unpublish", &id]).await.ok();
    assert_eq!(index(&alice).await.len(), 0);
    assert!(app.run(&["announcement", "list"]).await.ok().contains("draft  Gone again"));
    app.run(&["announcement", "publish", &id]).await.ok();
    assert_eq!(index(&alice).await.len(), 1);
    app.run(&["announcement", "publish", &id, "--at", "2126-01-01T00:00:00Z"]).await.ok();
    assert!(app.run(&["announcement", "list"]).await.ok().contains("scheduled for 2126-01-01"));
    app.run(&["announcement", "remove", &id]).await.ok();
    assert!(app.run(&["announcement", "remove", &id]).await.fails(1).contains("there is no announcement"));
    assert_eq!(app.run(&["announcement", "list", "--json"]).await.json(), [json!([])]);
    for wrong in [vec!["add", " "], vec!["add", "a", "--starts-at", "2026-01-01"], vec!["add", "a", "--at", "soon"]] {
        app.run(&[vec!["announcement"], wrong].concat()).await.fails(1);
    }
    let backwards = ["announcement", "add", "a", "--starts-at", "2026-01-03", "--ends-at", "2026-01-01"];
    assert!(app.run(&backwards).await.fails(1).contains("after it starts"));
}

#[tokio::test]
async fn announcement_reactions_are_deleted_with_account() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let path = announce(&app, "hello").await;
    for (person, name) in [(&alice, "🎉"), (&alice, "🐦"), (&bob, "🎉")] {
        person.put(&reaction(&path, name)).ok().await;
    }
    alice.post(&format!("{path}/dismiss")).ok().await;
    remove(&app, "alice").await;
    app.run_jobs().await;
    assert_eq!(index(&bob).await[0]["reactions"], json!([{"name": "🎉", "count": 1, "me": true}]));
    for table in ["announcement_dismissals", "announcement_reactions"] {
        let sql = format!("SELECT COUNT(*) FROM {table} WHERE account_id = {}", alice.id());
        assert_eq!(app.number(&sql).await, 0, "{table}");
    }
}
