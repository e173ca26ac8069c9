//! Strikes and appeals: the pages of people, `/api/v1/admin/appeals`, `rookery appeal`, and the mails.

use chrono::Duration;
use futures_util::future::join_all;
use model::moderation::WarningAction;
use serde_json::{Value, json};

use crate::harness::{Browser, Client, TestApp, form_fields};
use crate::platform::contract;

const PATH: &str = "/api/v1/admin/appeals";

/// A strike by an admin with a mail; returns its id.
async fn strike(app: &TestApp, admin: &Client, person: &Client, action: &str) -> String {
    app.tick();
    let body = json!({ "type": action, "text": "be <kind>" });
    admin.post(&format!("/api/v1/admin/accounts/{}/action", person.id())).json(&body).ok().await;
    let newest = store::warning::list_of(app.db(), person.id(), 1).await.unwrap();
    newest[0].id.to_string()
}

/// Appeals by the link in the mail; returns the id of the appeal.
async fn appeal(app: &TestApp, admin: &Client) -> String {
    let browser = Browser::new(app);
    let page = browser.get(&app.mailed_link().await).await;
    assert_eq!(page.status, 200, "{}", page.text());
    let sent = browser.submit(&page, "/auth/strike", &[("text", "I was kind")]).await;
    assert_eq!(sent.status, 200, "{}", sent.text());
    assert!(sent.text().contains("Your appeal was sent"), "{}", sent.text());
    let pending = admin.get(PATH).ok().await;
    contract::check("Admin_Appeal[]", &pending);
    pending[0]["id"].as_str().unwrap().to_owned()
}

async fn open() -> (TestApp, Client, Client) {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let admin = app.staff("admin", "Admin").await;
    (app, admin, alice)
}

async fn decide(admin: &Client, id: &str, verb: &str) -> Value {
    admin.server.tick();
    let decided = admin.post(&format!("{PATH}/{id}/{verb}")).ok().await;
    contract::check("Admin_Appeal", &decided);
    decided
}

/// The states of an account that strikes set.
async fn states(admin: &Client, person: &Client) -> [bool; 4] {
    let shown = admin.get(&format!("/api/v1/admin/accounts/{}", person.id())).ok().await;
    ["disabled", "sensitized", "silenced", "suspended"].map(|state| shown[state].as_bool().unwrap())
}

#[tokio::test]
async fn strike_page_takes_one_appeal_of_its_account() {
    let (app, admin, alice) = open().await;
    app.account("bob").await;
    let (browser, bob) = (Browser::signed_in(&app, "alice").await, Browser::signed_in(&app, "bob").await);
    assert!(browser.get("/settings/strikes").await.text().contains("Nothing was decided"));
    let id = strike(&app, &admin, &alice, "silence").await;
    let path = format!("/settings/strikes/{id}");
    let list = browser.get("/settings/strikes").await.text();
    assert!(list.contains(&path) && list.contains("Your account was limited"), "{list}");
    let page = browser.get(&path).await;
    assert!(page.text().contains("be &lt;kind&gt;"), "{}", page.text());
    assert_eq!(bob.get(&path).await.status, 404);
    assert_eq!(browser.get("/settings/strikes/x").await.status, 404);
    assert_eq!(browser.post(&path, &[("text", "no token")]).await.status, 403);
    for (text, words) in [(" ".to_owned(), " be blank"), ("é".repeat(2_001), "too long")] {
        let refused = browser.submit(&page, &path, &[("text", &text)]).await;
        assert_eq!(refused.status, 422);
        assert!(refused.text().contains(words), "{}", refused.text());
    }
    let longest = "é".repeat(2_000);
    assert_eq!(browser.submit(&page, &path, &[("text", &longest)]).await.status, 302);
    let shown = browser.get(&path).await.text();
    assert!(shown.contains("waiting for a decision") && !shown.contains("<textarea"), "{shown}");
    assert_eq!(browser.submit(&page, &path, &[("text", "again")]).await.status, 403);
    assert_eq!(app.count("appeals").await, 1);
}

