//! Domains that limited federation admits: their routes. Their effects are in `platform/domain_policy`.

use serde_json::{Value, json};

use crate::harness::{Client, TestApp};
use crate::platform::contract;
use crate::seed::{Seed, Status};

const PATH: &str = "/api/v1/admin/domain_allows";

async fn server() -> (TestApp, Client) {
    let app = TestApp::new().await;
    let admin = app.staff("admin", "Admin").await;
    (app, admin)
}

async fn allow(admin: &Client, domain: &str) -> Value {
    admin.server.tick();
    let allow = admin.post(PATH).json(&json!({ "domain": domain })).ok().await;
    contract::check("Admin_DomainAllow", &allow);
    allow
}

fn path(allow: &Value) -> String {
    format!("{PATH}/{}", allow["id"].as_str().unwrap())
}

#[tokio::test]
async fn domain_allow_is_created_once_listed_and_deleted() {
    let (app, admin) = server().await;
    let made = allow(&admin, " Good.TEST ").await;
    assert_eq!(made, json!({ "id": made["id"], "domain": "good.test", "created_at": "2026-01-15T12:00:02.000Z" }));
    assert!(app.app.domain_policy().allows("good.test") && !app.app.domain_policy().allows("a.good.test"));
    assert_eq!(allow(&admin, "good.test").await, made, "the existing one");
    assert_eq!(admin.get(&path(&made)).ok().await, made);
    let other = allow(&admin, "other.test").await;
    let listed = admin.get(PATH).ok().await;
    contract::check("Admin_DomainAllow[]", &listed);
    assert_eq!(listed, json!([other, made]));
    let page = admin.get(&format!("{PATH}?limit=1")).send().await;
    assert!(page.header("link").contains(&format!("max_id={}>; rel=\"next\"", other["id"].as_str().unwrap())));

    assert_eq!(admin.delete(&path(&made)).ok().await, json!({}));
    assert!(!app.app.domain_policy().allows("good.test"));
    admin.get(&path(&made)).fails(404).await;
    admin.delete(&path(&made)).fails(404).await;
    app.run(&["domain", "remove", "other.test", "--allow"]).await.ok();
    let entries: Vec<(String, String)> =
        app.db().fetch_raw("SELECT action, target_name FROM audit_log ORDER BY action, target_name").await.unwrap();
    let expected =
        [("create", "good.test"), ("create", "other.test"), ("destroy", "good.test"), ("destroy", "other.test")];
    assert_eq!(entries, expected.map(|(action, domain)| (format!("domain_allow.{action}"), domain.to_owned())));
}

#[tokio::test]
async fn domain_allow_refuses_bad_domains() {
    let (app, admin) = server().await;
    for domain in ["", "no domain", "https://a.test/", "user@a.test", "*.a.test"] {
        let said = admin.post(PATH).json(&json!({ "domain": domain })).fails(422).await;
        assert!(said.contains("is not a domain"), "{domain}: {said}");
    }
    admin.post(PATH).fails(422).await;
    assert!(admin.post(PATH).json(&json!({ "domain": "example.test" })).fails(422).await.contains("of this server"));
    assert_eq!(app.count("domain_allows").await, 0);
}

#[tokio::test]
async fn domain_allows_need_permission_and_scope() {
    let (app, admin) = server().await;
    let made = allow(&admin, "good.test").await;
    let moderator = app.staff("moderator", "Moderator").await;
    let alice = app.account("alice").await;
    let wrong_scope = admin.with_scopes("read write admin:read:domain_blocks admin:write:domain_blocks").await;
    let application = app.application("admin:read admin:write").await;
    for client in [&moderator, &alice, &wrong_scope, &application, &app.anonymous()] {
        client.get(PATH).fails(403).await;
        client.get(&path(&made)).fails(403).await;
        client.post(PATH).json(&json!({ "domain": "other.test" })).fails(403).await;
        client.delete(&path(&made)).fails(403).await;
    }
    let reader = admin.with_scopes("admin:read:domain_allows").await;
    assert_eq!(reader.get(&path(&made)).ok().await, made);
    reader.delete(&path(&made)).fails(403).await;
    admin.with_scopes("admin:write:domain_allows").await.delete(&path(&made)).ok().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_concurrent_allows_are_one() {
    let (app, admin) = server().await;
    let running: Vec<_> =
        (0..8).map(|_| tokio::spawn(admin.post(PATH).json(&json!({ "domain": "good.test" })).send())).collect();
    let mut ids = Vec::new();
    for task in running {
        let answer = task.await.unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
        ids.push(answer.json()["id"].to_string());
    }
    ids.dedup();
    assert_eq!((ids.len(), app.count("domain_allows").await), (1, 1));
    assert_eq!(app.count("audit_log").await, 1);
}

#[tokio::test]
async fn accounts_go_with_the_allow_in_limited_federation() {
    let app = TestApp::with(&[("ROOKERY_ACCESS_LIMITED_FEDERATION", "true")]).await;
    let admin = app.staff("admin", "Admin").await;
    let made = allow(&admin, "good.test").await;
    allow(&admin, "other.test").await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    for n in 0..3 {
        let person = seed.account(&format!("person{n}"), Some("good.test"));
        seed.status(&Status { author: person, local: false, ..Status::default() });
    }
    seed.account("stays", Some("other.test"));
    seed.account("below", Some("a.good.test"));
    seed.write(app.db()).await;
    admin.delete(&path(&made)).ok().await;
    app.run_jobs().await;
    let left = "SELECT COUNT(*) FROM accounts WHERE domain IS NOT NULL AND suspended_at IS NULL";
    assert_eq!(app.number(left).await, 2);
    app.app.clock.advance(chrono::Duration::minutes(2));
    app.run_jobs().await;
    assert_eq!(app.number("SELECT COUNT(*) FROM accounts WHERE domain = 'good.test'").await, 0);
    assert_eq!(app.count("statuses").await, 0);
}

#[tokio::test]
async fn accounts_stay_without_limited_federation() {
    let (app, admin) = server().await;
    let made = allow(&admin, "good.test").await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    seed.account("stays", Some("good.test"));
    seed.write(app.db()).await;
    admin.delete(&path(&made)).ok().await;
    app.run_jobs().await;
    assert_eq!(
        app.number("SELECT COUNT(*) FROM accounts WHERE domain = 'good.test' AND suspended_at IS NULL").await,
        1
    );
}
