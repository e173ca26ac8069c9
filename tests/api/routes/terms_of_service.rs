//! The terms of service: versions with a date, their pages, mails about them; and the minimum age at sign-up.

use std::collections::BTreeSet;

use chrono::Duration;
use model::Staff;
use serde_json::{Value, json};

use crate::harness::{Browser, TestApp};
use crate::platform::contract;

const PATH: &str = "/api/v1/instance/terms_of_service";

async fn publish(app: &TestApp, date: &str, text: &str, mail: bool) {
    service::terms::publish(&app.app, &Staff::operator(), date, text, mail).await.unwrap();
}

async fn shown(app: &TestApp, path: &str) -> Value {
    let terms = app.anonymous().get(path).ok().await;
    contract::check("TermsOfService", &terms);
    terms
}

async fn url(app: &TestApp) -> Value {
    app.anonymous().get("/api/v2/instance").ok().await["configuration"]["urls"]["terms_of_service"].take()
}

#[tokio::test]
async fn version_applies_from_its_date_until_the_next() {
    let app = TestApp::new().await;
    app.anonymous().get(PATH).fails(404).await;
    assert_eq!(url(&app).await, Value::Null);

    publish(&app, "2026-02-01", "*First*", false).await;
    assert_eq!(url(&app).await, "https://example.test/terms-of-service");
    let first = json!({
        "effective_date": "2026-02-01", "effective": false, "content": "<p><em>First</em></p>\n", "succeeded_by": null,
    });
    assert_eq!(shown(&app, PATH).await, first, "it is January: none applies yet");

    publish(&app, "2026-03-01", "Second", false).await;
    app.app.clock.advance(Duration::days(20));
    let current = shown(&app, PATH).await;
    assert_eq!((&current["effective"], &current["succeeded_by"]), (&json!(true), &json!("2026-03-01")));
    let second = shown(&app, &format!("{PATH}/2026-03-01")).await;
    assert_eq!((&second["effective"], &second["effective_date"]), (&json!(false), &json!("2026-03-01")));
    app.app.clock.advance(Duration::days(30));
    assert_eq!(shown(&app, PATH).await["effective_date"], "2026-03-01");
    for unknown in ["2026-02-02", "nonsense"] {
        app.anonymous().get(&format!("{PATH}/{unknown}")).fails(404).await;
    }
}

#[tokio::test]
async fn pages_link_to_the_terms_while_there_are_any() {
    let app = TestApp::new().await;
    app.set("registrations_mode", "open").await;
    let browser = Browser::new(&app);
    assert_eq!(browser.get("/terms-of-service").await.status, 404);
    assert!(!browser.get("/auth/sign_up").await.text().contains("/terms-of-service"));
    publish(&app, "2026-01-01", "# Be kind\n\n<script>alert(1)</script>", false).await;
    publish(&app, "2026-05-01", "Later", false).await;
    let page = browser.get("/terms-of-service").await.text();
    assert!(page.contains("Be kind") && !page.contains("<script") && page.contains("/terms-of-service/2026-05-01"));
    let later = browser.get("/terms-of-service/2026-05-01").await.text();
    assert!(later.contains("Later") && later.contains("In effect from"));
    for path in ["/auth/sign_up", "/about"] {
        let page = browser.get(path).await.text();
        assert!(page.matches("href=\"/terms-of-service\"").count() >= 2, "{path}: in the page and its footer");
    }
}

#[tokio::test]
async fn command_publishes_a_file_and_removes_what_does_not_apply_yet() {
    let app = TestApp::new().await;
    let publish = ["terms", "publish", "-", "--effective"];
    let with = async |date: &str, text: &str| app.run_with(&[&publish[..], &[date]].concat(), text).await;
    with("2999-01-01", "Far away").await.ok();
    for (date, text, hint) in
        [("2999-01-01", "Again", "already"), ("1.1.2999", "x", "2026-11-21"), ("2999-01-02", " ", "bytes")]
    {
        let refused = with(date, text).await.fails(1);
        assert!(refused.contains(hint), "{refused}");
    }
    with("2020-01-01", "Long ago").await.ok();
    assert_eq!(app.run(&["terms", "show"]).await.ok(), "Long ago");
    assert!(app.run(&["terms", "remove", "2020-01-01"]).await.fails(1).contains("apply already"));
    app.run(&["terms", "remove", "2999-01-01"]).await.ok();
    let listed = app.run(&["terms", "list", "--json"]).await.json();
    assert_eq!(listed[0], json!([{ "effective_date": "2020-01-01", "effective": true }]));
    app.app.reload().await.unwrap();
    assert_eq!(shown(&app, PATH).await["content"], "<p>Long ago</p>\n");
}