#[tokio::test]
async fn strike_link_opens_without_signing_in_and_only_with_its_key() {
    let (app, admin, alice) = open().await;
    let id = strike(&app, &admin, &alice, "disable").await;
    let path = app.mailed_link().await;
    assert!(path.contains(&format!("id={id}&token=")), "{path}");
    let browser = Browser::new(&app);
    let page = browser.get(&path).await;
    assert!(page.text().contains("Your account was disabled") && page.text().contains("<textarea"), "{}", page.text());
    let other = strike(&app, &admin, &alice, "none").await;
    for wrong in [
        format!("{path}x"),
        path.replace(&format!("id={id}"), &format!("id={other}")),
        "/auth/strike".to_owned(),
        format!("/auth/strike?id={id}&token="),
        format!("/auth/strike?id=x&token={id}"),
    ] {
        assert_eq!(browser.get(&wrong).await.status, 404, "{wrong}");
    }
    let mut forged = form_fields(&page.text(), "/auth/strike");
    forged.retain(|(name, _)| name != "id");
    forged.extend([("id".to_owned(), other), ("text".to_owned(), "a".to_owned())]);
    let forged: Vec<(&str, &str)> = forged.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(browser.post("/auth/strike", &forged).await.status, 404);
    let blank = browser.submit(&page, "/auth/strike", &[("text", "")]).await;
    assert_eq!(blank.status, 422);
    assert_eq!(app.count("appeals").await, 0);
    app.app.clock.advance(chrono::TimeDelta::days(29));
    assert_eq!(browser.get(&path).await.status, 200);
    app.app.clock.advance(chrono::TimeDelta::days(2));
    assert_eq!(browser.get(&path).await.status, 404, "it was mailed a month ago");
}

#[tokio::test]
async fn appeal_is_possible_for_twenty_days() {
    let (app, admin, alice) = open().await;
    strike(&app, &admin, &alice, "disable").await;
    let path = app.mailed_link().await;
    let browser = Browser::new(&app);
    let page = browser.get(&path).await;
    app.app.clock.advance(Duration::days(20) - Duration::seconds(2));
    assert!(browser.get(&path).await.text().contains("<textarea"));
    app.app.clock.advance(Duration::seconds(1));
    assert!(browser.get(&path).await.text().contains("no longer possible"));
    assert_eq!(browser.submit(&page, "/auth/strike", &[("text", "late")]).await.status, 403);
    assert_eq!(app.count("appeals").await, 0);
}

#[tokio::test]
async fn approved_appeal_lifts_action_and_mails() {
    for (index, action) in ["disable", "sensitive", "silence", "suspend"].into_iter().enumerate() {
        let (app, admin, alice) = open().await;
        let id = strike(&app, &admin, &alice, action).await;
        let imposed = states(&admin, &alice).await;
        assert!(imposed[index] && imposed.iter().filter(|state| **state).count() == 1, "{action}: {imposed:?}");
        let appeal = appeal(&app, &admin).await;
        let decided = decide(&admin, &appeal, "approve").await;
        assert_eq!((&decided["state"], &decided["text"]), (&json!("approved"), &json!("I was kind")));
        assert_eq!(decided["decided_by_account"]["username"], "admin");
        assert_eq!((&decided["warning"]["id"], &decided["warning"]["action"]), (&json!(id), &json!(action)));
        assert_eq!(states(&admin, &alice).await, [false; 4], "{action}");
        app.run_jobs().await;
        let letters = app.letters().await;
        assert_eq!(letters.len(), 2, "{action}");
        assert!(letters[1].contains("approved your appeal"), "{}", letters[1]);
        assert_eq!(app.number("SELECT COUNT(*) FROM account_warnings WHERE overruled_at IS NOT NULL").await, 1);
        for verb in ["approve", "reject"] {
            let said = admin.post(&format!("{PATH}/{appeal}/{verb}")).fails(403).await;
            assert!(said.contains("approved already"), "{said}");
        }
        assert_eq!(admin.get(PATH).ok().await, json!([]));
        assert_eq!(admin.get(&format!("{PATH}?status=approved")).ok().await[0]["id"], json!(appeal));
        assert_eq!(app.number("SELECT COUNT(*) FROM audit_log WHERE action = 'appeal.approve'").await, 1);
    }
}

#[tokio::test]
async fn rejected_appeal_changes_nothing_and_mails() {
    let (app, admin, alice) = open().await;
    strike(&app, &admin, &alice, "disable").await;
    let id = appeal(&app, &admin).await;
    let path = app.mailed_link().await;
    assert_eq!(decide(&admin, &id, "reject").await["state"], "rejected");
    assert_eq!(states(&admin, &alice).await, [true, false, false, false]);
    app.run_jobs().await;
    assert!(app.letters().await[1].contains("rejected your appeal"));
    assert!(Browser::new(&app).get(&path).await.text().contains("Your appeal was rejected"));
    admin.get(&format!("{PATH}?status=odd")).fails(422).await;
    admin.post(&format!("{PATH}/1/reject")).fails(404).await;
}

