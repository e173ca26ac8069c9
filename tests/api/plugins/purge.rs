//! Account data in the groups: exported, and deleted with the account (acceptance check 32).

use database::db::Engine;
use model::AccountId;
use plugins::admin;
use serde_json::{Value, json};
use store::plugin_event::{self, NewEvent};

use super::groups::{served, settle, switch_on};
use crate::harness::{TestApp, id};
use crate::jobs::removal::remove;

async fn kept(app: &TestApp, account: AccountId) -> Value {
    store::plugin_data::export_account(app.db(), account).await.unwrap()
}

#[tokio::test]
async fn plugin_data_is_deleted_with_its_account() {
    let app = served("reaction_deck").await;
    for group in ["bookmark_categories", "emoji_reactions", "antennas"] {
        switch_on(&app, group).await;
    }
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    bob.follow(&alice).ok().await;
    let (hers, his) = (alice.publish("hers").await, bob.publish("his").await);
    let mut antennas = Vec::new();
    for person in [&alice, &bob] {
        person.post("/api/v1/reaction_deck").json(&json!({"emojis": ["👍"]})).ok().await;
        let category = person.post("/api/v1/bookmark_categories").json(&json!({"title": "Rooks"})).ok().await;
        let filing = format!("/api/v1/bookmark_categories/{}/statuses", id(&category));
        person.post(&filing).json(&json!({"status_ids": [id(&hers), id(&his)]})).ok().await;
        for status in [&hers, &his] {
            person.put(&format!("/api/v1/statuses/{}/emoji_reactions/%F0%9F%91%8D", id(status))).ok().await;
        }
        let antenna = person.post("/api/v1/antennas").json(&json!({"title": "Hers"})).ok().await;
        let accounts = format!("/api/v1/antennas/{}/accounts", id(&antenna));
        person.post(&accounts).json(&json!({"account_ids": [alice.id().to_string()]})).ok().await;
        antennas.push(id(&antenna).to_owned());
    }
    settle(&app).await;
    let given = kept(&app, alice.id()).await;
    for group in ["reaction_deck", "bookmark_categories", "emoji_reactions", "antennas"] {
        let tables = given[group].as_object().unwrap_or_else(|| panic!("{group}: {given}"));
        assert!(tables.values().any(|rows| !rows.as_array().unwrap().is_empty()), "{group}: {tables:?}");
    }
    let of_bob = kept(&app, bob.id()).await;

    let caught = |antenna: String| {
        let feed = format!("SELECT COUNT(*) FROM feed_entries WHERE kind >= 100 AND owner_id = {antenna}");
        let app = &app;
        async move { app.number(&feed).await }
    };
    let [hers_catches, his_catches] = [0, 1].map(|n: usize| antennas[n].clone());
    let timeline = format!("/api/v1/timelines/antenna/{his_catches}");
    alice.publish("caught by both").await;
    settle(&app).await;
    assert!(caught(hers_catches.clone()).await >= 1, "her antenna catches herself");
    assert_ne!(bob.get(&timeline).ok().await, json!([]), "and his her");
    app.suspend(&alice).await;
    settle(&app).await;
    app.unsuspend(&alice).await;
    assert_eq!(kept(&app, alice.id()).await, given, "a restored account has all data");

    remove(&app, "alice").await;
    settle(&app).await;
    assert_eq!(caught(hers_catches).await, 0, "her feed is gone");
    assert_eq!(bob.get(&timeline).ok().await, json!([]), "and nothing of hers is left in his");
    let left = kept(&app, alice.id()).await;
    for (group, tables) in left.as_object().unwrap() {
        for (table, rows) in tables.as_object().unwrap() {
            assert_eq!(rows, &json!([]), "{group}.{table}");
        }
    }
    let now = bob.status(&his).ok().await;
    assert_eq!(now["emoji_reactions_count"], 1, "bob's own is left");
    let categories = bob.get("/api/v1/bookmark_categories").ok().await;
    let filing = format!("/api/v1/bookmark_categories/{}/statuses", id(&categories[0]));
    assert_eq!(bob.get(&filing).ok().await.as_array().unwrap().len(), 1, "her data is deleted");
    let antennas = bob.get("/api/v1/antennas").ok().await;
    let accounts = format!("/api/v1/antennas/{}/accounts", id(&antennas[0]));
    assert_eq!(bob.get(&accounts).ok().await, json!([]), "antennas no longer look for her");
    assert_ne!(kept(&app, bob.id()).await, json!({}), "and bob keeps his: {of_bob}");
}

/// Rows that a plugin writes when it receives, after an account was removed, events about its earlier actions.
#[tokio::test]
async fn late_events_of_removed_account_are_purged() {
    let app = served("reaction_deck").await;
    let alice = app.account("alice").await;
    settle(&app).await;
    let plugin = app.plugins().plugins.latest().find("reaction_deck").unwrap().id;
    let event = NewEvent {
        plugin,
        stream: "events",
        shard: 0,
        kind: "account.updated",
        actor: None,
        subject: None,
        payload: None,
        origin: None,
    };
    let mut tx = app.db().begin().await.unwrap();
    plugin_event::insert(&mut tx, vec![event], app.app.clock.now()).await.unwrap();
    tx.commit().await.unwrap();
    app.tick();
    remove(&app, "alice").await;
    settle(&app).await;
    let decks = |kept: Value| kept["reaction_deck"]["decks"].as_array().unwrap().len();
    assert_eq!(decks(kept(&app, alice.id()).await), 0);

    // The plugin processes the event.
    let table = match app.db().engine() {
        Engine::Sqlite => "p_reaction_deck__decks",
        Engine::Postgres => "p_reaction_deck.decks",
    };
    let insert = format!("INSERT INTO {table} VALUES ({}, '[]')", alice.id());
    let looking = async || {
        let jobs = "SELECT COUNT(*) FROM jobs WHERE kind = 'forget_account'";
        app.number(jobs).await
    };
    app.execute(&insert).await;
    app.app.clock.advance(chrono::Duration::minutes(1));
    settle(&app).await;
    assert_eq!((decks(kept(&app, alice.id()).await), looking().await), (0, 1), "there may be more");

    // Rows written after it is enabled again are purged too, as long as events are stored for it.
    admin::disable(&app.plugins(), &model::Staff::operator(), "reaction_deck").await.unwrap();
    app.app.clock.advance(chrono::Duration::minutes(2));
    settle(&app).await;
    app.execute(&insert).await;
    app.app.clock.advance(chrono::Duration::minutes(4));
    settle(&app).await;
    assert_eq!((decks(kept(&app, alice.id()).await), looking().await), (0, 1));
    app.execute("DELETE FROM plugin_events").await;
    app.app.clock.advance(chrono::Duration::minutes(8));
    settle(&app).await;
    assert_eq!(looking().await, 0);
}
