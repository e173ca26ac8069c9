//! Archives of account data: requested on the settings page, created by a job, and available to the owner only.

use std::io::{Cursor, Read as _};

use chrono::Duration;
use serde_json::{Value, json};

use crate::harness::{Answer, Browser, Client, TestApp, form_fields, id};
use crate::jobs::removal::remove;
use crate::routes::media::png;

const PAGE: &str = "/settings/transfer";

/// The files of a zip, by name.
struct Files(zip::ZipArchive<Cursor<Vec<u8>>>);

impl Files {
    fn of(bytes: &[u8]) -> Self {
        Self(zip::ZipArchive::new(Cursor::new(bytes.to_vec())).unwrap())
    }

    fn bytes(&mut self, name: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.0.by_name(name).unwrap().read_to_end(&mut bytes).unwrap();
        bytes
    }

    fn json(&mut self, name: &str) -> Value {
        serde_json::from_slice(&self.bytes(name)).unwrap()
    }
}

async fn ask(browser: &Browser) -> Answer {
    let page = browser.get(PAGE).await;
    browser.submit(&page, "/settings/archives", &[]).await
}

async fn archive_id(app: &TestApp) -> i64 {
    app.number("SELECT MAX(id) FROM archives").await
}

async fn world() -> (TestApp, Client, Client) {
    let app = TestApp::new().await;
    let [alice, bob] = app.named_accounts(["alice", "bob"]).await;
    (app, alice, bob)
}

#[tokio::test]
async fn archive_has_statuses_and_media_of_owner() {
    let (app, alice, bob) = world().await;
    app.run_jobs().await;
    let media = alice.upload_with(&png(40, 30), &[("description", "a rook")]);
    let media = media.ok().await;
    let theirs = bob.publish("hello").await;
    let body = json!({"status": "hi @bob #rooks", "media_ids": [media["id"]], "language": "en", "spoiler_text": "birds",
        "in_reply_to_id": id(&theirs)});
    let own = alice.publish(body).await;
    let poll =
        json!({"status": "which?", "poll": {"options": ["a", "b"], "expires_in": 3600}, "visibility": "private"});
    let poll = alice.publish(poll).await;
    alice.publish_to("direct", "psst @bob").await;
    for verb in ["reblog", "favourite", "bookmark"] {
        app.tick();
        alice.post(&format!("/api/v1/statuses/{}/{verb}", id(&theirs))).ok().await;
    }
    let browser = Browser::signed_in(&app, "alice").await;
    assert_eq!(ask(&browser).await.status.as_u16(), 302);
    app.run_jobs().await;

    let answer = browser.get(&format!("/settings/archives/{}", archive_id(&app).await)).await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "application/zip"));
    assert!(answer.header("content-disposition").starts_with("attachment; filename=\"alice-"));
    let mut files = Files::of(&answer.body);
    let actor = files.json("actor.json");
    assert_eq!((&actor["id"], &actor["type"]), (&json!("https://example.test/users/alice"), &json!("Person")));
    assert!(actor["publicKey"]["publicKeyPem"].as_str().unwrap().starts_with("-----BEGIN PUBLIC KEY"));
    let outbox = files.json("outbox.json");
    assert_eq!((&outbox["type"], &outbox["totalItems"]), (&json!("OrderedCollection"), &json!(4)));
    let items = outbox["orderedItems"].as_array().unwrap();
    let kinds: Vec<&str> = items.iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["Announce", "Create", "Create", "Create"], "newest first");
    assert_eq!(items[0]["object"], theirs["uri"]);

    let everyone = "https://www.w3.org/ns/activitystreams#Public";
    let followers = "https://example.test/users/alice/followers";
    let bob_uri = "https://example.test/users/bob";
    assert_eq!((&items[1]["to"], &items[1]["cc"]), (&json!([bob_uri]), &json!([])), "direct");
    assert_eq!((&items[2]["to"], &items[2]["cc"]), (&json!([followers]), &json!([])), "private");
    let question = &items[2]["object"];
    assert_eq!((&question["type"], &question["id"]), (&json!("Question"), &poll["uri"]));
    assert_eq!(
        question["oneOf"][1],
        json!({"type": "Note", "name": "b", "replies": {"type": "Collection", "totalItems": 0}})
    );
    let note = &items[3]["object"];
    assert_eq!((&note["id"], &note["url"], &note["content"]), (&own["uri"], &own["url"], &own["content"]));
    assert_eq!((&note["to"], &note["cc"]), (&json!([everyone]), &json!([followers, bob_uri])));
    assert_eq!((&note["summary"], &note["inReplyTo"]), (&json!("birds"), &theirs["uri"]));
    assert_eq!((&note["contentMap"]["en"], &note["published"]), (&own["content"], &own["created_at"]));
    let tags: Vec<(&str, &str)> = note["tag"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| (tag["type"].as_str().unwrap(), tag["name"].as_str().unwrap()))
        .collect();
    assert_eq!(tags, [("Mention", "@bob@example.test"), ("Hashtag", "#rooks")]);
    let document = &note["attachment"][0];
    assert_eq!(
        (&document["type"], &document["name"], &document["width"]),
        (&json!("Document"), &json!("a rook"), &json!(40))
    );
    let file = files.bytes(document["url"].as_str().unwrap());
    let path = media["url"].as_str().unwrap().strip_prefix("https://example.test").unwrap();
    assert_eq!(file, app.anonymous().get(path).send().await.body, "the file is beside the document");
    for name in ["likes.json", "bookmarks.json"] {
        let found = files.json(name);
        assert_eq!((&found["orderedItems"], &found["totalItems"]), (&json!([theirs["uri"]]), &json!(1)), "{name}");
    }
}

