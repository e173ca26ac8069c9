//! The audit log: `GET /api/v1/admin/audit_log`, an addition of this server, its page and its command.

use serde_json::json;
use service::audit::{self, Entry, Target};

use crate::harness::{Browser, TestApp};
use crate::platform::contract;

const PATH: &str = "/api/v1/admin/audit_log";

async fn log(app: &TestApp, staff: &model::Staff, entry: Entry) {
    app.tick();
    let mut tx = app.db().begin().await.unwrap();
    audit::record(&app.app, &mut tx, staff, entry).await.unwrap();
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn audit_log_is_newest_first_filtered_and_paged() {
    let app = TestApp::new().await;
    let [alice] = app.accounts(["alice"]).await;
    let moderator = app.staff("moderator", "Moderator").await;
    let staff = model::Staff { account: Some(moderator.id()), name: "moderator".into(), ..model::Staff::operator() };
    let target = || Target::new("account", alice.id(), "@alice");
    log(&app, &staff, Entry::new("account.silence", target())).await;
    log(&app, &staff, Entry::new("report.resolve", Target::new("report", 7, "#7"))).await;
    log(&app, &model::Staff::operator(), Entry::new("account.suspend", target()).with(json!({ "warning": "1" }))).await;

    let all = moderator.get(PATH).ok().await;
    contract::check("Admin_AuditEntry[]", &all);
    let actions = |list: &serde_json::Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|entry| entry["action"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(actions(&all), ["account.suspend", "report.resolve", "account.silence"]);
    assert_eq!((&all[0]["actor"], &all[0]["account_id"]), (&json!("operator"), &json!(null)));
    assert_eq!(all[0]["target"], json!({ "type": "account", "id": alice.id().to_string(), "name": "@alice" }));
    assert_eq!(all[0]["details"], json!({ "warning": "1" }));

    let of = async |query: &str| actions(&moderator.get(&format!("{PATH}?{query}")).ok().await);
    assert_eq!(of("action=account").await, ["account.suspend", "account.silence"]);
    assert_eq!(of("action=report.resolve").await, ["report.resolve"]);
    assert_eq!(of(&format!("account_id={}", moderator.id())).await, ["report.resolve", "account.silence"]);
    assert_eq!(
        of(&format!("target_type=account&target_id={}", alice.id())).await,
        ["account.suspend", "account.silence"]
    );
    assert_eq!(of("limit=1").await, ["account.suspend"]);
    assert_eq!(of(&format!("max_id={}", all[1]["id"].as_str().unwrap())).await, ["account.silence"]);
    assert_eq!(of(&format!("min_id={}&limit=1", all[2]["id"].as_str().unwrap())).await, ["report.resolve"]);
    moderator.get(&format!("{PATH}?target_type=account")).fails(422).await;
}

#[tokio::test]
async fn audit_log_page_is_for_staff_who_may_view_it() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let moderator = app.staff("moderator", "Moderator").await;
    let (person, staff) = (Browser::signed_in(&app, "alice").await, Browser::signed_in(&app, "moderator").await);
    let page = "/settings/audit_log";
    assert_eq!(person.get(page).await.status, 403);
    assert!(!person.get("/settings").await.text().contains(page));
    assert!(staff.get("/settings").await.text().contains(page));
    assert!(staff.get("/oauth/authorized_applications").await.text().contains(page));
    let empty = staff.get(page).await.text();
    assert!(empty.contains("No entry matches."), "{empty}");

    let operator = model::Staff::operator();
    for n in 1..=45 {
        log(&app, &operator, Entry::new("report.resolve", Target::new("report", n, format!("#{n}<")))).await;
    }
    app.limit(&alice).await;
    let all = staff.get(page).await.text();
    assert!(all.contains("account.silence") && all.contains("@alice") && all.contains("Command line"), "{all}");
    assert!(all.contains("#45&lt;") && !all.contains("#1&lt;"), "{all}");
    let of = async |query: &str| staff.get(&format!("{page}?{query}")).await.text();
    assert!(!of("action=report").await.contains("account.silence"));
    let older = of("action=report").await.replace("&amp;", "&");
    assert!(older.contains("?action=report&max_id="), "older ones are of the same kind: {older}");
    assert!(of(&format!("target_type=account&target_id={}", alice.id())).await.contains("account.silence"));
    assert!(!of("target_type=report&target_id=7").await.contains("account.silence"));
    assert!(of("account=moderator").await.contains("No entry matches."));
    assert!(of("account=nobody").await.contains("No entry matches."));
    assert_eq!(staff.get(&format!("{page}?target_type=report&target_id=x")).await.status, 422);

    app.make(&moderator, "none").await;
    assert_eq!(staff.get(page).await.status, 403);
}

#[tokio::test]
async fn audit_command_lists_and_filters() {
    let app = TestApp::new().await;
    let [alice] = app.accounts(["alice"]).await;
    let moderator = app.staff("moderator", "Moderator").await;
    app.limit(&alice).await;
    moderator.post(&format!("/api/v1/admin/accounts/{}/unsilence", alice.id())).ok().await;
    app.run(&["settings", "set", "trends", "false"]).await.ok();
    app.run(&["settings", "set", "site_title", "Secret plan"]).await.ok();

    let list = async |arguments: &[&str]| {
        let arguments: Vec<&str> = ["audit", "--json"].iter().chain(arguments).copied().collect();
        let entries = app.run(&arguments).await.list();
        entries.iter().map(|entry| entry["action"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let all = ["settings.update", "settings.update", "account.unsilence", "account.silence"];
    assert_eq!(list(&[]).await, all);
    assert_eq!(list(&["--limit", "3"]).await, all[..3]);
    assert_eq!(list(&["--account", "moderator"]).await, ["account.unsilence"]);
    assert_eq!(list(&["--action", "account"]).await, all[2..]);
    assert_eq!(list(&["--target", "account", &alice.id().to_string()]).await, all[2..]);
    let entries = app.run(&["audit", "--action", "settings.update", "--json"]).await.list();
    assert_eq!((&entries[0]["target"], &entries[0]["details"]), (&json!("site_title"), &json!({})));
    assert_eq!((&entries[1]["target"], &entries[1]["details"]), (&json!("trends"), &json!({ "value": false })));
    let said = app.run(&["audit"]).await.ok();
    assert!(said.contains("operator") && said.contains("@alice") && !said.contains("Secret plan"), "{said}");
    assert!(app.run(&["audit", "--account", "nobody"]).await.fails(1).contains("nobody"));
    assert!(app.run(&["audit", "--target", "account", "x"]).await.fails(2).contains("number"));
}

#[tokio::test]
async fn changes_by_commands_are_logged() {
    let app = TestApp::new().await;
    let [_, bob] = app.accounts(["alice", "bob"]).await;
    app.run(&["rule", "add", "Be kind"]).await.ok();
    app.run(&["announcement", "add", "Hello"]).await.ok();
    app.run(&["user", "reset-password", "alice"]).await.ok();
    app.run(&["user", "set-role", "alice", "Moderator"]).await.ok();
    app.run(&["user", "remove", "bob", "--yes"]).await.ok();
    let all = audit::list(&app.app, &Default::default(), &model::Cursor::first(10)).await.unwrap();
    let actions: Vec<&str> = all.iter().map(|entry| entry.action.as_str()).collect();
    assert_eq!(
        actions,
        ["account.delete", "account.role", "account.reset_password", "announcement.create", "rule.create"]
    );
    assert!(all.iter().all(|entry| entry.account_id.is_none() && entry.actor_name == "operator"));
    app.run_jobs().await;
    app.app.clock.advance(chrono::TimeDelta::minutes(2));
    app.run_jobs().await;
    assert_eq!((all[0].target_id.into(), all[0].target_name.as_str()), (i64::from(bob.id()), "@bob"));
    let kept = audit::list(&app.app, &Default::default(), &model::Cursor::first(10)).await.unwrap();
    assert_eq!(kept.len(), 5, "the log outlives the account");
}
