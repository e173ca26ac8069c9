//! The group `circles`: `plugins/circles`. Posting to them is in [`circle_posts`](super::circle_posts).

use axum::http::Method;
use model::AccountId;
use serde_json::{Value, json};

use super::collections::belong_to_owner;
use super::groups::{capabilities, import_emojis, served, settle, switch_off};
use crate::harness::{Browser, Client, TestApp, account_path, id, ids};
use crate::jobs::removal::remove;
use crate::platform::contract;
use crate::seed::Seed;

pub const CIRCLES: &str = "/api/v1/circles";

pub async fn create(person: &Client, title: &str) -> Value {
    person.post(CIRCLES).form(&[("title", title)]).ok().await
}

pub fn path(circle: &Value, rest: &str) -> String {
    format!("{CIRCLES}/{}{rest}", id(circle))
}

pub async fn add(owner: &Client, circle: &Value, members: &[&Client]) {
    let ids: Vec<String> = members.iter().map(|member| member.id().to_string()).collect();
    let added = owner.post(&path(circle, "/accounts")).json(&json!({ "account_ids": ids })).ok().await;
    assert_eq!(added, json!({}));
}

/// A circle of `owner` with these members, who follow the owner.
pub async fn circle_of(owner: &Client, title: &str, members: &[&Client]) -> Value {
    let circle = create(owner, title).await;
    for member in members {
        member.follow(&owner).ok().await;
    }
    add(owner, &circle, members).await;
    circle
}

