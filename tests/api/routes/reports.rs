//! <https://docs.joinmastodon.org/methods/reports/>, and `rookery report`.

use context::limits::Key;
use serde_json::{Value, json};
use service::rate_limits;

use crate::harness::{Client, TestApp};
use crate::jobs::removal::remove;
use crate::platform::contract;
use crate::routes::notifications;
use crate::seed::{Reply, Seed, Status};

const PATH: &str = "/api/v1/reports";

async fn report(person: &Client, body: Value) -> Value {
    person.server.tick();
    let report = person.post(PATH).json(&body).ok().await;
    contract::check("Report", &report);
    report
}

#[tokio::test]
async fn report_shows_reported_records() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = bob.publish("hello").await;
    let body = json!({"account_id": bob.id().to_string(), "status_ids": [status["id"], status["id"]], "comment": "rude", "category": "spam"});
    let made = report(&alice, body).await;
    assert_eq!(
        (&made["category"], &made["comment"], &made["forwarded"]),
        (&json!("spam"), &json!("rude"), &json!(false))
    );
    assert_eq!((&made["status_ids"], &made["rule_ids"]), (&json!([status["id"]]), &json!(null)));
    assert_eq!((&made["target_account"]["acct"], &made["action_taken"]), (&json!("bob"), &json!(false)));
    let bare = report(&alice, json!({"account_id": bob.id().to_string(), "forward": true})).await;
    assert_eq!(
        (&bare["category"], &bare["forwarded"], &bare["status_ids"]),
        (&json!("other"), &json!(false), &json!([]))
    );
}

#[tokio::test]
async fn rules_make_report_a_violation() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    app.run(&["rule", "add", "Be kind"]).await.ok();
    app.app.reload().await.unwrap();
    let rule = app.anonymous().get("/api/v1/instance/rules").ok().await[0]["id"].clone();
    let body = json!({"account_id": bob.id().to_string(), "category": "spam", "rule_ids": [rule]});
    let made = report(&alice, body).await;
    assert_eq!((&made["category"], &made["rule_ids"]), (&json!("violation"), &json!([rule])));
    let unknown = json!({"account_id": bob.id().to_string(), "rule_ids": [rule, "1"]});
    assert!(alice.post(PATH).json(&unknown).fails(422).await.contains("valid rules"));
}

#[tokio::test]
async fn report_of_hidden_or_foreign_status_is_refused() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let (others, hidden) = (carol.publish("hello").await, bob.publish_to("private", "hello").await);
    let target = bob.id().to_string();
    for statuses in [json!([others["id"]]), json!([hidden["id"]]), json!(["1"])] {
        alice.post(PATH).json(&json!({"account_id": target, "status_ids": statuses})).fails(404).await;
    }
    alice.post(PATH).json(&json!({"account_id": "1"})).fails(404).await;
    alice.post(PATH).json(&json!({})).fails(400).await;
    alice.post(PATH).json(&json!({"account_id": target, "category": "rudeness"})).fails(422).await;
    alice.post(PATH).json(&json!({"account_id": target, "comment": "x".repeat(1001)})).fails(422).await;
    app.run(&["user", "suspend", "carol"]).await.ok();
    alice.post(PATH).json(&json!({"account_id": carol.id().to_string()})).fails(404).await;
    assert_eq!(app.count("reports").await, 0);
}

#[tokio::test]
async fn forwarding_keeps_the_affected_domains() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let [target, other] = ["one.test", "two.test"].map(|domain| seed.account("troll", Some(domain)));
    let root = seed.status(&Status { author: other, local: false, ..Status::default() });
    let reply_to = Some(Reply { status: root, account: other, conversation: root });
    let reply = seed.status(&Status { author: target, local: false, reply_to, ..Status::default() });
    seed.write(app.db()).await;
    let domains = async |body: Value| {
        let made = report(&alice, body).await;
        let sql =
            format!("SELECT CAST(forward_to_domains AS TEXT) FROM reports WHERE id = {}", made["id"].as_str().unwrap());
        let text = app.db().fetch_raw::<(String,)>(&sql).await.unwrap()[0].0.clone();
        (made["forwarded"].clone(), serde_json::from_str::<Value>(&text).unwrap())
    };
    let (account, status) = (target.to_string(), reply.to_string());
    assert_eq!(domains(json!({"account_id": account})).await, (json!(false), json!([])));
    assert_eq!(domains(json!({"account_id": account, "forward": true})).await, (json!(true), json!(["one.test"])));
    let wanted = json!(["Two.Test", "one.test", "elsewhere.test"]);
    let body = json!({"account_id": account, "status_ids": [status], "forward": true, "forward_to_domains": wanted});
    assert_eq!(domains(body).await, (json!(true), json!(["one.test", "two.test"])));
}

