//! `rookery settings`: typed, bounded, and noticed by a running server.

use crate::harness::TestApp;

#[tokio::test]
async fn setting_changed_by_command_is_noticed() {
    let app = TestApp::new().await;
    assert_eq!(app.run(&["settings", "get", "max_characters"]).await.ok(), "500");

    assert_eq!(app.run(&["settings", "set", "max_characters", "1000"]).await.ok(), "1000");

    assert!(app.app.reload().await.unwrap());
    assert_eq!(app.app.settings().max_characters, 1000);
    assert!(!app.app.reload().await.unwrap());
    let listed = app.run(&["settings", "list", "--json"]).await.json();
    let setting = listed[0].as_array().unwrap().iter().find(|setting| setting["key"] == "max_characters").unwrap();
    assert_eq!((&setting["value"], &setting["default"]), (&1000.into(), &500.into()));
}

#[tokio::test]
async fn invalid_setting_is_refused_with_bounds() {
    let app = TestApp::new().await;
    app.account("alice").await;
    for (key, value, hint) in [
        ("max_characters", "0", "from 1 to 100000"),
        ("max_characters", "many", "from 1 to 100000"),
        ("trends", "maybe", "true or false"),
        ("registrations_mode", "closed", "none, approved, open"),
        ("contact_email", "nobody", "e-mail"),
        ("contact_username", "nobody", "no account"),
        ("compat.nodeinfo_name", "Mastodon!", "small letters"),
        ("privacy_policy_updated_at", "2026-01-01", "the server sets it"),
        ("registration_mode", "open", "did you mean registrations_mode?"),
    ] {
        let said = app.run(&["settings", "set", key, value]).await.fails(1);
        assert!(said.contains(hint), "{key} = {value}: {said}");
    }
    app.run(&["settings", "set", "contact_username", "@alice"]).await.ok();
    assert!(app.app.reload().await.unwrap());
    assert_eq!(app.app.settings().contact_username, "alice");
}

#[tokio::test]
async fn long_setting_is_read_from_stdin() {
    let app = TestApp::new().await;
    app.run_with(&["settings", "set", "privacy_policy", "-"], "# We keep\nlittle.\n").await.ok();
    app.app.reload().await.unwrap();
    let settings = app.app.settings();
    assert_eq!(settings.privacy_policy, "# We keep\nlittle.");
    assert_ne!(settings.privacy_policy_updated_at, "2022-10-07T00:00:00Z");
    assert!(settings.privacy_policy_updated_at.ends_with('Z'));
}

#[tokio::test]
async fn rules_are_appended_and_removed() {
    let app = TestApp::new().await;
    let first = app.run(&["rule", "add", "Be kind", "--hint", "To everyone.", "--json"]).await.json();
    app.run(&["rule", "add", "Be quiet"]).await.ok();
    assert!(app.run(&["rule", "add", " "]).await.fails(1).contains("1 to 300"));

    app.app.reload().await.unwrap();
    let rules = app.anonymous().get("/api/v1/instance/rules").ok().await;
    assert_eq!((&rules[0]["text"], &rules[0]["hint"]), (&"Be kind".into(), &"To everyone.".into()));
    assert_eq!(rules[1]["text"], "Be quiet");

    let id = first[0]["id"].as_str().unwrap();
    app.run(&["rule", "remove", id]).await.ok();
    assert!(app.run(&["rule", "remove", id]).await.fails(1).contains(id));
    app.app.reload().await.unwrap();
    assert_eq!(app.anonymous().get("/api/v1/instance/rules").ok().await.as_array().unwrap().len(), 1);
}
