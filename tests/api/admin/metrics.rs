//! `POST /api/v1/admin/measures`, `/dimensions` and `/retention`: values against rows made here.
//!
//! The clock of the tests begins on 2026-01-15 at noon.

use chrono::Duration;
use context::queue::{self, CountDays};
use serde_json::{Value, json};

use crate::harness::{Client, TestApp};
use crate::platform::contract;
use crate::seed::{Seed, Status};

const MEASURES: &str = "/api/v1/admin/measures";
const DIMENSIONS: &str = "/api/v1/admin/dimensions";
const RETENTION: &str = "/api/v1/admin/retention";

/// Counts past days, as the job does every hour.
async fn count_days(app: &TestApp) {
    let mut tx = app.db().begin().await.unwrap();
    queue::enqueue(&app.app, &mut tx, &CountDays {}).await.unwrap();
    tx.commit().await.unwrap();
    app.run_jobs().await;
}

async fn measures(client: &Client, body: Value) -> Vec<Value> {
    let measured = client.post(MEASURES).json(&body).ok().await;
    contract::check("Admin_Measure[]", &measured);
    measured.as_array().unwrap().clone()
}

async fn dimension(client: &Client, key: &str, more: Value) -> Vec<(String, String)> {
    let mut body = json!({ "keys": [key], "start_at": "2026-01-01", "end_at": "2026-01-31" });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let found = client.post(DIMENSIONS).json(&body).ok().await;
    contract::check("Admin_Dimension[]", &found);
    assert_eq!(found[0]["key"], key);
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    found[0]["data"].as_array().unwrap().iter().map(|row| (text(row, "key"), text(row, "value"))).collect()
}

