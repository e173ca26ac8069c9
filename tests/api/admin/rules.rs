//! Translations of the rules: an addition of this server to the admin API.

use model::Staff;
use serde_json::json;

use crate::harness::{Browser, TestApp};
use crate::platform::contract;

#[tokio::test]
async fn translated_rule_is_shown_in_the_language_of_its_reader() {
    let app = TestApp::new().await;
    app.set("registrations_mode", "open").await;
    let admin = app.staff("admin", "Admin").await;
    let id = service::rule::add(&app.app, &Staff::operator(), "Be kind", "To all").await.unwrap();
    let path = format!("/api/v1/admin/rules/{id}/translations");
    let german = json!({ "language": "de", "text": "Sei nett", "hint": "Zu allen" });
    let changed = admin.put(&path).json(&german).ok().await;
    contract::check("Rule", &changed);
    admin.put(&path).json(&json!({ "language": "fr-FR", "text": "Soyez gentils" })).ok().await;

    for (document, rules) in
        [("/api/v1/instance/rules", ""), ("/api/v2/instance", "/rules"), ("/api/v1/instance", "/rules")]
    {
        let shown = app.anonymous().get(document).ok().await;
        let rule = &shown.pointer(rules).unwrap()[0];
        assert_eq!(rule["text"], "Be kind", "{document}");
        let expected = json!({
            "de": { "text": "Sei nett", "hint": "Zu allen" },
            "fr": { "text": "Soyez gentils", "hint": "" },
        });
        assert_eq!(rule["translations"], expected, "{document}");
    }
    for page in ["/about", "/", "/auth/sign_up"] {
        let german = Browser::preferring(&app, "de").get(page).await.text();
        assert!(german.contains("Sei nett") && german.contains("Zu allen") && !german.contains("Be kind"), "{page}");
        let japanese = Browser::preferring(&app, "ja").get(page).await.text();
        assert!(japanese.contains("Be kind") && japanese.contains("To all"), "{page}: not translated");
    }
    let without = admin.put(&path).json(&json!({ "language": "de", "text": " " })).ok().await;
    assert_eq!(without["translations"], json!({ "fr": { "text": "Soyez gentils", "hint": "" } }));
}

#[tokio::test]
async fn bad_translations_are_refused() {
    let app = TestApp::new().await;
    let admin = app.staff("admin", "Admin").await;
    let id = service::rule::add(&app.app, &Staff::operator(), "Be kind", "").await.unwrap();
    let path = format!("/api/v1/admin/rules/{id}/translations");
    let long = "x".repeat(301);
    for body in [
        json!({ "text": "x" }),
        json!({ "language": "klingon!", "text": "x" }),
        json!({ "language": "de", "text": long }),
        json!({ "language": "de", "text": "x", "hint": "x".repeat(2_001) }),
    ] {
        admin.put(&path).json(&body).fails(422).await;
    }
    admin.put("/api/v1/admin/rules/1/translations").json(&json!({ "language": "de", "text": "x" })).fails(404).await;
    let moderator = app.staff("moderator", "Moderator").await;
    moderator.put(&path).json(&json!({ "language": "de", "text": "x" })).fails(403).await;
}

#[tokio::test]
async fn command_translates_rules() {
    let app = TestApp::new().await;
    let id = app.run(&["rule", "add", "Be kind", "--json"]).await.json()[0]["id"].as_str().unwrap().to_owned();
    app.run(&["rule", "translate", &id, "de", "Sei nett"]).await.ok();
    let listed = app.run(&["rule", "list", "--json"]).await.json();
    assert_eq!(listed[0][0]["languages"], json!(["de"]));
    assert!(app.run(&["rule", "translate", "1", "de", "Sei nett"]).await.fails(1).contains("no rule 1"));
    assert!(app.run(&["rule", "translate", &id, "xx", "x"]).await.fails(1).contains("not a language"));
}