#[tokio::test]
async fn remaining_account_data_is_in_one_document() {
    let (app, alice, bob) = world().await;
    alice.follow(&bob).ok().await;
    alice.post(&format!("/api/v1/accounts/{}/endorse", bob.id())).ok().await;
    for tag in ["rooks", "crows"] {
        alice.post(&format!("/api/v1/tags/{tag}/follow")).ok().await;
    }
    alice.post("/api/v1/tags/Jays/feature").ok().await;
    let list = json!({"title": "Birds", "replies_policy": "none", "exclusive": true, "notify": true});
    alice.post("/api/v1/lists").json(&list).ok().await;
    let later = json!({"status": "later", "scheduled_at": "2026-02-15T12:00:00Z", "visibility": "private"});
    alice.publish(&later).await;
    let policy = json!({"for_new_accounts": "filter", "for_not_following": "drop"});
    alice.patch("/api/v2/notifications/policy").json(&policy).ok().await;

    let browser = Browser::signed_in(&app, "alice").await;
    let download = browser.get("/settings/transfer/account").await;
    assert_eq!(download.header("content-disposition"), "attachment; filename=\"account.json\"");
    let document: Value = serde_json::from_str(&download.text()).unwrap();
    assert_eq!(document["followed_tags"], json!(["crows", "rooks"]));
    assert_eq!(document["featured_tags"], json!(["Jays"]));
    assert_eq!(document["endorsements"], json!(["bob@example.test"]));
    let shown = &document["lists"][0];
    for (name, value) in list.as_object().unwrap() {
        assert_eq!(shown[name], *value, "{name}");
    }
    let scheduled = &document["scheduled_statuses"][0];
    assert_eq!(
        (&scheduled["params"]["text"], &scheduled["params"]["visibility"]),
        (&json!("later"), &json!("private"))
    );
    let policy = &document["notification_policy"];
    assert_eq!((&policy["for_new_accounts"], &policy["for_not_following"]), (&json!("filter"), &json!("drop")));
    assert!(browser.get(PAGE).await.text().contains("href=\"/settings/transfer/account\""));

    ask(&browser).await;
    app.run_jobs().await;
    let id = archive_id(&app).await;
    let mut files = Files::of(&browser.get(&format!("/settings/archives/{id}")).await.body);
    assert_eq!(files.json("account.json"), document);
    let said = app.run(&["user", "export", "alice", "--json"]).await.ok();
    assert_eq!(serde_json::from_str::<Value>(&said).unwrap(), document);
    assert_ne!(Browser::preferring(&app, "en").get("/settings/transfer/account").await.status, 200);
}

#[tokio::test]
async fn archive_is_available_to_owner_for_a_week() {
    let (app, ..) = world().await;
    let browser = Browser::signed_in(&app, "alice").await;
    ask(&browser).await;
    let path = format!("/settings/archives/{}", archive_id(&app).await);
    assert_eq!(browser.get(&path).await.status.as_u16(), 404, "not made yet");
    assert!(browser.get(PAGE).await.text().contains("is being made"));
    app.run_jobs().await;
    assert_eq!(browser.get(&path).await.status.as_u16(), 200);
    assert!(browser.get(PAGE).await.text().contains(&path));
    let other = Browser::signed_in(&app, "bob").await;
    assert_eq!(other.get(&path).await.status.as_u16(), 404);
    assert_ne!(app.anonymous().get(&path).send().await.status.as_u16(), 200);
    let file: String = app.db().fetch_raw::<(String,)>("SELECT file FROM archives").await.unwrap()[0].0.clone();
    app.anonymous().get(&format!("/media/{file}")).fails(404).await;

    let page = browser.get(PAGE).await;
    assert!(page.text().contains("You can request the next one"), "{}", page.text());
    let hidden = form_fields(&page.text(), PAGE);
    let hidden: Vec<(&str, &str)> = hidden.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let early = browser.post("/settings/archives", &hidden).await;
    assert_eq!(early.status.as_u16(), 422, "one in seven days: {}", early.text());
    app.app.clock.advance(Duration::days(8));
    app.run_jobs().await;
    let key = file.parse().unwrap();
    assert!(!app.app.storage.exists(&key).await.unwrap());
    let rows = app.db().fetch_raw::<(i64,)>("SELECT COUNT(*) FROM archives").await.unwrap();
    assert_eq!(rows[0].0, 0);
    let browser = Browser::signed_in(&app, "alice").await;
    assert_eq!(ask(&browser).await.status.as_u16(), 302);
}