/// Names of the members of a circle, as returned to its owner.
pub async fn members(owner: &Client, circle: &Value) -> Vec<String> {
    let accounts = owner.get(&path(circle, "/accounts")).ok().await;
    contract::check("Account[]", &accounts);
    let mut names: Vec<String> =
        accounts.as_array().unwrap().iter().map(|account| account["acct"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

async fn holding(owner: &Client, member: &Client) -> Value {
    owner.get(&format!("/api/v1/accounts/{}/circles", member.id())).ok().await
}

/// Number of rows of the plugin's table in the export of `owner`.
async fn kept(app: &TestApp, owner: AccountId, table: &str) -> usize {
    let all = store::plugin_data::export_account(app.db(), owner).await.unwrap();
    all["circles"][table].as_array().unwrap().len()
}

#[tokio::test]
async fn only_followers_become_members_all_or_none() {
    let app = served("circles").await;
    let [alice, bob, carol, dave] = app.accounts(["alice", "bob", "carol", "dave"]).await;
    let rooks = circle_of(&alice, "Rooks", &[]).await;
    for member in [&bob, &carol] {
        member.follow(&alice).ok().await;
    }
    alice.follow(&dave).ok().await;
    let place = path(&rooks, "/accounts");
    let own = alice.id().to_string();
    let follower = bob.id().to_string();
    for (other, status) in [
        (dave.id().to_string(), 404),
        ("1".to_owned(), 404),
        ("no id".to_owned(), 404),
        (own, 422),
        (follower.clone(), 422),
    ] {
        alice.post(&place).json(&json!({ "account_ids": [follower, other] })).fails(status).await;
    }
    assert_eq!(members(&alice, &rooks).await, [""; 0], "none was added");
    assert_eq!(alice.post(&place).ok().await, json!({}), "no account to add");

    let form = [("account_ids[]", follower.as_str()), ("account_ids[]", &carol.id().to_string())];
    alice.post(&place).form(&form).ok().await;
    assert_eq!(members(&alice, &rooks).await, ["bob", "carol"]);
    alice.post(&place).form(&form).fails(422).await;
    let held = holding(&alice, &bob).await;
    contract::check("Circle[]", &held);
    assert_eq!(held, json!([rooks]));
    assert_eq!((holding(&alice, &dave).await, holding(&bob, &bob).await), (json!([]), json!([])));
    alice.get("/api/v1/accounts/1/circles").fails(404).await;

    let query = format!("{place}?account_ids[]={follower}&account_ids[]={}&account_ids[]=1", dave.id());
    assert_eq!(alice.delete(&query).ok().await, json!({}));
    assert_eq!(members(&alice, &rooks).await, ["carol"]);
    alice.delete(&place).json(&json!({ "account_ids": [carol.id()] })).ok().await;
    assert_eq!(members(&alice, &rooks).await, [""; 0]);
}

#[tokio::test]
async fn membership_ends_with_its_follow() {
    let app = served("circles").await;
    let [alice, bob, carol, dave, erin] = app.accounts(["alice", "bob", "carol", "dave", "erin"]).await;
    let rooks = circle_of(&alice, "Rooks", &[&bob, &carol, &dave, &erin]).await;
    circle_of(&bob, "Of bob", &[&alice]).await;
    bob.unfollow(&alice).ok().await;
    assert_eq!(members(&alice, &rooks).await, ["carol", "dave", "erin"], "immediately");
    bob.follow(&alice).ok().await;
    assert_eq!(members(&alice, &rooks).await, ["carol", "dave", "erin"], "a new follow does not restore membership");
    settle(&app).await;
    assert_eq!(kept(&app, alice.id(), "members").await, 3);
    add(&alice, &rooks, &[&bob]).await;

    carol.block(&alice).ok().await;
    alice.post(&account_path(&dave, "/remove_from_followers")).ok().await;
    settle(&app).await;
    assert_eq!(members(&alice, &rooks).await, ["bob", "erin"]);
    assert_eq!(kept(&app, bob.id(), "members").await, 1, "others stay");

    app.suspend(&erin).await;
    assert_eq!(members(&alice, &rooks).await, ["bob"], "suspended ones are left out");
    assert_eq!(holding(&alice, &erin).await, json!([]));
    app.unsuspend(&erin).await;
    assert_eq!(members(&alice, &rooks).await, ["bob", "erin"], "and come back");
    remove(&app, "erin").await;
    settle(&app).await;
    assert_eq!((members(&alice, &rooks).await, kept(&app, alice.id(), "members").await), (vec!["bob".to_owned()], 1));
}

#[tokio::test]
async fn follow_that_ended_without_event_leaves_no_member() {
    let app = served("circles").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let rooks = circle_of(&alice, "Rooks", &[&bob]).await;
    settle(&app).await;
    switch_off(&app, "circles").await;
    bob.unfollow(&alice).ok().await;
    settle(&app).await;
    super::groups::switch_on(&app, "circles").await;
    bob.follow(&alice).ok().await;
    assert_eq!((members(&alice, &rooks).await, holding(&alice, &bob).await), (vec![], json!([])));
    add(&alice, &rooks, &[&bob]).await;
    assert_eq!(members(&alice, &rooks).await, ["bob"]);
}

#[tokio::test]
async fn members_are_paged_or_complete() {
    let app = served("circles").await;
    let alice = app.account("alice").await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let followers: Vec<i64> =
        (0..85).map(|number| seed.account(&format!("follower{number}"), Some("far.test"))).collect();
    followers.iter().for_each(|follower| seed.follow(*follower, alice.id().into()));
    seed.write(app.db()).await;
    let rooks = create(&alice, "Rooks").await;
    let sent: Vec<String> = followers.iter().map(i64::to_string).collect();
    alice.post(&path(&rooks, "/accounts")).json(&json!({ "account_ids": sent })).ok().await;
    let newest: Vec<&str> = sent.iter().rev().map(String::as_str).collect();

    let place = path(&rooks, "/accounts");
    let first = alice.get(&place).send().await;
    assert_eq!(ids(&first.json()), newest[..40]);
    let link = first.header("link").to_owned();
    assert!(link.contains(&format!("{place}?max_id={}", newest[39])), "{link}");
    assert!(link.contains(&format!("since_id={}", newest[0])), "{link}");
    assert_eq!(ids(&alice.get(&format!("{place}?limit=100")).ok().await).len(), 80);
    assert_eq!(ids(&alice.get(&format!("{place}?max_id={}&limit=80", newest[39])).ok().await), newest[40..]);
    assert_eq!(ids(&alice.get(&format!("{place}?since_id={}", newest[2])).ok().await), newest[..2]);
    let all = alice.get(&format!("{place}?limit=0")).send().await;
    assert_eq!((ids(&all.json()).len(), all.header("link")), (85, ""));
}

#[tokio::test]
async fn only_their_owner_sees_and_changes_circles() {
    let app = served("circles").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let rooks = circle_of(&alice, "Rooks", &[&bob]).await;
    let accounts = path(&rooks, "/accounts");
    let writes = [Method::POST, Method::DELETE].map(|method| (method, accounts.clone()));
    let reads = [accounts, path(&rooks, "/statuses")];
    belong_to_owner(&app, [&alice, &bob], "bookmarks", &path(&rooks, ""), &reads, &writes).await;
    let reader = alice.with_scopes("read:bookmarks").await;
    let holding = format!("/api/v1/accounts/{}/circles", bob.id());
    app.anonymous().get(&holding).fails(401).await;
    reader.get(&holding).fails(403).await;
    assert_eq!(bob.get(&holding).ok().await, json!([]));
}

#[tokio::test]
async fn server_without_group_does_not_support_circles() {
    let app = served("circles").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let rooks = circle_of(&alice, "Rooks", &[&bob]).await;
    let features = async || app.anonymous().get("/nodeinfo/2.0").ok().await["metadata"]["features"].clone();
    let announced = (json!("circle"), "kmyblue_circle_history".to_owned());
    assert!(features().await.as_array().unwrap().contains(&announced.0));
    assert!(capabilities(&app).await.contains(&announced.1));
    let read = alice.publish_to("mutual", "x").await;

    switch_off(&app, "circles").await;
    assert!(!features().await.as_array().unwrap().contains(&announced.0));
    assert!(!capabilities(&app).await.contains(&announced.1));
    alice.get(CIRCLES).fails(404).await;
    alice.get(&path(&rooks, "/statuses")).fails(404).await;
    alice.get(&format!("/api/v1/accounts/{}/circles", bob.id())).fails(404).await;
    let to_circle = |visibility: &str| json!({"status": "x", "visibility": visibility, "circle_id": rooks["id"]});
    for word in ["circle", "limited", "reply"] {
        alice.post("/api/v1/statuses").json(&to_circle(word)).fails(422).await;
    }
    let public = alice.publish(&to_circle("public")).await;
    assert_eq!((&public["visibility"], &public["limited_scope"]), (&json!("public"), &json!(null)), "ignored");
    let mut answer = to_circle("limited");
    answer["in_reply_to_id"] = read["id"].clone();
    let answer = alice.publish(&answer).await;
    assert_eq!(answer["limited_scope"], "reply", "ignored, and the thread's audience stays");
}

#[tokio::test]
async fn circles_are_deleted_with_account() {
    let app = served("circles").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let rooks = circle_of(&alice, "Rooks", &[&bob]).await;
    circle_of(&bob, "Of bob", &[&alice]).await;
    let body = json!({"status": "x", "visibility": "circle", "circle_id": rooks["id"]});
    alice.publish(&body).await;
    settle(&app).await;
    for table in ["circles", "members", "entries"] {
        assert_eq!(kept(&app, alice.id(), table).await, 1, "{table} is exported");
    }
    remove(&app, "alice").await;
    settle(&app).await;
    for table in ["circles", "members", "entries"] {
        assert_eq!(kept(&app, alice.id(), table).await, 0, "{table}");
    }
    assert_eq!((kept(&app, bob.id(), "circles").await, kept(&app, bob.id(), "members").await), (1, 0));
}

#[tokio::test]
async fn circles_and_their_members_are_managed_on_pages() {
    let app = served("circles").await;
    let [alice, bob, carol, dora] = app.accounts(["alice", "bob", "carol", "dora"]).await;
    let crows = circle_of(&alice, "Crows", &[&bob]).await;
    carol.follow(&alice).ok().await;
    settle(&app).await;
    let theirs = create(&dora, "Dora's").await;
    let browser = Browser::signed_in(&app, "alice").await;
    let page = browser.get("/circles").await;
    assert!(page.text().contains("Crows") && page.text().contains("Members: 1"), "{}", page.text());
    assert!(!page.text().contains("Dora"));
    import_emojis(&app, &["rook"]).await;
    assert_eq!(browser.submit(&page, "/circles", &[("title", "Rooks :rook: <b>")]).await.status, 302);
    let page = browser.get("/circles").await.text();
    assert!(page.contains("alt=\":rook:\"") && page.contains("&lt;b&gt;") && !page.contains("<b>"), "{page}");

    let own = format!("/circles/{}", id(&crows));
    let page = browser.get(&own).await;
    assert!(page.text().contains("@bob"), "{}", page.text());
    let csrf = crate::harness::form_fields(&page.text(), &own)[0].1.clone();
    let send = async |form: &str, item: &str, field: (&str, &str)| {
        let fields = [("csrf", csrf.as_str()), ("_form", form), field, ("_item", item)];
        browser.post(&own, if item.is_empty() { &fields[..3] } else { &fields }).await
    };
    assert_eq!(send("add", "", ("address", "@carol")).await.status, 302);
    for (stranger, why) in
        [("dora", "no follower"), ("nobody", "no follower"), ("carol", "already"), ("alice", "your own")]
    {
        let refused = send("add", "", ("address", stranger)).await;
        assert_eq!(refused.status, 422, "{stranger}");
        assert!(refused.text().contains(why), "{stranger}: {}", refused.text());
    }
    assert_eq!(members(&alice, &crows).await.len(), 2);
    assert_eq!(send("remove", &bob.id().to_string(), ("x", "")).await.status, 302);
    assert_eq!(members(&alice, &crows).await, ["carol"]);
    assert_eq!(send("rename", "", ("title", "Jays")).await.header("location"), "/circles");
    assert_eq!(browser.get(&format!("/circles/{}", id(&theirs))).await.status, 404);
    let titles: Vec<Value> = alice.get("/api/v1/circles").ok().await.as_array().unwrap().clone();
    assert_eq!((titles[0]["title"].clone(), titles[1]["title"].clone()), (json!("Jays"), json!("Rooks :rook: <b>")));
}
