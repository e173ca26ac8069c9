//! `/api/v1/admin/reports` with notes, and the commands that change reports.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::harness::{Browser, Client, TestApp, form_fields, ids, path};
use crate::platform::contract;
use crate::routes::media::png;
use crate::routes::notifications;

const PATH: &str = "/api/v1/admin/reports";

async fn report(person: &Client, target: &Client, body: Value) -> String {
    person.server.tick();
    let mut sent = json!({ "account_id": target.id().to_string() });
    sent.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
    person.post("/api/v1/reports").json(&sent).ok().await["id"].as_str().unwrap().to_owned()
}

/// A server with a moderator and three people.
async fn open() -> (TestApp, Client, [Client; 3]) {
    let app = TestApp::new().await;
    let people = app.accounts(["alice", "bob", "carol"]).await;
    let moderator = app.staff("moderator", "Moderator").await;
    (app, moderator, people)
}

async fn show(staff: &Client, id: &str) -> Value {
    let shown = staff.get(&format!("{PATH}/{id}")).ok().await;
    contract::check("Admin_Report", &shown);
    shown
}

async fn change(staff: &Client, id: &str, verb: &str) -> Value {
    staff.server.tick();
    let changed = staff.post(&format!("{PATH}/{id}/{verb}")).ok().await;
    contract::check("Admin_Report", &changed);
    changed
}

async fn listed(staff: &Client, query: &str) -> Vec<String> {
    let page = staff.get(&format!("{PATH}?{query}")).ok().await;
    contract::check("Admin_Report[]", &page);
    ids(&page).into_iter().map(str::to_owned).collect()
}

async fn logged(app: &TestApp) -> Vec<String> {
    let rows: Vec<(String, String)> = app
        .db()
        .fetch_raw("SELECT action, actor_name FROM audit_log WHERE target_kind = 'report' ORDER BY id")
        .await
        .unwrap();
    rows.into_iter().map(|(action, actor)| format!("{actor} {action}")).collect()
}

#[tokio::test]
async fn admin_report_shows_accounts_statuses_and_rules() {
    let (app, moderator, [alice, bob, _]) = open().await;
    app.run(&["rule", "add", "Be kind"]).await.ok();
    app.app.reload().await.unwrap();
    let rule = app.anonymous().get("/api/v1/instance/rules").ok().await[0]["id"].clone();
    alice.follow(&bob).ok().await;
    let (open, hidden, deleted) =
        (bob.publish("hello").await, bob.publish_to("private", "secret").await, bob.publish("gone").await);
    let body =
        json!({ "status_ids": [open["id"], hidden["id"], deleted["id"]], "comment": "rude", "rule_ids": [rule] });
    let id = report(&alice, &bob, body).await;
    bob.delete(&format!("/api/v1/statuses/{}", deleted["id"].as_str().unwrap())).ok().await;
    app.run_jobs().await;
    let shown = show(&moderator, &id).await;
    assert_eq!((&shown["comment"], &shown["category"]), (&json!("rude"), &json!("violation")));
    assert_eq!(shown["account"]["email"], "alice@example.test");
    assert_eq!(shown["target_account"]["account"]["acct"], "bob");
    assert_eq!(
        ids(&shown["statuses"]),
        [&open, &hidden, &deleted].map(|status| status["id"].as_str().unwrap()),
        "hidden and deleted ones too"
    );
    assert_eq!(shown["statuses"][2]["content"], "<p>gone</p>");
    assert_eq!((&shown["rules"][0]["text"], &shown["rules"][1]), (&json!("Be kind"), &json!(null)));
    assert_eq!((&shown["updated_at"], &shown["assigned_account"]), (&shown["created_at"], &json!(null)));
    app.suspend(&bob).await;
    assert_eq!(show(&moderator, &id).await["statuses"].as_array().unwrap().len(), 3, "also of suspended accounts");
    moderator.get(&format!("{PATH}/1")).fails(404).await;
}

