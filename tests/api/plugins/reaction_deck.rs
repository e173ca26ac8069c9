//! The group `reaction_deck`: `plugins/reaction_deck`.

use serde_json::{Value, json};

use super::groups::{capabilities, execute, import_emojis, served, switch_off};
use crate::harness::{Browser, Client, TestApp};
use crate::platform::contract;

const DECK: &str = "/api/v1/reaction_deck";

async fn set(person: &Client, emojis: &[&str]) -> Value {
    person.post(DECK).json(&json!({ "emojis": emojis })).ok().await
}

/// Names on a deck, in order.
fn names(deck: &Value) -> Vec<&str> {
    deck.as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn deck_keeps_order_and_is_replaced_whole() {
    let app = served("reaction_deck").await;
    import_emojis(&app, &["rook"]).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    assert_eq!(alice.get(DECK).ok().await, json!([]), "never set");

    let deck = set(&alice, &["🎉", ":rook:", "no_such", "👍", " ", ":🎉:"]).await;
    contract::check("ReactionDeck", &deck);
    assert_eq!(names(&deck), ["🎉", "rook", "no_such", "👍", "🎉"]);
    let rook = deck[1].as_object().unwrap();
    assert_eq!(rook.keys().collect::<Vec<_>>(), ["name", "url", "static_url", "width", "height"]);
    assert_eq!((&rook["width"], &rook["height"]), (&json!(20), &json!(10)));
    assert_eq!((&deck[0], &deck[2]), (&json!({"name": "🎉"}), &json!({"name": "no_such"})));
    assert_eq!(alice.get(DECK).ok().await, deck);
    assert_eq!(bob.get(DECK).ok().await, json!([]), "everyone has their own");

    let form = alice.post(DECK).form(&[("emojis[]", "👍"), ("emojis[]", "rook")]).ok().await;
    assert_eq!(names(&form), ["👍", "rook"]);
    assert_eq!(alice.post(DECK).ok().await, json!([]), "nothing sent clears it");
    assert_eq!(alice.get(DECK).ok().await, json!([]));
}

#[tokio::test]
async fn deck_holds_256_entries() {
    let app = served("reaction_deck").await;
    let alice = app.account("alice").await;
    let many: Vec<String> = (0..300).map(|number| format!("name_{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let deck = set(&alice, &many).await;
    contract::check("ReactionDeck", &deck);
    assert_eq!(names(&deck), many[..256]);
    assert_eq!(alice.get(DECK).ok().await, deck);
}

#[tokio::test]
async fn disabled_emoji_is_left_out_of_deck() {
    let app = served("reaction_deck").await;
    import_emojis(&app, &["rook"]).await;
    let alice = app.account("alice").await;
    set(&alice, &["rook", "👍"]).await;
    disable_emoji(&app, true).await;
    assert_eq!(alice.get(DECK).ok().await, json!([{"name": "👍"}]));
    disable_emoji(&app, false).await;
    assert_eq!(names(&alice.get(DECK).ok().await), ["rook", "👍"]);
}

#[tokio::test]
async fn recreated_emoji_is_another() {
    let app = served("reaction_deck").await;
    import_emojis(&app, &["rook"]).await;
    let alice = app.account("alice").await;
    set(&alice, &["rook", "👍"]).await;
    app.run(&["emoji", "remove", "rook"]).await.ok();
    import_emojis(&app, &["rook"]).await;
    assert_eq!(alice.get(DECK).ok().await, json!([{"name": "👍"}]));
}

#[tokio::test]
async fn concurrent_updates_leave_one_deck() {
    let app = served("reaction_deck").await;
    let alice = app.account("alice").await;
    let decks = [json!({"emojis": ["👍", "🎉"]}), json!({"emojis": ["🚀", "🌲"]})];
    let answers = futures_util::future::join_all(decks.iter().map(|deck| alice.post(DECK).json(deck).send())).await;
    assert!(answers.iter().all(|answer| answer.status.as_u16() == 200));
    let deck = alice.get(DECK).ok().await;
    assert!([vec!["👍", "🎉"], vec!["🚀", "🌲"]].contains(&names(&deck)), "{deck}");
}

async fn disable_emoji(app: &TestApp, disabled: bool) {
    let disabled = if disabled { "TRUE" } else { "FALSE" };
    execute(app, &format!("UPDATE custom_emojis SET disabled = {disabled}")).await;
}

#[tokio::test]
async fn only_their_owner_reads_and_sets_a_deck() {
    let app = served("reaction_deck").await;
    let alice = app.account("alice").await;
    app.anonymous().get(DECK).fails(401).await;
    app.anonymous().post(DECK).fails(401).await;
    alice.with_scopes("read:statuses").await.get(DECK).fails(403).await;
    alice.with_scopes("read:lists").await.get(DECK).ok().await;
    alice.with_scopes("read").await.post(DECK).fails(403).await;
    alice.with_scopes("write:lists").await.post(DECK).ok().await;
    app.application("read write").await.get(DECK).fails(422).await;
    alice.post(DECK).body("application/json", b"{\"emojis\":".to_vec()).fails(400).await;
}

#[tokio::test]
async fn deck_capability_follows_plugin_state() {
    let app = served("reaction_deck").await;
    let alice = app.account("alice").await;
    let instance = app.anonymous().get("/api/v2/instance").ok().await;
    assert_eq!(instance["configuration"]["reaction_deck"], json!({"max_emojis": 256}));
    assert!(capabilities(&app).await.contains(&"kmyblue_reaction_deck".to_owned()));

    switch_off(&app, "reaction_deck").await;
    alice.get(DECK).fails(404).await;
    alice.post(DECK).fails(404).await;
    let instance = app.anonymous().get("/api/v2/instance").ok().await;
    assert_eq!(instance["configuration"].get("reaction_deck"), None);
    assert!(!capabilities(&app).await.contains(&"kmyblue_reaction_deck".to_owned()));
}

#[tokio::test]
async fn deck_is_exported_while_disabled() {
    let app = served("reaction_deck").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    set(&alice, &["👍"]).await;
    set(&bob, &["🎉"]).await;
    switch_off(&app, "reaction_deck").await;

    let kept = app.run(&["user", "export", "alice", "--json"]).await.ok();

    assert!(kept.contains("👍") && !kept.contains("🎉"), "{kept}");
    let kept: Value = serde_json::from_str(&kept).unwrap();
    assert!(kept["plugins"]["reaction_deck"]["tables"].is_object(), "{kept}");
    assert!(app.run(&["user", "export", "nobody"]).await.fails(1).contains("nobody"));
}

#[tokio::test]
async fn deck_is_chosen_on_its_page() {
    let app = served("reaction_deck").await;
    let alice = app.account("alice").await;
    set(&alice, &["👍"]).await;
    let browser = Browser::signed_in(&app, "alice").await;
    let page = browser.get("/reaction_deck").await;
    assert!(page.text().contains("👍"), "{}", page.text());
    let refused = browser.submit(&page, "/reaction_deck", &[("emojis", " 🎉  :none: ")]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("There is no such emoji here: none"), "{}", refused.text());
    assert_eq!(browser.submit(&page, "/reaction_deck", &[("emojis", " 🎉  👀\n")]).await.status, 302);
    let deck = alice.get("/api/v1/reaction_deck").ok().await;
    let names: Vec<&str> = deck.as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["🎉", "👀"]);
    let german = Browser::preferring(&app, "de");
    assert_eq!(german.get("/reaction_deck").await.status, 302, "without a session");
}
