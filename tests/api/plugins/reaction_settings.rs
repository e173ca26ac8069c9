//! Configuration and settings of the group `emoji_reactions`: options of admins and authors, and a server without the
//! group.

use plugins::{admin, life};
use serde_json::{Value, json};

use super::emoji_reactions::{GROUP, path, react, seen, show, shown, unreact};
use super::groups::{capabilities, served, switch_off};
use crate::harness::{Browser, TestApp, form_fields};

#[tokio::test]
async fn disabled_reactions_are_kept() {
    let app = served(GROUP).await;
    let instance = app.anonymous().get("/api/v2/instance").ok().await;
    assert_eq!(instance["configuration"]["emoji_reactions"]["max_reactions_per_account"], 3);
    assert_eq!(instance["configuration"]["reactions"], json!({"max_reactions": 3}));
    let names = capabilities(&app).await;
    assert!(names.contains(&"emoji_reaction".to_owned()) && names.contains(&"enable_wide_emoji_reaction".to_owned()));
    assert!(announced(&app).await);
    let alice = app.account("alice").await;
    let status = alice.publish("hello").await;
    assert_eq!(status["account"]["server_features"]["emoji_reaction"], true);
    react(&alice, &status, "👍").ok().await;

    configure(&app, json!({"enable_emoji_reaction": false})).await;
    react(&alice, &status, "🎉").fails(422).await;
    let off = show(&alice, &status).await;
    assert_eq!((shown(&off), &off["account"]["server_features"]["emoji_reaction"]), (String::new(), &json!(false)));
    assert_eq!(off["account"]["other_settings"]["emoji_reaction_policy"], "block");
    assert_eq!(alice.get(&path(&status, "emoji_reactioned_by")).ok().await, json!([]));
    let instance = app.anonymous().get("/api/v2/instance").ok().await;
    let limits = &instance["configuration"];
    assert_eq!((limits.get("emoji_reactions"), limits.get("reactions")), (None, None));
    let names = capabilities(&app).await;
    assert!(!names.iter().any(|name| name.contains("emoji_reaction")), "{names:?}");
    assert!(!announced(&app).await);

    configure(&app, json!({"enable_emoji_reaction": true})).await;
    assert_eq!(seen(&alice, &status).await, "👍 1*");
    assert!(announced(&app).await);
}

/// Whether NodeInfo names reactions.
async fn announced(app: &TestApp) -> bool {
    let features = app.anonymous().get("/nodeinfo/2.0").ok().await["metadata"]["features"].clone();
    features.as_array().expect("a list").contains(&json!("emoji_reaction"))
}

/// Sets members of the plugin's configuration, while it serves.
async fn configure(app: &TestApp, members: Value) {
    admin::configure(&app.plugins(), &model::Staff::operator(), GROUP, members.as_object().unwrap().clone())
        .await
        .unwrap();
    life::follow(&app.plugins()).await;
}

#[tokio::test]
async fn disabled_group_is_absent() {
    let app = served(GROUP).await;
    let alice = app.account("alice").await;
    let status = alice.publish("hello").await;
    react(&alice, &status, "👍").ok().await;
    switch_off(&app, GROUP).await;
    let status = show(&alice, &status).await;
    for member in ["emoji_reactions", "emoji_reactions_count", "reactions"] {
        assert_eq!(status.get(member), None);
    }
    assert_eq!(status["account"]["server_features"]["emoji_reaction"], false);
    assert_eq!(status["account"]["other_settings"].get("emoji_reaction_policy"), None);
    react(&alice, &status, "👍").fails(404).await;
    unreact(&alice, &status, "👍").fails(404).await;
    alice.get("/api/v1/emoji_reactions").fails(404).await;
    let names = capabilities(&app).await;
    assert!(!names.contains(&"emoji_reaction".to_owned()) && !names.contains(&"enable_wide_emoji_reaction".to_owned()));
}

#[tokio::test]
async fn settings_page_selects_who_may_react() {
    let app = served(GROUP).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = alice.publish("hello").await;
    let browser = Browser::signed_in(&app, "alice").await;
    let page = browser.get("/settings/extensions").await;
    assert_eq!(page.status, 200);
    let form = "/settings/extensions/emoji_reactions";
    let fields = form_fields(&page.text(), form);
    assert!(!fields.is_empty(), "{}", page.text());

    let saved =
        browser.submit(&page, form, &[("emoji_reaction_policy", "block"), ("enable_emoji_reaction", "1")]).await;
    assert_eq!((saved.status.as_u16(), saved.header("location")), (302, "/settings/extensions"));
    react(&bob, &status, "👍").fails(422).await;
    let account = bob.get(&format!("/api/v1/accounts/{}", alice.id())).ok().await;
    assert_eq!(account["other_settings"]["emoji_reaction_policy"], "block");
    let again = browser.get("/settings/extensions").await;
    assert!(again.text().contains("<option value=\"block\" selected>"), "{}", again.text());

    for (language, texts) in [
        ("en", ["Who may react to your posts", "Followers that you follow back"]),
        ("de", ["Wer auf deine Beiträge reagieren darf", "<option value=\"allow\">Alle</option>"]),
        ("ja", ["あなたの投稿にリアクションできる人", "相互フォロー"]),
    ] {
        app.set_locale(language).await;
        let page = browser.get("/settings/extensions").await.text();
        assert!(texts.iter().all(|text| page.contains(text)), "{language}: {page}");
    }
    app.set_locale("en").await;

    let refused = browser.submit(&again, form, &[("emoji_reaction_policy", "nobody")]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("emoji_reaction_policy"), "{}", refused.text());
    let hidden: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(browser.post("/settings/extensions/no_such", &hidden).await.status, 404);
    switch_off(&app, GROUP).await;
    assert!(!browser.get("/settings/extensions").await.text().contains("emoji_reaction_policy"));
}