#[tokio::test]
async fn deleted_evidence_stays_for_the_staff_with_its_files() {
    let (app, moderator, [alice, bob, _]) = open().await;
    let post = async |text: &str| {
        let media = bob.upload(&png(9, 9)).ok().await;
        let file = path(&media["url"]).to_owned();
        (bob.publish(&json!({ "status": text, "media_ids": [media["id"]], "spoiler_text": "cw" })).await, file)
    };
    let ((named, file), (other, unnamed)) = (post("evidence").await, post("harmless").await);
    let id = report(&alice, &bob, json!({ "status_ids": [named["id"]] })).await;
    for status in [&named, &other] {
        bob.delete(&format!("{}?delete_media=true", status.path(""))).ok().await;
    }
    app.app.clock.advance(chrono::TimeDelta::days(2));
    app.run_jobs().await;
    let fetched = async |file: &str| app.anonymous().get(file).send().await.status.as_u16();
    assert_eq!((fetched(&file).await, fetched(&unnamed).await), (200, 404));
    bob.get(&named.path("")).fails(404).await;
    assert_eq!(bob.get(&format!("/api/v1/accounts/{}/statuses", bob.id())).ok().await, json!([]));

    let shown = show(&moderator, &id).await;
    let evidence = &shown["statuses"][0];
    assert_eq!((&evidence["id"], &evidence["spoiler_text"]), (&named["id"], &json!("cw")));
    assert!(evidence["media_attachments"][0]["url"].as_str().unwrap().ends_with(&file), "{evidence}");
    let text = app.run(&["report", "show", &id]).await.ok();
    assert!(text.contains("evidence") && text.contains("[cw]") && text.contains("deleted"), "{text}");
    assert_eq!(app.run(&["media", "prune"]).await.code, 0);
    assert_eq!(fetched(&file).await, 200);

    // It goes with the account.
    let account = store::account::find(app.db(), bob.id()).await.unwrap().unwrap();
    service::removal::remove(&app.app, &model::Staff::operator(), &account).await.unwrap();
    app.app.clock.advance(chrono::TimeDelta::minutes(2));
    app.run_jobs().await;
    assert_eq!((fetched(&file).await, app.count("held_statuses").await, app.count("held_files").await), (404, 0, 0));
}

#[tokio::test]
async fn admin_reports_are_filtered_and_paged() {
    let (_, moderator, [alice, bob, carol]) = open().await;
    let first = report(&alice, &bob, json!({})).await;
    let second = report(&carol, &bob, json!({})).await;
    let third = report(&alice, &carol, json!({})).await;
    let done = report(&alice, &bob, json!({})).await;
    change(&moderator, &done, "resolve").await;
    assert_eq!(listed(&moderator, "").await, [&third, &second, &first].map(String::clone));
    assert_eq!(listed(&moderator, "resolved=").await.len(), 3, "a blank value does not count");
    for value in ["true", "false", "0"] {
        assert_eq!(listed(&moderator, &format!("resolved={value}")).await, std::slice::from_ref(&done));
    }
    let (by, about) = (format!("account_id={}", alice.id()), format!("target_account_id={}", bob.id()));
    assert_eq!(listed(&moderator, &by).await, [&third, &first].map(String::clone));
    assert_eq!(listed(&moderator, &about).await, [&second, &first].map(String::clone));
    assert_eq!(listed(&moderator, &format!("{by}&{about}")).await, std::slice::from_ref(&first));
    for filter in [&by, &about, &format!("{by}&{about}")] {
        assert_eq!(listed(&moderator, &format!("resolved=1&{filter}")).await, std::slice::from_ref(&done));
    }
    assert!(listed(&moderator, "account_id=1").await.is_empty());
    let page = moderator.get(&format!("{PATH}?limit=1&max_id={third}")).send().await;
    assert_eq!(ids(&page.json()), std::slice::from_ref(&second));
    assert!(page.header("link").contains(&format!("limit=1&max_id={second}>; rel=\"next\"")), "{page:?}");
    assert_eq!(listed(&moderator, &format!("limit=1&min_id={first}")).await, [second]);
    moderator.get(&format!("{PATH}?account_id=x")).fails(422).await;
}

