//! Subscribed lists of domains, their drafts, and excluded domains: their routes, their job and their commands.

use chrono::TimeDelta;
use model::instance::Severity;
use serde_json::{Value, json};

use crate::harness::{Client, Site, TestApp};
use crate::platform::contract;
use crate::seed::Seed;

const PATH: &str = "/api/v1/admin/domain_lists";
const EXCLUSIONS: &str = "/api/v1/admin/domain_exclusions";

async fn server() -> (TestApp, Client, Site) {
    let app = TestApp::with(&Site::KEYS).await;
    let admin = app.staff("admin", "Admin").await;
    (app, admin, Site::start().await)
}

/// Subscribes and fetches.
async fn subscribe(admin: &Client, new: Value) -> String {
    admin.server.tick();
    let list = admin.post(PATH).json(&new).ok().await;
    contract::check("Admin_DomainList", &list);
    admin.server.run_jobs().await;
    format!("{PATH}/{}", list["id"].as_str().unwrap())
}

async fn refresh(admin: &Client, path: &str) -> Value {
    admin.server.tick();
    contract::check("Admin_DomainList", &admin.post(&format!("{path}/refresh")).ok().await);
    admin.server.run_jobs().await;
    admin.get(path).ok().await
}

async fn blocks(app: &TestApp) -> Vec<(String, Severity)> {
    let blocks = store::domain_policy::list_blocks(app.db()).await.unwrap();
    blocks.into_iter().map(|block| (block.domain, block.severity)).collect()
}

fn expected(blocks: &[(&str, Severity)]) -> Vec<(String, Severity)> {
    blocks.iter().map(|(domain, severity)| ((*domain).to_owned(), *severity)).collect()
}

/// The drafts: domain and change.
async fn drafts(admin: &Client, path: &str) -> Vec<(String, String)> {
    let drafts = admin.get(&format!("{path}/drafts")).ok().await;
    contract::check("Admin_DomainListDraft[]", &drafts);
    let text = |draft: &Value, name: &str| draft[name].as_str().unwrap().to_owned();
    drafts.as_array().unwrap().iter().map(|draft| (text(draft, "domain"), text(draft, "change"))).collect()
}

#[tokio::test]
async fn list_is_fetched_applied_and_followed() {
    use Severity::{Noop, Silence, Suspend};
    let (app, admin, site) = server().await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let spam = seed.account("spam", Some("a.evil.test"));
    seed.write(app.db()).await;
    let suspended = format!("SELECT COUNT(*) FROM accounts WHERE id = {spam} AND suspended_at IS NOT NULL");
    admin.post("/api/v1/admin/domain_blocks").json(&json!({ "domain": "mine.test", "severity": "noop" })).ok().await;
    let text = "domain,severity\nevil.test,suspend\nmine.test,suspend\nloud.test,silence\ncom,suspend\n";
    let url = site.tagged("/list.csv", "text/csv", text.as_bytes(), "\"1\"");

    let path = subscribe(&admin, json!({ "url": url, "mode": "apply" })).await;
    let list = admin.get(&path).ok().await;
    contract::check("Admin_DomainList", &list);
    let counts = (&list["entries_count"], &list["faults_count"], &list["drafts_count"], &list["error"]);
    assert_eq!(counts, (&json!(3), &json!(1), &json!(0), &Value::Null), "{list}");
    let all = [("evil.test", Suspend), ("loud.test", Silence), ("mine.test", Noop)];
    assert_eq!(blocks(&app).await, expected(&all));
    assert_eq!(app.app.domain_policy().severity("evil.test"), Suspend);
    assert_eq!(app.number(&suspended).await, 1);

    // Unchanged, then with other entries.
    refresh(&admin, &path).await;
    assert_eq!((site.asked("/list.csv"), blocks(&app).await), (2, expected(&all)));
    site.tagged("/list.csv", "text/csv", b"domain,severity\nloud.test,suspend\nnew.test,silence\n", "\"2\"");
    refresh(&admin, &path).await;
    let all = [("loud.test", Suspend), ("mine.test", Noop), ("new.test", Silence)];
    assert_eq!(blocks(&app).await, expected(&all));
    assert_eq!(app.number(&suspended).await, 0, "the suspension went with the block");

    // A block that a person changes belongs to no list.
    let id = app.number("SELECT id FROM domain_blocks WHERE domain = 'new.test'").await;
    app.tick();
    admin.put(&format!("/api/v1/admin/domain_blocks/{id}")).json(&json!({ "severity": "noop" })).ok().await;
    site.tagged("/list.csv", "text/csv", b"domain,severity\nnew.test,suspend\nother.test,noop\n", "\"3\"");
    refresh(&admin, &path).await;
    assert_eq!(blocks(&app).await, expected(&[("mine.test", Noop), ("new.test", Noop), ("other.test", Noop)]));

    // A list that cannot be used changes nothing.
    for (status, body) in [(500, ""), (200, ""), (200, "com\n")] {
        site.put("/list.csv", status, "text/plain", body.as_bytes());
        let list = refresh(&admin, &path).await;
        assert!(list["error"].is_string() && list["failures"].as_i64() > Some(0), "{list}");
    }
    assert_eq!(app.count("domain_blocks").await, 3);
    app.tick();
    assert_eq!(admin.delete(&path).ok().await, json!({}));
    assert_eq!(blocks(&app).await, expected(&[("mine.test", Noop), ("new.test", Noop)]));
    assert_eq!(app.count("domain_lists").await + app.count("domain_list_entries").await, 0);
    let actions: Vec<(String,)> =
        app.db().fetch_raw("SELECT action FROM audit_log WHERE target_kind = 'domain_list' ORDER BY id").await.unwrap();
    let actions: Vec<&str> = actions.iter().map(|(action,)| action.strip_prefix("domain_list.").unwrap()).collect();
    assert_eq!(actions, ["create", "refresh", "refresh", "refresh", "destroy"]);
}

