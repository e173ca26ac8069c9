//! The group `bookmark_categories`: `plugins/bookmark_categories`.

use axum::http::Method;
use serde_json::{Value, json};

use super::collections::belong_to_owner;
use super::groups::{capabilities, served, settle, switch_off};
use crate::harness::{Browser, Client, Published, form_fields, id, ids};
use crate::platform::contract;

const CATEGORIES: &str = "/api/v1/bookmark_categories";

async fn create(person: &Client, title: &str) -> Value {
    person.post(CATEGORIES).form(&[("title", title)]).ok().await
}

fn path(category: &Value, rest: &str) -> String {
    format!("{CATEGORIES}/{}{rest}", id(category))
}

async fn file(person: &Client, category: &Value, statuses: &[&Value]) -> Value {
    let statuses: Vec<&str> = statuses.iter().map(|status| id(status)).collect();
    person.post(&path(category, "/statuses")).json(&json!({ "status_ids": statuses })).ok().await
}

/// Ids of the statuses in a category, as returned to its owner.
async fn filed(person: &Client, category: &Value) -> Vec<String> {
    let statuses = person.get(&path(category, "/statuses")).ok().await;
    contract::check("Status[]", &statuses);
    ids(&statuses).into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn bookmarks_of_deleted_category_stay() {
    let app = served("bookmark_categories").await;
    let alice = app.account("alice").await;
    let birds = create(&alice, "Birds").await;
    let status = alice.publish("a rook").await;
    file(&alice, &birds, &[&status]).await;
    alice.delete(&path(&birds, "")).ok().await;
    assert_eq!(ids(&alice.get("/api/v1/bookmarks").ok().await), [id(&status)]);
}

#[tokio::test]
async fn filing_bookmarks_status_and_removal_keeps_bookmark() {
    let app = served("bookmark_categories").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let (birds, games) = (create(&alice, "Birds").await, create(&alice, "Games").await);
    let (old, new) = (bob.publish("old").await, bob.publish("new").await);

    assert_eq!(file(&alice, &birds, &[&new]).await, json!({}));
    file(&alice, &birds, &[&old]).await;
    file(&alice, &games, &[&old]).await;
    assert_eq!(filed(&alice, &birds).await, [id(&new), id(&old)], "by status and not by time of filing");
    assert_eq!(ids(&alice.get("/api/v1/bookmarks").ok().await).len(), 2);
    assert_eq!(alice.status(&old).ok().await["bookmarked"], true);
    let holding = alice.get(&format!("/api/v1/statuses/{}/bookmark_categories", id(&old))).ok().await;
    contract::check("BookmarkCategory[]", &holding);
    assert_eq!(holding, json!([birds, games]));
    assert_eq!(bob.get(&format!("/api/v1/statuses/{}/bookmark_categories", id(&old))).ok().await, json!([]));

    let again = json!({"status_ids": [id(&old)]});
    alice.post(&path(&birds, "/statuses")).json(&again).fails(422).await;
    let gone = alice.delete(&path(&birds, "/statuses")).json(&json!({"status_ids": [id(&old), "1"]})).ok().await;
    assert_eq!(gone, json!({}));
    let query = format!("{}?status_ids[]={}", path(&birds, "/statuses"), id(&new));
    assert_eq!(alice.delete(&query).ok().await, json!({}));
    assert_eq!((filed(&alice, &birds).await.len(), filed(&alice, &games).await.len()), (0, 1));
    assert_eq!(ids(&alice.get("/api/v1/bookmarks").ok().await).len(), 2, "bookmarks stay");
}

#[tokio::test]
async fn reblog_is_filed_as_its_original() {
    let app = served("bookmark_categories").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let birds = create(&alice, "Birds").await;
    let original = alice.publish("a rook").await;
    let reblog = bob.reblog(&original).ok().await;
    file(&alice, &birds, &[&reblog]).await;
    assert_eq!(filed(&alice, &birds).await, [id(&original)]);
    alice.post(&path(&birds, "/statuses")).json(&json!({"status_ids": [id(&original)]})).fails(422).await;
    let holding = alice.get(&format!("/api/v1/statuses/{}/bookmark_categories", id(&reblog))).ok().await;
    assert_eq!(holding, json!([birds]));
    alice.delete(&path(&birds, "/statuses")).json(&json!({"status_ids": [id(&reblog)]})).ok().await;
    assert_eq!(filed(&alice, &birds).await, [""; 0]);
}

#[tokio::test]
async fn filing_exceeds_one_batch_of_bookmarks() {
    let app = served("bookmark_categories").await;
    let alice = app.account("alice").await;
    let birds = create(&alice, "Birds").await;
    let mut statuses = Vec::new();
    for number in 0..101 {
        statuses.push(alice.publish(&format!("number {number}")).await.into_id());
    }
    alice.post(&path(&birds, "/statuses")).json(&json!({ "status_ids": statuses })).ok().await;
    let all = alice.get(&path(&birds, "/statuses?limit=0")).ok().await;
    assert_eq!(ids(&all).len(), 101);
}

#[tokio::test]
async fn filing_is_all_or_nothing() {
    let app = served("bookmark_categories").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let birds = create(&alice, "Birds").await;
    let seen = bob.publish("seen").await;
    let hidden = bob.publish_to("private", "hidden").await;
    for unknown in [id(&hidden), "1", "no id"] {
        let both = json!({"status_ids": [id(&seen), unknown]});
        alice.post(&path(&birds, "/statuses")).json(&both).fails(404).await;
    }
    let twice = json!({"status_ids": [id(&seen), id(&seen)]});
    alice.post(&path(&birds, "/statuses")).json(&twice).fails(422).await;
    assert_eq!(filed(&alice, &birds).await.len(), 0);
    assert_eq!(alice.get("/api/v1/bookmarks").ok().await, json!([]));
    assert_eq!(alice.post(&path(&birds, "/statuses")).ok().await, json!({}), "nothing to file");
}

#[tokio::test]
async fn category_statuses_are_paged_or_complete() {
    let app = served("bookmark_categories").await;
    let alice = app.account("alice").await;
    let birds = create(&alice, "Birds").await;
    let mut statuses = Vec::new();
    for number in 0..45 {
        statuses.push(alice.publish(&format!("number {number}")).await);
    }
    file(&alice, &birds, &statuses.iter().map(|status| &**status).collect::<Vec<_>>()).await;
    statuses.reverse();
    let newest: Vec<&str> = statuses.iter().map(Published::id).collect();

    let place = path(&birds, "/statuses");
    let first = alice.get(&place).send().await;
    assert_eq!(ids(&first.json()), newest[..20]);
    let link = first.header("link").to_owned();
    assert!(link.contains(&format!("{place}?max_id={}", newest[19])), "{link}");
    assert!(link.contains(&format!("since_id={}", newest[0])), "{link}");
    assert_eq!(ids(&alice.get(&format!("{place}?limit=100")).ok().await).len(), 40);
    let rest = alice.get(&format!("{place}?max_id={}&limit=40", newest[19])).ok().await;
    assert_eq!(ids(&rest), newest[20..]);
    assert_eq!(ids(&alice.get(&format!("{place}?since_id={}", newest[2])).ok().await), newest[..2]);
    let all = alice.get(&format!("{place}?limit=0")).send().await;
    assert_eq!((ids(&all.json()).len(), all.header("link")), (45, ""));
}

#[tokio::test]
async fn unbookmarked_status_leaves_categories() {
    let app = served("bookmark_categories").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let (birds, other) = (create(&alice, "Birds").await, create(&bob, "Birds of bob").await);
    let (kept, dropped, deleted) =
        (bob.publish("kept").await, bob.publish("dropped").await, bob.publish("deleted").await);
    file(&alice, &birds, &[&kept, &dropped, &deleted]).await;
    file(&bob, &other, &[&dropped]).await;

    alice.unbookmark(&dropped).ok().await;
    bob.delete_status(&deleted).ok().await;
    settle(&app).await;
    assert_eq!(filed(&alice, &birds).await, [id(&kept)]);
    assert_eq!(filed(&bob, &other).await, [id(&dropped)], "only whose bookmark it was");
    alice.bookmark(&dropped).ok().await;
    assert_eq!(filed(&alice, &birds).await, [id(&kept)], "a new bookmark is in no category");
}

#[tokio::test]
async fn hidden_status_is_not_shown() {
    let app = served("bookmark_categories").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    alice.follow(&bob).ok().await;
    let birds = create(&alice, "Birds").await;
    let private = bob.publish_to("private", "for followers").await;
    file(&alice, &birds, &[&private]).await;
    assert_eq!(filed(&alice, &birds).await, [id(&private)]);
    alice.unfollow(&bob).ok().await;
    assert_eq!(filed(&alice, &birds).await, [""; 0]);
    let holding = alice.get(&format!("/api/v1/statuses/{}/bookmark_categories", id(&private))).ok().await;
    assert_eq!(holding, json!([birds]), "the owner may still find out where it is");
    alice.get("/api/v1/statuses/1/bookmark_categories").fails(404).await;
}

#[tokio::test]
async fn only_their_owner_sees_and_changes_categories() {
    let app = served("bookmark_categories").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let birds = create(&alice, "Birds").await;
    let status = alice.publish("a rook").await;
    let statuses = path(&birds, "/statuses");
    let writes = [Method::POST, Method::DELETE].map(|method| (method, statuses.clone()));
    belong_to_owner(&app, [&alice, &bob], "bookmarks", &path(&birds, ""), &[statuses], &writes).await;
    let reader = alice.with_scopes("read:bookmarks").await;
    let holding = format!("/api/v1/statuses/{}/bookmark_categories", id(&status));
    app.anonymous().get(&holding).fails(401).await;
    reader.get(&holding).fails(403).await;
}

#[tokio::test]
async fn disabled_group_is_absent() {
    let app = served("bookmark_categories").await;
    let alice = app.account("alice").await;
    let status = alice.publish("a rook").await;
    assert!(capabilities(&app).await.contains(&"kmyblue_bookmark_category".to_owned()));

    switch_off(&app, "bookmark_categories").await;
    alice.get(CATEGORIES).fails(404).await;
    alice.post(CATEGORIES).form(&[("title", "Birds")]).fails(404).await;
    alice.get(&format!("/api/v1/statuses/{}/bookmark_categories", id(&status))).fails(404).await;
    assert!(!capabilities(&app).await.contains(&"kmyblue_bookmark_category".to_owned()));
}

#[tokio::test]
async fn filing_needs_only_the_scope_of_lists() {
    let app = served("bookmark_categories").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = bob.publish("a rook").await;
    let lists = alice.with_scopes("write:lists read:lists").await;
    let birds = create(&lists, "Birds").await;
    file(&lists, &birds, &[&status]).await;
    assert_eq!(filed(&lists, &birds).await, [id(&status)]);
    assert_eq!(ids(&alice.get("/api/v1/bookmarks").ok().await), [id(&status)], "it is bookmarked as well");
    lists.get("/api/v1/bookmarks").fails(403).await;
}

#[tokio::test]
async fn categories_are_managed_on_their_pages() {
    let app = served("bookmark_categories").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let birds = create(&alice, "Birds").await;
    let theirs = create(&bob, "Bob's").await;
    file(&alice, &birds, &[&*alice.publish("a rook").await]).await;
    let browser = Browser::signed_in(&app, "alice").await;
    let page = browser.get("/bookmark_categories").await;
    assert!(page.text().contains("Birds") && page.text().contains("1 post"), "{}", page.text());
    assert!(!page.text().contains("Bob"));
    let listed = browser.get("/settings/extensions").await.text();
    assert!(listed.contains("href=\"/bookmark_categories\""), "{listed}");

    assert_eq!(browser.submit(&page, "/bookmark_categories", &[("title", "Games")]).await.status, 302);
    let blank = browser.submit(&page, "/bookmark_categories", &[("title", " ")]).await;
    assert_eq!(blank.status, 422);
    let own = format!("/bookmark_categories/{}", id(&birds));
    let page = browser.get(&own).await;
    assert_eq!(browser.submit(&page, &own, &[("title", "Crows")]).await.header("location"), "/bookmark_categories");
    assert_eq!(browser.get(&format!("/bookmark_categories/{}", id(&theirs))).await.status, 404);

    let page = browser.get("/bookmark_categories").await;
    let csrf = form_fields(&page.text(), "/bookmark_categories")[0].1.clone();
    let delete = |item: String| [("csrf", csrf.clone()), ("_form", "delete".to_owned()), ("_item", item)];
    let send = async |fields: [(&str, String); 3]| {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        browser.post("/bookmark_categories", &fields).await.status.as_u16()
    };
    assert_eq!(send(delete(id(&theirs).to_owned())).await, 404, "it is not on her page");
    assert_eq!(send(delete(id(&birds).to_owned())).await, 302);
    let left = alice.get(CATEGORIES).ok().await;
    assert_eq!((left.as_array().unwrap().len(), &left[0]["title"]), (1, &json!("Games")));
}