#[tokio::test]
async fn pages_of_admin_reports_cost_the_same_for_many_as_for_few() {
    let (app, moderator, people) = open().await;
    let [alice, bob, carol] = &people;
    let report_all = async |count: usize| {
        for _ in 0..count {
            for (by, about) in [(alice, bob), (bob, carol), (carol, alice)] {
                let status = about.publish("hello").await;
                let id = report(by, about, json!({ "status_ids": [status["id"]] })).await;
                change(&moderator, &id, "assign_to_self").await;
            }
        }
    };
    let cost = async || {
        app.known(&moderator).await;
        app.app.caches.statuses.clear();
        app.app.caches.accounts.clear();
        app.app.caches.heads.clear();
        app.cost(moderator.get(PATH).ok()).await
    };
    report_all(1).await;
    app.run_jobs().await;
    let (few, page) = cost().await;
    assert_eq!(page.as_array().unwrap().len(), 3);
    report_all(4).await;
    app.run_jobs().await;
    let (many, page) = cost().await;
    assert_eq!(page.as_array().unwrap().len(), 15);
    assert_eq!(few, many);
    assert!(many <= 16, "{many}");
}

#[tokio::test]
async fn report_category_and_rules_are_changed_together() {
    let (app, moderator, [alice, bob, _]) = open().await;
    app.run(&["rule", "add", "Be kind"]).await.ok();
    app.app.reload().await.unwrap();
    let rule = app.anonymous().get("/api/v1/instance/rules").ok().await[0]["id"].clone();
    let id = report(&alice, &bob, json!({})).await;
    let path = format!("{PATH}/{id}");
    let put = async |body: Value| {
        app.tick();
        let shown = moderator.put(&path).json(&body).ok().await;
        contract::check("Admin_Report", &shown);
        (shown["category"].as_str().unwrap().to_owned(), shown["rules"].as_array().unwrap().len())
    };
    assert!(moderator.put(&path).json(&json!({ "rule_ids": [rule] })).fails(422).await.contains("category violation"));
    let both = json!({ "category": "spam", "rule_ids": [rule] });
    moderator.put(&path).json(&both).fails(422).await;
    let unknown = json!({ "category": "violation", "rule_ids": [rule, "1"] });
    assert!(moderator.put(&path).json(&unknown).fails(422).await.contains("valid rules: 1"));
    moderator.put(&path).json(&json!({ "category": "rude" })).fails(422).await;
    assert_eq!(put(json!({})).await, ("other".to_owned(), 0));
    assert_eq!(logged(&app).await.len(), 0, "nothing changed");
    assert_eq!(put(json!({ "category": "violation", "rule_ids": [rule, rule] })).await, ("violation".to_owned(), 1));
    assert_eq!(put(json!({ "category": "violation" })).await, ("violation".to_owned(), 1), "rules stay");
    let shown = show(&moderator, &id).await;
    assert!(shown["updated_at"].as_str() > shown["created_at"].as_str(), "{shown}");
    let patched = moderator.patch(&path).json(&json!({ "category": "legal" })).ok().await;
    assert_eq!((&patched["category"], &patched["rules"]), (&json!("legal"), &json!([])), "only violations have rules");
    assert_eq!(logged(&app).await, ["moderator report.update", "moderator report.update"]);
    moderator.put(&format!("{PATH}/1")).json(&json!({ "category": "legal" })).fails(404).await;
}