#[tokio::test]
async fn staff_who_manage_reports_are_notified() {
    let app = TestApp::new().await;
    let [alice, bob, mod_, owner, reader] = app.accounts(["alice", "bob", "mod", "owner", "reader"]).await;
    for (name, role) in [("mod", "moderator"), ("owner", "owner")] {
        app.run(&["user", "set-role", name, role]).await.ok();
    }
    let made = report(&alice, json!({"account_id": bob.id().to_string(), "comment": "rude"})).await;
    for staff in [&mod_, &owner] {
        let page = notifications::index(staff, "?types[]=admin.report").await;
        assert_eq!(notifications::types(&page), ["admin.report"], "{}", staff.name);
        assert_eq!((&page[0]["report"], &page[0]["account"]["acct"]), (&made, &json!("alice")));
    }
    assert_eq!(notifications::index(&reader, "").await.len() + notifications::index(&bob, "").await.len(), 0);
    report(&mod_, json!({"account_id": bob.id().to_string()})).await;
    assert_eq!(notifications::index(&mod_, "").await.len(), 1, "reporters are not notified of their own reports");
    assert_eq!(notifications::index(&owner, "").await.len(), 2);
    remove(&app, "bob").await;
    app.run_jobs().await;
    assert_eq!(notifications::index(&owner, "").await.len(), 0, "a report is deleted with its target");
}

#[tokio::test]
async fn reports_are_limited_without_counting_failures() {
    let app = TestApp::with(&[("ROOKERY_RATE_LIMITS_ENABLED", "true")]).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    report(&alice, json!({"account_id": bob.id().to_string()})).await;
    alice.post(PATH).json(&json!({"account_id": "1"})).fails(404).await;
    let spend = || rate_limits::spend(&app.app, &rate_limits::REPORTS, &Key::Person(alice.id())).unwrap();
    assert_eq!(spend().remaining, 398);
    while !spend().exceeded {}
    alice.post(PATH).json(&json!({"account_id": bob.id().to_string()})).fails(429).await;
}

#[tokio::test]
async fn commands_list_show_and_resolve_reports() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let made = report(&alice, json!({"account_id": bob.id().to_string(), "comment": "\u{1b}[2Jvery\nrude"})).await;
    let id = made["id"].as_str().unwrap();
    let listed = app.run(&["report", "list", "--json"]).await.json();
    assert_eq!((&listed[0][0]["id"], &listed[0][0]["target_account"]), (&json!(id), &json!("bob")));
    let shown = app.run(&["report", "show", id]).await.ok();
    assert!(shown.contains("@bob was reported by @alice: other") && shown.ends_with("\n [2Jvery\nrude"), "{shown}");

    assert_eq!(app.run(&["report", "resolve", id, "--json"]).await.json()[0]["changed"], true);
    assert_eq!(app.run(&["report", "resolve", id, "--json"]).await.json()[0]["changed"], false);
    assert_eq!(app.run(&["report", "list", "--json"]).await.json(), [json!([])]);
    assert!(app.run(&["report", "list", "--all"]).await.ok().contains("(resolved)"));
    app.run(&["report", "reopen", id]).await.ok();
    assert!(app.run(&["report", "list"]).await.ok().contains("@bob"));
    assert!(app.run(&["report", "show", "1"]).await.fails(1).contains("there is no report 1"));
}

#[tokio::test]
async fn reports_are_deleted_with_their_author() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    report(&alice, json!({"account_id": bob.id().to_string()})).await;
    report(&bob, json!({"account_id": alice.id().to_string()})).await;
    remove(&app, "alice").await;
    app.run_jobs().await;
    assert_eq!(app.count("reports").await, 0);
}