#[tokio::test]
async fn later_strike_keeps_what_an_approved_appeal_would_lift() {
    let (app, admin, alice) = open().await;
    strike(&app, &admin, &alice, "disable").await;
    let id = appeal(&app, &admin).await;
    app.act(&alice, WarningAction::Disable).await;
    decide(&admin, &id, "approve").await;
    assert_eq!(states(&admin, &alice).await, [true, false, false, false]);
}

#[tokio::test]
async fn appeal_of_account_being_deleted_is_not_approved() {
    let (app, admin, alice) = open().await;
    strike(&app, &admin, &alice, "suspend").await;
    let id = appeal(&app, &admin).await;
    admin.delete(&format!("/api/v1/admin/accounts/{}", alice.id())).ok().await;
    assert!(admin.post(&format!("{PATH}/{id}/approve")).fails(403).await.contains("removed for good"));
    assert_eq!(decide(&admin, &id, "reject").await["state"], "rejected", "nothing of the refused decision is kept");
}

#[tokio::test]
async fn appeals_need_permission_and_rank() {
    let (app, admin, alice) = open().await;
    let second = app.staff("second", "Admin").await;
    strike(&app, &admin, &alice, "silence").await;
    let id = appeal(&app, &admin).await;
    let moderator = app.staff("moderator", "Moderator").await;
    let wrong_scope = admin.with_scopes("read write admin:read:reports admin:write:reports").await;
    for client in [&alice, &moderator, &wrong_scope, &app.anonymous()] {
        client.get(PATH).fails(403).await;
        client.post(&format!("{PATH}/{id}/approve")).fails(403).await;
        client.post(&format!("{PATH}/{id}/reject")).fails(403).await;
    }
    app.make(&alice, "Admin").await;
    assert!(second.post(&format!("{PATH}/{id}/approve")).fails(403).await.contains("not below yours"));
    assert_eq!(app.number("SELECT COUNT(*) FROM appeals WHERE approved_at IS NULL AND rejected_at IS NULL").await, 1);
    app.make(&alice, "none").await;
    assert_eq!(decide(&admin, &id, "approve").await["state"], "approved", "who took the action may decide");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_eight_concurrent_decisions_wins() {
    let (app, admin, alice) = open().await;
    strike(&app, &admin, &alice, "silence").await;
    let id = appeal(&app, &admin).await;
    let verb = |n: usize| if n.is_multiple_of(2) { "approve" } else { "reject" };
    let sent = (0..8).map(|n| tokio::spawn(admin.post(&format!("{PATH}/{id}/{}", verb(n))).send()));
    let mut statuses: Vec<u16> =
        join_all(sent).await.into_iter().map(|answer| answer.unwrap().status.as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 403, 403, 403, 403, 403, 403, 403]);
    assert_eq!(app.number("SELECT COUNT(*) FROM audit_log WHERE target_kind = 'appeal'").await, 1);
    let approved = app.number("SELECT COUNT(*) FROM appeals WHERE approved_at IS NOT NULL").await == 1;
    assert_eq!(states(&admin, &alice).await[2], !approved);
}

#[tokio::test]
async fn commands_list_and_decide_appeals() {
    let (app, admin, alice) = open().await;
    strike(&app, &admin, &alice, "silence").await;
    let id = appeal(&app, &admin).await;
    let run = async |arguments: &[&str]| app.run(&[&["appeal"], arguments].concat()).await;
    let listed = run(&["list", "--json"]).await.list();
    assert_eq!((&listed[0]["id"], &listed[0]["text"]), (&json!(id), &json!("I was kind")));
    assert!(run(&["list"]).await.ok().contains("I was kind"));
    assert_eq!(run(&["list", "--status", "rejected"]).await.ok(), "No appeal is rejected.");
    assert!(run(&["approve", "1"]).await.fails(1).contains("there is no appeal 1"));
    assert!(run(&["approve", &id]).await.ok().contains("is approved"));
    assert!(run(&["reject", &id]).await.fails(1).contains("approved already"));
    assert_eq!(states(&admin, &alice).await, [false; 4]);
    let operator = "SELECT COUNT(*) FROM audit_log WHERE action = 'appeal.approve' AND account_id IS NULL";
    assert_eq!(app.number(operator).await, 1);
}