#[tokio::test]
async fn list_with_the_highest_priority_decides() {
    use Severity::{Silence, Suspend};
    let (app, admin, site) = server().await;
    let one = site.put("/one.txt", 200, "text/plain", b"shared.test\none.test\n");
    let two = site.put("/two.txt", 200, "text/plain", b"shared.test\ntwo.test\n");
    let first = subscribe(&admin, json!({ "url": one, "mode": "apply" })).await;
    let second = json!({ "url": two, "mode": "apply", "priority": 5, "severity": "silence" });
    let second = subscribe(&admin, second).await;
    let all = [("one.test", Suspend), ("shared.test", Silence), ("two.test", Silence)];
    assert_eq!(blocks(&app).await, expected(&all));
    let listed = admin.get(PATH).ok().await;
    contract::check("Admin_DomainList[]", &listed);
    assert_eq!((&listed[0]["url"], &listed[1]["url"]), (&json!(two), &json!(one)));

    app.tick();
    admin.put(&first).json(&json!({ "priority": 10 })).ok().await;
    assert_eq!(blocks(&app).await[1], ("shared.test".to_owned(), Suspend));
    app.tick();
    admin.delete(&first).ok().await;
    assert_eq!(blocks(&app).await, expected(&[("shared.test", Silence), ("two.test", Silence)]));
    app.tick();
    admin.delete(&format!("{second}?keep=true")).ok().await;
    assert_eq!((blocks(&app).await.len(), app.count("domain_list_blocks").await), (2, 0));
}