#[tokio::test]
async fn mails_about_terms_go_to_everyone_once_in_batches() {
    let app = TestApp::new().await;
    let mut people = BTreeSet::new();
    for number in 0..102 {
        app.account(&format!("p{number}")).await;
        people.insert(format!("p{number}@example.test"));
    }
    let unconfirmed = app.account("unconfirmed").await;
    app.unconfirm(&unconfirmed).await;
    let suspended = app.account("suspended").await;
    app.suspend(&suspended).await;
    app.run_jobs().await;
    let before = app.letters().await.len();
    app.tick();

    publish(&app, "2026-02-01", "New", true).await;
    assert_eq!(app.letters().await.len() - before, 100);
    app.app.clock.advance(Duration::seconds(61));
    let letters = app.letters().await.split_off(before);
    assert_eq!(letters.len(), 102);
    assert!(letters[0].contains("https://example.test/terms-of-service/2026-02-01"));
    let addressed = |letter: &String| {
        let to = letter.lines().find_map(|line| line.strip_prefix("To: ")).unwrap();
        to.trim_matches(['<', '>']).to_owned()
    };
    assert_eq!(letters.iter().map(addressed).collect::<BTreeSet<String>>(), people);
}

#[tokio::test]
async fn server_without_mail_publishes_without_mails_only() {
    let app = TestApp::with(&[("ROOKERY_MAIL_TRANSPORT", "none")]).await;
    let operator = Staff::operator();
    let refused = service::terms::publish(&app.app, &operator, "2026-02-01", "New", true).await;
    assert!(refused.unwrap_err().to_string().contains("mail.transport"));
    app.anonymous().get(PATH).fails(404).await;
    publish(&app, "2026-02-01", "New", false).await;
    shown(&app, PATH).await;
}

#[tokio::test]
async fn mails_about_removed_terms_are_not_sent() {
    let app = TestApp::new().await;
    app.account("alice").await;
    app.run_jobs().await;
    let before = app.letters().await.len();
    publish(&app, "2026-02-01", "New", true).await;
    service::terms::remove(&app.app, &Staff::operator(), "2026-02-01").await.unwrap();
    assert_eq!(app.letters().await.len(), before);
}

#[tokio::test]
async fn sign_up_requires_the_minimum_age() {
    let app = TestApp::new().await;
    app.set("registrations_mode", "open").await;
    let client = app.application("read write").await;
    let form = |name: &str, born: Option<&str>| {
        json!({
            "username": name, "email": format!("{name}@mail.test"), "password": "correct horse",
            "agreement": true, "locale": "en", "date_of_birth": born,
        })
    };
    let register = |name: &str, born: Option<&str>| client.post("/api/v1/accounts").json(&form(name, born));
    register("early", None).ok().await;

    app.set("min_age", 16).await;
    let instance = app.anonymous().get("/api/v2/instance").ok().await;
    assert_eq!(instance["registrations"]["min_age"], 16);
    // It is 15 January 2026.
    for (born, code) in [
        (None, "ERR_BLANK"),
        (Some(" "), "ERR_BLANK"),
        (Some("2010-01-16"), "ERR_BELOW_LIMIT"),
        (Some("2010-02-30"), "ERR_INVALID"),
        (Some("2030-01-01"), "ERR_INVALID"),
        (Some("yesterday"), "ERR_INVALID"),
    ] {
        let refused = register("alice", born).expect(422.try_into().unwrap()).await;
        assert_eq!(refused["details"]["date_of_birth"][0]["error"], code, "{refused}");
    }
    register("alice", Some("2010-01-15")).ok().await;
}

#[tokio::test]
async fn sign_up_page_asks_for_the_date_of_birth() {
    let app = TestApp::new().await;
    app.set("registrations_mode", "open").await;
    let browser = Browser::preferring(&app, "de");
    assert!(!browser.get("/auth/sign_up").await.text().contains("date_of_birth"));
    app.set("min_age", 16).await;
    let page = browser.get("/auth/sign_up").await;
    let fields = |born: &'static str| {
        [
            ("username", "alice"),
            ("email", "alice@mail.test"),
            ("password", "correct horse"),
            ("agreement", "true"),
            ("date_of_birth", born),
        ]
    };
    let refused = browser.submit(&page, "/auth/sign_up", &fields("2020-01-01")).await;
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("Das liegt unter der Altersgrenze."), "{}", refused.text());
    let accepted = browser.submit(&refused, "/auth/sign_up", &fields("2000-01-01")).await;
    assert_eq!(accepted.status, 200);
}
