//! `/api/v1/admin/warning_presets` and `rookery warning-preset`, additions of this server.

use serde_json::{Value, json};

use crate::harness::{Client, TestApp, ids};
use crate::platform::contract;

const PATH: &str = "/api/v1/admin/warning_presets";

async fn add(staff: &Client, title: &str, text: &str) -> Value {
    staff.server.tick();
    let preset = staff.post(PATH).json(&json!({ "title": title, "text": text })).ok().await;
    contract::check("Admin_WarningPreset", &preset);
    preset
}

#[tokio::test]
async fn warning_preset_is_added_listed_used_and_removed() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let moderator = app.staff("moderator", "Moderator").await;
    let first = add(&moderator, " Be kind ", "Please be kind.").await;
    assert_eq!((&first["title"], &first["text"]), (&json!("Be kind"), &json!("Please be kind.")));
    let second = add(&moderator, "Spam", "No advertising.").await;
    let listed = moderator.get(PATH).ok().await;
    contract::check("Admin_WarningPreset[]", &listed);
    assert_eq!(listed, json!([second, first]));
    let page = moderator.get(&format!("{PATH}?limit=1")).send().await;
    assert_eq!(page.json(), json!([second]));
    assert!(page.header("link").contains("max_id="), "{page:?}");

    let action = json!({ "type": "none", "warning_preset_id": first["id"], "text": "Really." });
    moderator.post(&format!("/api/v1/admin/accounts/{}/action", alice.id())).json(&action).ok().await;
    let strikes = store::warning::list_of(app.db(), alice.id(), 20).await.unwrap();
    assert_eq!(strikes[0].text, "Please be kind.\n\nReally.");
    let path = format!("{PATH}/{}", first["id"].as_str().unwrap());
    moderator.delete(&path).ok().await;
    moderator.delete(&path).fails(404).await;
    assert_eq!(ids(&moderator.get(PATH).ok().await), ids(&json!([second])));
    let presets = "SELECT COUNT(*) FROM audit_log WHERE target_kind = 'warning_preset' AND actor_name = 'moderator'";
    assert_eq!(app.number(presets).await, 3);
}

#[tokio::test]
async fn warning_preset_is_checked_and_needs_permission() {
    let app = TestApp::new().await;
    let moderator = app.staff("moderator", "Moderator").await;
    for (title, text) in [("", "a"), ("a", " "), (&*"é".repeat(201), "a"), ("a", &*"é".repeat(5_001))] {
        moderator.post(PATH).json(&json!({ "title": title, "text": text })).fails(422).await;
    }
    moderator.post(PATH).json(&json!({ "title": ["a"], "text": "b" })).fails(422).await;
    let alice = app.account("alice").await;
    let wrong_scope = moderator.with_scopes("read write admin:read:reports admin:write:reports").await;
    for client in [&alice, &wrong_scope, &app.anonymous()] {
        client.get(PATH).fails(403).await;
        client.post(PATH).json(&json!({ "title": "a", "text": "b" })).fails(403).await;
        client.delete(&format!("{PATH}/1")).fails(403).await;
    }
    assert_eq!(app.count("warning_presets").await, 0);
}

#[tokio::test]
async fn command_adds_lists_and_removes_warning_presets() {
    let app = TestApp::new().await;
    let run = async |arguments: &[&str]| app.run(&[&["warning-preset"], arguments].concat()).await;
    let added = run(&["add", "Spam", "No advertising.", "--json"]).await.json();
    let id = added[0]["id"].as_str().unwrap();
    assert_eq!(run(&["list", "--json"]).await.json(), [json!(added)]);
    assert!(run(&["list"]).await.ok().contains("Spam"));
    assert!(run(&["add", " ", "text"]).await.fails(1).contains("blank"));
    run(&["remove", id]).await.ok();
    assert!(run(&["remove", id]).await.fails(1).contains("there is no preset"));
}
