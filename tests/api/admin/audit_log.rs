//! `GET /api/v1/admin/audit_log`, an addition of this server.

use serde_json::json;
use service::audit::{self, Entry, Target};

use crate::harness::TestApp;
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