#[tokio::test]
async fn archive_is_written_by_command() {
    let (app, alice, _) = world().await;
    app.run_jobs().await;
    let media = alice.upload(&png(40, 30)).ok().await;
    alice.publish(json!({"status": "look", "media_ids": [media["id"]]})).await;
    alice.publish_to("direct", "psst").await;
    let path = app.app.config.storage.data_dir.join("alice.zip");
    let file = path.to_str().unwrap();

    let written = app.run(&["user", "archive", "alice", file, "--json"]).await.json();
    assert_eq!(written[0]["bytes"].as_u64().unwrap(), std::fs::metadata(&path).unwrap().len());
    let mut files = Files::of(&std::fs::read(&path).unwrap());
    let outbox = files.json("outbox.json");
    assert_eq!(outbox["totalItems"], 2);
    let document = &outbox["orderedItems"][1]["object"]["attachment"][0];
    assert!(!files.bytes(document["url"].as_str().unwrap()).is_empty());
    assert!(files.json("actor.json")["publicKey"]["publicKeyPem"].is_string());

    let again = app.run(&["user", "archive", "alice", file]).await.fails(1);
    assert!(again.contains("is there already"), "{again}");
    assert!(app.run(&["user", "archive", "nobody", "b.zip"]).await.fails(1).contains("nobody"));
    let rows = app.db().fetch_raw::<(i64,)>("SELECT COUNT(*) FROM archives").await.unwrap();
    assert_eq!(rows[0].0, 0, "she may request her own");
}

#[tokio::test]
async fn failed_archive_is_reported_and_can_be_requested_again() {
    let app = TestApp::with(&[("ROOKERY_JOBS_MAX_ATTEMPTS", "2")]).await;
    let alice = app.account("alice").await;
    alice.publish("hello").await;
    let browser = Browser::signed_in(&app, "alice").await;
    app.run_jobs().await;
    assert_eq!(ask(&browser).await.status.as_u16(), 302);

    // A disk that rejects writes: the folder is missing.
    let folder = app.app.config.storage.media_dir.clone();
    let away = folder.with_extension("away");
    std::fs::rename(&folder, &away).unwrap();
    std::fs::write(&folder, "").unwrap();
    app.run_jobs().await;
    assert!(browser.get(PAGE).await.text().contains("is being made"), "it is retried after one failure");
    app.app.clock.advance(Duration::minutes(1));
    app.run_jobs().await;
    let page = browser.get(PAGE).await.text();
    assert!(page.contains("could not be made"), "{page}");
    assert_eq!(browser.get(&format!("/settings/archives/{}", archive_id(&app).await)).await.status.as_u16(), 404);

    std::fs::remove_file(&folder).unwrap();
    std::fs::rename(&away, &folder).unwrap();
    assert_eq!(ask(&browser).await.status.as_u16(), 302, "immediately");
    app.run_jobs().await;
    let page = browser.get(PAGE).await.text();
    assert!(!page.contains("could not be made"), "{page}");
    let answer = browser.get(&format!("/settings/archives/{}", archive_id(&app).await)).await;
    assert_eq!(Files::of(&answer.body).json("outbox.json")["totalItems"], 1);
}

#[tokio::test]
async fn archives_are_deleted_with_account() {
    let (app, alice, _) = world().await;
    alice.publish("hello").await;
    let browser = Browser::signed_in(&app, "alice").await;
    ask(&browser).await;
    app.run_jobs().await;
    let file: String = app.db().fetch_raw::<(String,)>("SELECT file FROM archives").await.unwrap()[0].0.clone();
    let key = file.parse().unwrap();
    assert!(app.app.storage.exists(&key).await.unwrap());

    remove(&app, "alice").await;
    app.run_jobs().await;
    assert!(!app.app.storage.exists(&key).await.unwrap());
    let rows = app.db().fetch_raw::<(i64,)>("SELECT COUNT(*) FROM archives").await.unwrap();
    assert_eq!(rows[0].0, 0);
}