#[tokio::test]
async fn report_is_assigned_resolved_and_reopened() {
    let (app, moderator, [alice, bob, _]) = open().await;
    let id = report(&alice, &bob, json!({})).await;
    let assigned = change(&moderator, &id, "assign_to_self").await;
    assert_eq!(assigned["assigned_account"]["username"], "moderator");
    change(&moderator, &id, "assign_to_self").await;
    assert_eq!(change(&moderator, &id, "unassign").await["assigned_account"], json!(null));
    let resolved = change(&moderator, &id, "resolve").await;
    assert_eq!(resolved["action_taken"], true);
    assert_eq!(resolved["action_taken_by_account"]["username"], "moderator");
    assert_eq!(resolved["action_taken_at"], resolved["updated_at"]);
    assert_eq!(change(&moderator, &id, "resolve").await["action_taken_at"], resolved["action_taken_at"]);
    let open = change(&moderator, &id, "reopen").await;
    assert_eq!(
        (&open["action_taken"], &open["action_taken_at"], &open["action_taken_by_account"]),
        (&json!(false), &json!(null), &json!(null))
    );
    let expected = ["assign", "unassign", "resolve", "reopen"].map(|verb| format!("moderator report.{verb}"));
    assert_eq!(logged(&app).await, expected, "what changes nothing is not logged");
    for verb in ["assign_to_self", "unassign", "resolve", "reopen"] {
        moderator.post(&format!("{PATH}/1/{verb}")).fails(404).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_concurrent_resolutions_change_report_once() {
    let (app, moderator, [alice, bob, _]) = open().await;
    let id = report(&alice, &bob, json!({})).await;
    let path = format!("{PATH}/{id}/resolve");
    let running = join_all((0..8).map(|_| tokio::spawn(moderator.post(&path).send()))).await;
    assert!(running.into_iter().all(|answer| answer.unwrap().status == 200));
    assert_eq!(logged(&app).await, ["moderator report.resolve"]);
}

#[tokio::test]
async fn report_notes_are_written_listed_and_deleted() {
    let (app, moderator, [alice, bob, _]) = open().await;
    let other = app.staff("other", "Moderator").await;
    let admin = app.staff("admin", "Admin").await;
    let (id, second) = (report(&alice, &bob, json!({})).await, report(&alice, &bob, json!({})).await);
    let path = format!("{PATH}/{id}/notes");
    let add = async |staff: &Client, text: &str| {
        app.tick();
        let note = staff.post(&path).json(&json!({ "text": text })).ok().await;
        contract::check("Admin_ReportNote", &note);
        note
    };
    let first = add(&moderator, " Asked bob. ").await;
    assert_eq!((&first["text"], &first["account"]["username"]), (&json!("Asked bob."), &json!("moderator")));
    let answer = add(&admin, &"é".repeat(2_000)).await;
    for text in [json!(""), json!(" \n"), json!(null), json!("é".repeat(2_001)), json!(["a", "b"])] {
        moderator.post(&path).json(&json!({ "text": text })).fails(422).await;
    }
    let all = moderator.get(&path).ok().await;
    contract::check("Admin_ReportNote[]", &all);
    assert_eq!(ids(&all), [&answer, &first].map(|note| note["id"].as_str().unwrap()), "newest first");
    assert_eq!((&all[1]["text"], &all[1]["account"]["username"]), (&json!("Asked bob."), &json!("moderator")));
    let page = moderator.get(&format!("{path}?limit=1")).send().await;
    assert_eq!(page.json()[0]["id"], answer["id"]);
    assert_eq!(page.json()[1], json!(null));
    assert!(page.header("link").contains("max_id="), "{page:?}");
    assert_eq!(moderator.get(&format!("{PATH}/{second}/notes")).ok().await, json!([]));
    moderator.get(&format!("{PATH}/1/notes")).fails(404).await;
    moderator.post(&format!("{PATH}/1/notes")).json(&json!({ "text": "a" })).fails(404).await;

    let note = |note: &Value| format!("{path}/{}", note["id"].as_str().unwrap());
    let elsewhere = format!("{PATH}/{second}/notes/{}", first["id"].as_str().unwrap());
    moderator.delete(&elsewhere).fails(404).await;
    assert!(other.delete(&note(&first)).fails(403).await.contains("@moderator"), "an equal role");
    moderator.delete(&note(&answer)).fails(403).await;
    admin.delete(&note(&first)).ok().await;
    admin.delete(&note(&answer)).ok().await;
    admin.delete(&note(&answer)).fails(404).await;
    let expected = ["moderator report.add_note", "admin report.add_note", "admin report.delete_note"];
    assert_eq!(logged(&app).await[..3], expected);
    assert_eq!(app.count("report_notes").await, 0);
}

#[tokio::test]
async fn admin_reports_need_permission_and_scope() {
    let (app, moderator, [alice, bob, _]) = open().await;
    let id = report(&alice, &bob, json!({})).await;
    let wrong_scope = moderator.with_scopes("read write admin:read:accounts admin:write:accounts").await;
    let (reads, path) =
        ([PATH.to_owned(), format!("{PATH}/{id}"), format!("{PATH}/{id}/notes")], format!("{PATH}/{id}"));
    for client in [&alice, &wrong_scope, &app.anonymous(), &app.application("admin:read admin:write").await] {
        for read in &reads {
            client.get(read).fails(403).await;
        }
        client.put(&path).json(&json!({})).fails(403).await;
        for verb in ["assign_to_self", "unassign", "resolve", "reopen", "notes"] {
            client.post(&format!("{path}/{verb}")).fails(403).await;
        }
        client.delete(&format!("{path}/notes/1")).fails(403).await;
    }
    let reader = moderator.with_scopes("admin:read:reports").await;
    reader.get(&path).ok().await;
    reader.post(&format!("{path}/resolve")).fails(403).await;
    moderator.with_scopes("admin:write:reports").await.post(&format!("{path}/resolve")).ok().await;
}

#[tokio::test]
async fn commands_assign_categorise_and_annotate_reports() {
    let (app, moderator, [alice, bob, _]) = open().await;
    let id = report(&alice, &bob, json!({})).await;
    let run = async |arguments: &[&str]| app.run(&[&["report"], arguments].concat()).await;
    assert!(run(&["assign", &id, "moderator"]).await.ok().contains("now assigned to @moderator"));
    assert_eq!(run(&["assign", &id, "@moderator", "--json"]).await.json()[0]["changed"], false);
    assert!(run(&["assign", &id, "alice"]).await.fails(1).contains("no role that manages reports"));
    assert!(run(&["assign", &id, "nobody"]).await.fails(1).contains("no account"));
    assert_eq!(show(&moderator, &id).await["assigned_account"]["username"], "moderator");
    assert!(run(&["category", &id, "violation", "--rule", "1"]).await.fails(1).contains("valid rules"));
    assert!(run(&["category", &id, "rude"]).await.err.contains("violation"));
    assert!(run(&["category", &id, "spam"]).await.ok().contains("of the category spam"));
    let note = run(&["note", &id, "\u{1b}[2Jasked bob", "--json"]).await.json();
    assert_eq!(note[0]["text"], "\u{1b}[2Jasked bob");
    assert!(run(&["note", &id, " "]).await.fails(1).contains("blank"));
    let shown = run(&["show", &id]).await.ok();
    assert!(shown.contains("Assigned to: @moderator") && shown.ends_with("\n [2Jasked bob"), "{shown}");
    assert_eq!(run(&["show", &id, "--json"]).await.json()[0]["notes"], json!(note));
    assert!(run(&["unassign", &id]).await.ok().contains("now assigned to nobody"));
    for arguments in [&["unassign", "1"][..], &["note", "1", "a"], &["category", "1", "spam"], &["assign", "1", "bob"]]
    {
        assert!(run(arguments).await.fails(1).contains("there is no report 1"), "{arguments:?}");
    }
    let expected = ["assign", "update", "add_note", "unassign"].map(|verb| format!("operator report.{verb}"));
    assert_eq!(logged(&app).await, expected);
}

#[tokio::test]
async fn staff_switches_notifications_of_reports_off_and_on() {
    let (app, moderator, [alice, bob, _]) = open().await;
    let browser = Browser::signed_in(&app, "moderator").await;
    let save = async |staff: &[&str]| {
        let page = browser.get("/settings/preferences").await;
        assert!(page.text().contains("name=\"staff_notifications[]\""), "{}", page.text());
        let fields: Vec<(&str, &str)> = staff.iter().map(|kind| ("staff_notifications[]", *kind)).collect();
        let csrf = form_fields(&page.text(), "/settings/preferences").into_iter().find(|(name, _)| name == "csrf");
        let csrf = csrf.unwrap().1;
        let own = [("csrf", csrf.as_str()), ("searchability", "direct"), ("quote_policy", "public")];
        assert_eq!(browser.post("/settings/preferences", &[&own[..], &fields].concat()).await.status, 302);
    };
    let count = async || notifications::index(&moderator, "?types[]=admin.report").await.len();
    report(&alice, &bob, json!({})).await;
    assert_eq!(count().await, 1, "on by default");
    save(&["admin.sign_up"]).await;
    report(&alice, &bob, json!({})).await;
    assert_eq!(count().await, 1);
    save(&["admin.sign_up", "admin.report"]).await;
    report(&alice, &bob, json!({})).await;
    assert_eq!(count().await, 2);
    app.account("plain").await;
    let plain = Browser::signed_in(&app, "plain").await.get("/settings/preferences").await;
    assert!(!plain.text().contains("staff_notifications"), "only for staff");
}
