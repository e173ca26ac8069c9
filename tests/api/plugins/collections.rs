//! The group `collections`: `plugins/collections`.

use serde_json::{Value, json};

use super::groups::{served, settle, switch_off};
use crate::harness::{Client, id};
use crate::platform::contract;

const COLLECTIONS: &str = "/api/v1/collections";

fn path(collection: &Value, rest: &str) -> String {
    format!("{COLLECTIONS}/{}{rest}", id(&collection["collection"]))
}

async fn make_discoverable(person: &Client) -> Value {
    person.patch("/api/v1/accounts/update_credentials").form(&[("discoverable", "true")]).ok().await
}

/// A collection with these accounts.
async fn collection_of(owner: &Client, accounts: &[&Client]) -> Value {
    let ids: Vec<String> = accounts.iter().map(|account| account.id().to_string()).collect();
    let sent = json!({ "name": "Rooks", "tag_name": "birds", "discoverable": true, "account_ids": ids });
    owner.post(COLLECTIONS).json(&sent).ok().await
}

#[tokio::test]
async fn collections_match_the_contract() {
    let app = served("collections").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    contract::check("Account", &make_discoverable(&bob).await);
    let made = collection_of(&alice, &[&bob]).await;
    contract::check("WrappedCollection", &made);
    contract::check("CollectionWithAccounts", &app.anonymous().get(&path(&made, "")).ok().await);
    let changed = alice.patch(&path(&made, "")).json(&json!({ "name": "Crows" })).ok().await;
    contract::check("WrappedCollection", &changed);
    let own = alice.get(&format!("/api/v1/accounts/{}/collections", alice.id())).ok().await;
    contract::check("Collections", &own);
    assert_eq!(own["collections"], json!([changed["collection"]]));
    let with_bob = bob.get(&format!("/api/v1/accounts/{}/in_collections", bob.id())).ok().await;
    contract::check("Collections", &with_bob);
    settle(&app).await;
    let notifications = bob.get("/api/v1/notifications").ok().await;
    contract::check("Notification[]", &notifications);
    let types: Vec<&str> = notifications.as_array().unwrap().iter().map(|one| one["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["collection_update", "added_to_collection"]);
    contract::check("GroupedNotificationsResults", &bob.get("/api/v2/notifications").ok().await);

    let item = id(&made["collection"]["items"][0]);
    alice.delete(&path(&made, &format!("/items/{item}"))).ok().await;
    let again = alice.post(&path(&made, "/items")).json(&json!({ "account_id": bob.id().to_string() })).ok().await;
    contract::check("WrappedCollectionItem", &again);
}

#[tokio::test]
async fn block_and_suspension_hide_listed_accounts() {
    let app = served("collections").await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    for person in [&bob, &carol] {
        make_discoverable(person).await;
    }
    let made = collection_of(&alice, &[&bob, &carol]).await;
    bob.block(&alice).ok().await;
    settle(&app).await;
    bob.unblock(&alice).ok().await;
    let shown = alice.get(&path(&made, "")).ok().await;
    assert_eq!(shown["collection"]["item_count"], 1, "a block ends the listing for good");
    app.suspend(&carol).await;
    let shown = alice.get(&path(&made, "")).ok().await;
    assert_eq!((&shown["collection"]["items"], shown["accounts"].as_array().unwrap().len()), (&json!([]), 1));
}

#[tokio::test]
async fn accounts_lose_the_member_without_the_plugin() {
    let app = served("collections").await;
    let alice = app.account("alice").await;
    let account = format!("/api/v1/accounts/{}", alice.id());
    assert_eq!(alice.get(&account).ok().await["feature_approval"]["current_user"], "denied");
    switch_off(&app, "collections").await;
    assert!(alice.get(&account).ok().await.get("feature_approval").is_none());
}