#[tokio::test]
async fn drafts_wait_for_the_staff() {
    let (app, admin, site) = server().await;
    let url = site.put("/list.txt", 200, "text/plain", b"a.test\nb.test\nc.test\nfriend.test\n");
    admin.post(EXCLUSIONS).json(&json!({ "domain": "friend.test" })).ok().await;
    let path = subscribe(&admin, json!({ "url": url })).await;
    let proposed = |all: &[(&str, &str)]| -> Vec<(String, String)> {
        all.iter().map(|(domain, change)| ((*domain).to_owned(), (*change).to_owned())).collect()
    };
    assert_eq!(drafts(&admin, &path).await, proposed(&[("a.test", "add"), ("b.test", "add"), ("c.test", "add")]));
    assert_eq!(app.count("domain_blocks").await, 0);

    app.tick();
    let list = admin.post(&format!("{path}/drafts/apply")).json(&json!({ "domains": ["a.test", "b.test"] })).ok().await;
    assert_eq!((&list["entries_count"], &list["drafts_count"]), (&json!(2), &json!(1)));
    let both = [("a.test", Severity::Suspend), ("b.test", Severity::Suspend)];
    assert_eq!(blocks(&app).await, expected(&both));
    app.tick();
    admin.post(&format!("{path}/drafts/dismiss")).json(&json!({ "all": true })).ok().await;
    refresh(&admin, &path).await;
    assert_eq!(drafts(&admin, &path).await, [], "dismissed until the list changes it");

    site.put("/list.csv", 200, "text/csv", b"");
    site.put("/list.txt", 200, "text/csv", b"domain,severity\na.test,silence\nc.test,noop\n");
    refresh(&admin, &path).await;
    let all = proposed(&[("a.test", "update"), ("b.test", "remove"), ("c.test", "update")]);
    let found = drafts(&admin, &path).await;
    assert_eq!((&found[0], &found[1], found[2].0.as_str()), (&all[0], &all[1], "c.test"));
    for body in [json!({}), json!({ "domains": ["unknown.test"] })] {
        admin.post(&format!("{path}/drafts/apply")).json(&body).fails(422).await;
    }
    app.tick();
    admin.post(&format!("{path}/drafts/apply")).json(&json!({ "all": true })).ok().await;
    assert_eq!(blocks(&app).await, expected(&[("a.test", Severity::Silence), ("c.test", Severity::Noop)]));
    assert_eq!(admin.get(&format!("{path}/drafts?after=a.test")).ok().await, json!([]));
}

#[tokio::test]
async fn no_list_blocks_an_excluded_domain() {
    let (app, admin, site) = server().await;
    let url = site.tagged("/list.txt", "text/plain", b"friend.test\nsub.friend.test\nevil.test\nabove.test\n", "\"1\"");
    subscribe(&admin, json!({ "url": url, "mode": "apply" })).await;
    assert_eq!(app.count("domain_blocks").await, 4);
    for domain in ["Friend.test", "a.above.test"] {
        app.tick();
        contract::check("Admin_DomainExclusion", &admin.post(EXCLUSIONS).json(&json!({ "domain": domain })).ok().await);
    }
    assert_eq!(blocks(&app).await, expected(&[("evil.test", Severity::Suspend)]));
    let listed = admin.get(EXCLUSIONS).ok().await;
    contract::check("Admin_DomainExclusion[]", &listed);
    assert_eq!(listed, json!([{ "domain": "a.above.test" }, { "domain": "friend.test" }]));
    let import = json!({ "list": "sub.friend.test\nabove.test\n" });
    let preview = admin.post("/api/v1/admin/domain_blocks/import").json(&import).ok().await;
    assert_eq!((&preview["added"], &preview["faults_count"]), (&json!(0), &json!(2)));
    admin.post("/api/v1/admin/domain_blocks").json(&json!({ "domain": "sub.friend.test" })).ok().await;

    app.tick();
    admin.delete(&format!("{EXCLUSIONS}?domain=friend.test")).ok().await;
    admin.delete(&format!("{EXCLUSIONS}?domain=friend.test")).fails(404).await;
    let all =
        [("evil.test", Severity::Suspend), ("friend.test", Severity::Suspend), ("sub.friend.test", Severity::Silence)];
    assert_eq!(blocks(&app).await, expected(&all));
}

#[tokio::test]
async fn lists_are_fetched_daily() {
    let (app, admin, site) = server().await;
    let url = site.put("/list.txt", 200, "text/plain", b"evil.test\n");
    let path = subscribe(&admin, json!({ "url": url })).await;
    assert_eq!(site.asked("/list.txt"), 1);
    let look = async |hours: i64| {
        app.app.clock.advance(TimeDelta::hours(hours));
        let mut tx = app.app.db.begin().await.unwrap();
        context::queue::enqueue(&app.app, &mut tx, &context::queue::RefreshDomainLists {}).await.unwrap();
        tx.commit().await.unwrap();
        app.run_jobs().await;
        site.asked("/list.txt")
    };
    assert_eq!(look(23).await, 1);
    assert_eq!(look(2).await, 2);
    site.put("/list.txt", 503, "text/plain", b"");
    assert_eq!(look(25).await, 3);
    assert_eq!(admin.get(&path).ok().await["failures"], 1);
    assert_eq!(look(2).await, 4, "after the back-off of an hour");
}