fn rows(rows: &[(&str, &str)]) -> Vec<(String, String)> {
    rows.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// The values of a measure, day by day.
fn values(measure: &Value) -> Vec<&str> {
    measure["data"].as_array().unwrap().iter().map(|point| point["value"].as_str().unwrap()).collect()
}

fn totals(measure: &Value) -> (&str, &str) {
    (measure["total"].as_str().unwrap(), measure["previous_total"].as_str().unwrap())
}

async fn be_active(app: &TestApp, people: &[&Client]) {
    for person in people {
        person.get("/api/v1/preferences").ok().await;
    }
    app.noted().await;
}

#[tokio::test]
async fn activity_is_measured_by_day() {
    let app = TestApp::new().await;
    let moderator = app.staff("moderator", "Moderator").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    be_active(&app, &[&moderator, &alice, &bob]).await;
    let status = alice.publish("hello").await.into_id();
    bob.favourite(&status).ok().await;
    bob.reblog(&status).ok().await;
    bob.reply(&status, "hello too").await;
    alice.reply(&status, "a reply to oneself").await;

    app.app.clock.advance(Duration::days(1));
    let carol = app.account("carol").await;
    be_active(&app, &[&moderator, &bob, &carol]).await;
    carol.favourite(&status).ok().await;
    let keys = json!(["active_users", "interactions", "new_users", "no_such_key", "new_users"]);
    let two_days = json!({ "keys": keys, "start_at": "2026-01-15", "end_at": "2026-01-16T23:00:00Z" });
    let measured = measures(&moderator, two_days.clone()).await;
    assert_eq!(measured.len(), 3, "unknown keys are dropped, and repeated ones");
    assert_eq!((values(&measured[0]), totals(&measured[0])), (vec!["3", "3"], ("4", "0")), "people count once");
    assert_eq!((values(&measured[1]), totals(&measured[1])), (vec!["3", "1"], ("4", "0")));
    assert_eq!((values(&measured[2]), totals(&measured[2])), (vec!["3", "1"], ("4", "0")));
    let date = |measure: &Value| measure["data"][1]["date"].clone();
    assert_eq!(date(&measured[0]), "2026-01-16T00:00:00.000Z");
    assert_eq!(date(&measured[1]), "2026-01-16T00:00:00.000Z");
    assert_eq!(date(&measured[2]), "2026-01-16");

    let today = json!({ "keys": keys, "start_at": "2026-01-16", "end_at": "2026-01-16" });
    let previous = measures(&moderator, today.clone()).await;
    let expected = [("3", "3"), ("1", "3"), ("1", "3")];
    assert_eq!(previous.iter().map(totals).collect::<Vec<_>>(), expected);

    // The same from counted days, for five minutes from memory.
    count_days(&app).await;
    bob.favourite(&status).ok().await;
    let another = alice.publish("more").await.into_id();
    bob.favourite(&another).ok().await;
    assert_eq!(measures(&moderator, today.clone()).await, previous);
    app.app.clock.advance(Duration::minutes(5));
    let later = measures(&moderator, today).await;
    assert_eq!(totals(&later[1]), ("2", "3"));
    assert_eq!(measures(&moderator, two_days).await[1]["total"], "5");
}

#[tokio::test]
async fn reports_are_measured_when_opened_and_when_resolved() {
    let app = TestApp::new().await;
    let moderator = app.staff("moderator", "Moderator").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    for comment in ["one", "two"] {
        alice.post("/api/v1/reports").json(&json!({ "account_id": bob.id(), "comment": comment })).ok().await;
        app.tick();
    }
    app.app.clock.advance(Duration::days(1));
    app.execute(&format!(
        "UPDATE reports SET action_taken_at = {} WHERE id = (SELECT MIN(id) FROM reports)",
        app.now_sql()
    ))
    .await;
    let body =
        json!({ "keys": ["opened_reports", "resolved_reports"], "start_at": "2026-01-15", "end_at": "2026-01-16" });
    let measured = measures(&moderator, body).await;
    assert_eq!(values(&measured[0]), ["2", "0"]);
    assert_eq!(values(&measured[1]), ["0", "1"]);
    assert_eq!((totals(&measured[0]), totals(&measured[1])), (("2", "0"), ("1", "0")));
}

/// Two accounts of `remote.test` with two and one statuses, and one of `sub.remote.test` with one, on 2026-01-01.
async fn remote_world() -> (TestApp, Client, i64) {
    let app = TestApp::new().await;
    let moderator = app.staff("moderator", "Moderator").await;
    let alice = app.account("alice").await;
    let me = i64::from(alice.id());
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let [one, two] = ["one", "two"].map(|name| seed.account(name, Some("remote.test")));
    let sub = seed.account("three", Some("sub.remote.test"));
    let other = seed.account("four", Some("notremote.test"));
    let tag = seed.tag("rooks");
    for author in [one, one, two, sub, other, me] {
        let local = author == me;
        let status = seed.status(&Status { author, local, ..Status::default() });
        if author != other {
            seed.tagged(status, tag);
        }
    }
    seed.follow(me, one);
    seed.follow(me, two);
    seed.follow(sub, me);
    seed.follow(two, me);
    seed.write(app.db()).await;
    app.execute(&format!("UPDATE statuses SET language = 'de' WHERE account_id = {one}")).await;
    count_days(&app).await;
    (app, moderator, tag)
}

#[tokio::test]
async fn servers_are_measured_over_all_time() {
    let (app, moderator, _) = remote_world().await;
    let keys = ["instance_accounts", "instance_statuses", "instance_follows", "instance_followers", "instance_reports"];
    let of = async |domain: &str, include_subdomains: bool| {
        let mut body = json!({ "keys": keys, "start_at": "2025-12-31", "end_at": "2026-01-01" });
        for key in keys {
            body[key] = json!({ "domain": domain, "include_subdomains": include_subdomains });
        }
        let measured = measures(&moderator, body).await;
        assert!(measured.iter().all(|measure| measure.get("previous_total").is_none()));
        assert_eq!(measured[0]["data"][1]["date"], "2026-01-01");
        let both = |measure: &Value| format!("{} {}", measure["total"].as_str().unwrap(), values(measure).join("+"));
        measured.iter().map(both).collect::<Vec<_>>()
    };
    assert_eq!(of("remote.test", false).await, ["2 0+2", "3 0+3", "2 0+2", "1 0+1", "0 0+0"]);
    assert_eq!(of("Remote.test", true).await, ["3 0+3", "4 0+4", "2 0+2", "2 0+2", "0 0+0"]);
    assert_eq!(of("unknown.test", true).await, ["0 0+0"; 5]);

    // What happens on the current day is added to counted days.
    let mut seed = Seed::after(app.db().engine(), "example.test", 14 * 86_400 + 11 * 3_600);
    let late = seed.account("late", Some("remote.test"));
    seed.status(&Status { author: late, local: false, ..Status::default() });
    seed.write(app.db()).await;
    app.app.clock.advance(Duration::minutes(5));
    assert_eq!(of("remote.test", false).await, ["3 0+2", "4 0+3", "2 0+2", "1 0+1", "0 0+0"]);

    // The files that the local author uploads are bytes of this server.
    let person = app.account("person").await;
    person.upload(&crate::routes::media::png(8, 8)).ok().await;
    let body = json!({
        "keys": ["instance_media_attachments"], "instance_media_attachments": { "domain": "example.test" },
    });
    let measured = measures(&moderator, body).await;
    assert_eq!(measured[0]["unit"], "bytes");
    assert!(measured[0]["total"].as_str().unwrap().parse::<i64>().unwrap() > 0, "{measured:?}");
    assert!(measured[0]["human_value"].as_str().unwrap().ends_with("Bytes"), "{measured:?}");
}

#[tokio::test]
async fn days_are_counted_again() {
    let (app, moderator, _) = remote_world().await;
    app.execute("DELETE FROM statuses WHERE account_id IN (SELECT id FROM accounts WHERE domain = 'sub.remote.test')")
        .await;
    app.app.clock.advance(Duration::hours(1));
    app.run_jobs().await;
    let body = json!({ "keys": ["instance_statuses"], "instance_statuses": { "domain": "sub.remote.test" } });
    assert_eq!(measures(&moderator, body).await[0]["total"], "0");
}

#[tokio::test]
async fn hashtag_is_measured_in_public_statuses() {
    let (_app, moderator, tag) = remote_world().await;
    let keys = ["tag_accounts", "tag_uses", "tag_servers"];
    let mut body = json!({ "keys": keys, "start_at": "2026-01-01", "end_at": "2026-01-02" });
    for key in keys {
        body[key] = json!({ "id": tag.to_string() });
    }
    let measured = measures(&moderator, body.clone()).await;
    assert_eq!(measured.iter().map(values).collect::<Vec<_>>(), [["4", "0"], ["5", "0"], ["3", "0"]]);
    assert_eq!(measured.iter().map(totals).collect::<Vec<_>>(), [("4", "0"), ("5", "0"), ("3", "0")]);
    assert_eq!(measured[1]["data"][0]["date"], "2026-01-01T00:00:00.000Z");
    body["start_at"] = json!("2026-01-02");
    assert_eq!(measures(&moderator, body).await[1]["previous_total"], "5");

    let of_tag = |key: &str| json!({ key: { "id": tag } });
    let servers = dimension(&moderator, "tag_servers", of_tag("tag_servers")).await;
    assert_eq!(servers, rows(&[("remote.test", "3"), ("example.test", "1"), ("sub.remote.test", "1")]));
    let languages = dimension(&moderator, "tag_languages", of_tag("tag_languages")).await;
    assert_eq!(languages.iter().find(|(code, _)| code == "de").unwrap().1, "2");
    assert_eq!(languages.iter().map(|(_, number)| number.parse::<i64>().unwrap()).sum::<i64>(), 5);
}

#[tokio::test]
async fn statuses_and_users_are_split() {
    let (app, moderator, _) = remote_world().await;
    let servers = dimension(&moderator, "servers", json!({})).await;
    let most = [("remote.test", "3"), ("example.test", "1"), ("notremote.test", "1"), ("sub.remote.test", "1")];
    assert_eq!(servers, rows(&most));
    assert_eq!(dimension(&moderator, "servers", json!({ "limit": 1 })).await, rows(&most[..1]));
    let of_server = |key: &str| json!({ key: { "domain": "remote.test" } });
    let accounts = dimension(&moderator, "instance_accounts", of_server("instance_accounts")).await;
    assert_eq!(accounts, rows(&[("one", "1"), ("two", "1")]));
    let languages = dimension(&moderator, "instance_languages", of_server("instance_languages")).await;
    assert_eq!(languages[0], ("de".to_owned(), "2".to_owned()));

    // A new server of the current day is among the first.
    let mut seed = Seed::after(app.db().engine(), "example.test", 14 * 86_400 + 11 * 3_600);
    let author = seed.account("busy", Some("busy.test"));
    for _ in 0..4 {
        seed.status(&Status { author, local: false, ..Status::default() });
    }
    seed.write(app.db()).await;
    app.app.clock.advance(Duration::minutes(5));
    assert_eq!(dimension(&moderator, "servers", json!({ "limit": 1 })).await, rows(&[("busy.test", "4")]));

    app.execute("UPDATE users SET locale = 'de'").await;
    let [bob] = app.accounts(["bob"]).await;
    app.set_user(&bob, "locale = 'ja'").await;
    let registered = json!({ "client_name": "App", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob" });
    app.anonymous().post("/api/v1/apps").json(&registered).ok().await;
    app.set_user(&bob, "sign_up_app_id = (SELECT MIN(id) FROM oauth_apps)").await;
    be_active(&app, &[&moderator, &bob]).await;
    let languages = dimension(&moderator, "languages", json!({})).await;
    assert_eq!(languages, rows(&[("de", "1"), ("ja", "1")]));
    let sources = dimension(&moderator, "sources", json!({})).await;
    assert_eq!(sources[0], ("web".to_owned(), "2".to_owned()));
    assert_eq!(sources[1..], rows(&[("App", "1")]));

    let person = app.account("person").await;
    person.upload(&crate::routes::media::png(8, 8)).ok().await;
    let space = dimension(&moderator, "space_usage", json!({})).await;
    let of = |key: &str| space.iter().find(|(name, _)| name == key).unwrap().1.parse::<i64>().unwrap();
    assert!(of("media_image") > 0 && of("preview_cards") == 0, "{space:?}");
    assert!(space[0].1.parse::<i64>().unwrap() > 100_000, "the database: {space:?}");
    let versions = dimension(&moderator, "software_versions", json!({})).await;
    assert_eq!(versions[0], ("rookery".to_owned(), env!("CARGO_PKG_VERSION").to_owned()));
    assert!(["sqlite", "postgresql"].contains(&&*versions[1].0) && versions[1].1.contains('.'), "{versions:?}");
}

#[tokio::test]
async fn cohorts_are_triangular() {
    let app = TestApp::new().await;
    let moderator = app.staff("moderator", "Moderator").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    be_active(&app, &[&moderator, &alice, &bob]).await;
    app.app.clock.advance(Duration::days(1));
    app.account("carol").await;
    app.app.clock.advance(Duration::days(1));
    be_active(&app, &[&moderator, &bob]).await;
    let body =
        |start: &str, end: &str, frequency: &str| json!({ "start_at": start, "end_at": end, "frequency": frequency });
    let read = async |body: Value| {
        let cohorts = moderator.post(RETENTION).json(&body).ok().await;
        contract::check("Admin_Cohort[]", &cohorts);
        cohorts
    };
    let cohorts = read(body("2026-01-15", "2026-01-17", "week")).await;
    let of = |cohort: &Value| -> Vec<String> {
        let point =
            |point: &Value| format!("{} {:.2}", point["value"].as_str().unwrap(), point["rate"].as_f64().unwrap());
        cohort["data"].as_array().unwrap().iter().map(point).collect()
    };
    assert_eq!((&cohorts[0]["frequency"], &cohorts[0]["period"]), (&json!("day"), &json!("2026-01-15T00:00:00.000Z")));
    assert_eq!(of(&cohorts[0]), ["3 1.00", "2 0.67", "2 0.67"], "bob was away for a day");
    assert_eq!(of(&cohorts[1]), ["1 1.00", "0 0.00"]);
    assert_eq!(of(&cohorts[2]), ["0 0.00"]);
    assert_eq!(cohorts[1]["data"][1]["date"], "2026-01-17T00:00:00.000Z");

    let months = read(body("2025-12-20", "2026-02-01", "month")).await;
    assert_eq!(months.as_array().unwrap().len(), 3);
    assert_eq!((&months[1]["frequency"], &months[1]["period"]), (&json!("month"), &json!("2026-01-01T00:00:00.000Z")));
    assert_eq!(
        (of(&months[0]), of(&months[1])),
        (vec!["0 0.00".to_owned(); 3], vec!["4 1.00".into(), "0 0.00".into()])
    );
}

#[tokio::test]
async fn parameters_of_metrics_are_checked() {
    let app = TestApp::new().await;
    let moderator = app.staff("moderator", "Moderator").await;
    let refused = async |path: &str, body: Value, status: u16, about: &str| {
        let error = moderator.post(path).json(&body).fails(status).await;
        assert!(error.contains(about), "{body}: {error}");
    };
    refused(MEASURES, json!({}), 400, "keys").await;
    refused(MEASURES, json!({ "keys": ["instance_accounts"] }), 400, "instance_accounts[domain]").await;
    refused(MEASURES, json!({ "keys": ["tag_uses"], "tag_uses": {} }), 400, "tag_uses[id]").await;
    refused(MEASURES, json!({ "keys": ["tag_uses"], "tag_uses": { "id": "x" } }), 422, "tag_uses").await;
    refused(MEASURES, json!({ "keys": ["tag_uses"], "tag_uses": { "id": 1 } }), 404, "").await;
    refused(DIMENSIONS, json!({ "keys": ["instance_languages"] }), 400, "instance_languages[domain]").await;
    refused(DIMENSIONS, json!({ "keys": ["tag_servers"], "tag_servers": { "id": 1 } }), 404, "").await;
    refused(RETENTION, json!({ "start_at": "2026-01-01" }), 400, "end_at").await;
    for path in [MEASURES, DIMENSIONS, RETENTION] {
        let span =
            |start: &str, end: &str| json!({ "keys": ["servers", "new_users"], "start_at": start, "end_at": end });
        refused(path, span("yesterday", "2026-01-01"), 422, "start_at").await;
        refused(path, span("2026-01-02", "2026-01-01"), 422, "end_at").await;
        refused(path, span("2024-01-01", "2026-01-01"), 422, "at most").await;
        refused(path, span("1066-01-01", "1066-01-02"), 422, "1970").await;
        let person = app.anonymous();
        person.post(path).json(&span("2026-01-01", "2026-01-01")).fails(403).await;
    }
    let months = json!({ "start_at": "2020-01-01", "end_at": "2026-01-01", "frequency": "month" });
    refused(RETENTION, months, 422, "36 months").await;
    let person = app.account("person").await.with_scopes("read admin:read").await;
    person.post(MEASURES).json(&json!({ "keys": ["new_users"] })).fails(403).await;

    // A form, and the default period.
    let form = [("keys[]", "new_users"), ("keys[]", "instance_accounts"), ("instance_accounts[domain]", "a.test")];
    let measured = moderator.post(MEASURES).form(&form).ok().await;
    contract::check("Admin_Measure[]", &measured);
    assert_eq!((values(&measured[0]).len(), &measured[0]["total"]), (30, &json!("2")));
}