#[tokio::test]
async fn bad_subscriptions_are_refused() {
    let (app, admin, site) = server().await;
    for new in [
        json!({}),
        json!({ "url": "" }),
        json!({ "url": "evil.test" }),
        json!({ "url": "ftp://lists.test/a" }),
        json!({ "url": "https://user:pass@lists.test/a" }),
        json!({ "url": "https://lists.test/a", "priority": 1001 }),
        json!({ "url": "https://lists.test/a", "priority": i64::MIN }),
        json!({ "url": "https://lists.test/a", "mode": "maybe" }),
        json!({ "url": "https://lists.test/a", "severity": "loud" }),
        json!({ "url": format!("https://lists.test/{}", "a".repeat(2_000)) }),
    ] {
        admin.post(PATH).json(&new).fails(422).await;
    }
    let url = site.put("/list.txt", 200, "text/plain", b"evil.test\n");
    for n in 0..20 {
        app.tick();
        admin.post(PATH).json(&json!({ "url": format!("{url}?{n}") })).ok().await;
    }
    assert!(admin.post(PATH).json(&json!({ "url": url })).fails(422).await.contains("at most 20"));
    let moderator = app.staff("moderator", "Moderator").await;
    let reader = admin.with_scopes("admin:read:domain_blocks").await;
    for client in [&moderator, &reader, &app.anonymous()] {
        client.post(PATH).json(&json!({ "url": url })).fails(403).await;
        client.post(EXCLUSIONS).json(&json!({ "domain": "friend.test" })).fails(403).await;
    }
    reader.get(PATH).ok().await;
    for domain in ["", "no domain", "https://a.test/"] {
        admin.post(EXCLUSIONS).json(&json!({ "domain": domain })).fails(422).await;
    }
    assert_eq!((app.count("domain_lists").await, app.count("domain_exclusions").await), (20, 0));
}

#[tokio::test]
async fn commands_subscribe_exclude_and_decide() {
    let (app, _, site) = server().await;
    let url = site.put("/list.txt", 200, "text/plain", b"evil.test\nfriend.test\n");
    let run = async |arguments: &[&str]| app.run_set(&Site::KEYS, &[&["domain"], arguments].concat()).await;
    run(&["exclude", "friend.test"]).await.ok();
    assert_eq!(run(&["exclusions"]).await.ok(), "friend.test");
    let added = run(&["subscription", "add", &url, "--severity", "silence"]).await.ok();
    assert!(added.contains("1 changes are drafts"), "{added}");
    let proposed = run(&["subscription", "drafts", &url, "--json"]).await.list();
    assert_eq!((&proposed[0]["domain"], &proposed[0]["block"]["severity"]), (&json!("evil.test"), &json!("silence")));
    assert!(run(&["subscription", "apply", &url]).await.code != 0);
    assert_eq!(run(&["subscription", "apply", &url, "--all", "--json"]).await.json()[0]["drafts"], 1);
    assert_eq!(blocks(&app).await, expected(&[("evil.test", Severity::Silence)]));
    assert!(run(&["subscription", "list"]).await.ok().contains("/list.txt (1 domains, 0 drafts, 0 faults, fetched"));
    run(&["unexclude", "friend.test"]).await.ok();
    let refreshed = run(&["subscription", "refresh", &url, "--json"]).await.json();
    assert_eq!(refreshed[0]["list"]["drafts_count"], 1);
    run(&["subscription", "dismiss", &url, "friend.test"]).await.ok();
    site.put("/list.txt", 404, "text/plain", b"");
    assert!(run(&["subscription", "refresh", &url]).await.fails(1).contains("status 404"));
    run(&["subscription", "remove", &url]).await.ok();
    assert!(run(&["subscription", "remove", &url]).await.fails(1).contains("not subscribed to"));
    assert_eq!(app.count("domain_blocks").await, 0);
}
