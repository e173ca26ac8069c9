//! <https://docs.joinmastodon.org/methods/lists/>: lists, their timelines, and their effect on the home timeline.

use chrono::Duration;
use context::queue::{self, MaintainFeeds};
use serde_json::{Value, json};

use crate::harness::{Client, TestApp};
use crate::platform::contract;
use crate::seed::{Seed, Status};

async fn create(owner: &Client, options: Value) -> String {
    let list = owner.post("/api/v1/lists").json(&options).ok().await;
    contract::check("List", &list);
    list["id"].as_str().unwrap().to_owned()
}

fn path(list: &str, rest: &str) -> String {
    format!("/api/v1/lists/{list}{rest}")
}

fn members(people: &[&Client]) -> Value {
    json!({ "account_ids": people.iter().map(|person| person.id().to_string()).collect::<Vec<_>>() })
}

async fn add(owner: &Client, list: &str, people: &[&Client]) {
    owner.post(&path(list, "/accounts")).json(&members(people)).ok().await;
}

async fn remove(owner: &Client, list: &str, people: &[&Client]) {
    owner.delete(&path(list, "/accounts")).json(&members(people)).ok().await;
}

/// Texts on a timeline, oldest first, after all pending work is done.
async fn texts(viewer: &Client, timeline: &str) -> Vec<String> {
    viewer.server.run_jobs().await;
    let page = viewer.get(&format!("/api/v1/timelines/{timeline}")).ok().await;
    let text = |status: &Value| {
        let shown = if status["reblog"].is_null() { status } else { &status["reblog"] };
        shown["content"].as_str().unwrap().replace("<p>", "").replace("</p>", "")
    };
    page.as_array().unwrap().iter().rev().map(text).collect()
}

async fn home(viewer: &Client) -> Vec<String> {
    texts(viewer, "home").await
}

async fn listed(viewer: &Client, list: &str) -> Vec<String> {
    texts(viewer, &format!("list/{list}")).await
}

#[tokio::test]
async fn lists_are_created_changed_and_deleted() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    assert_eq!(alice.get("/api/v1/lists").ok().await, json!([]));
    let made = alice.post("/api/v1/lists").json(&json!({"title": " Friends "})).ok().await;
    let mut expected = json!({
        "id": made["id"], "title": "Friends", "replies_policy": "list", "exclusive": false, "notify": false,
    });
    // Added by plugins.
    if let Some(antennas) = made.get("antennas") {
        expected["antennas"] = antennas.clone();
    }
    assert_eq!(made, expected);
    let id = made["id"].as_str().unwrap();
    let form = [("replies_policy", "followed"), ("exclusive", "1"), ("notify", "on")];
    let changed = alice.put(&path(id, "")).form(&form).ok().await;
    assert_eq!(
        [&changed["title"], &changed["replies_policy"], &changed["exclusive"], &changed["notify"]],
        [&json!("Friends"), &json!("followed"), &json!(true), &json!(true)]
    );
    let patched = alice.patch(&path(id, "")).json(&json!({"title": "Best", "exclusive": false})).ok().await;
    assert_eq!(
        (&patched["title"], &patched["exclusive"], &patched["notify"]),
        (&json!("Best"), &json!(false), &json!(true))
    );
    assert_eq!(alice.get(&path(id, "")).ok().await, patched);
    let second = create(&alice, json!({"title": "Second"})).await;
    let all = alice.get("/api/v1/lists").ok().await;
    contract::check("List[]", &all);
    assert_eq!((&all[0], &all[1]["id"]), (&patched, &json!(second)));
    assert_eq!(bob.get("/api/v1/lists").ok().await, json!([]));
    bob.delete(&path(id, "")).fails(404).await;
    assert_eq!(alice.delete(&path(id, "")).ok().await, json!({}));
    alice.get(&path(id, "")).fails(404).await;
    alice.get(&format!("/api/v1/timelines/list/{id}")).fails(404).await;
}

#[tokio::test]
async fn members_are_followed_or_requested_and_added_all_or_none() {
    let app = TestApp::core().await;
    let [alice, bob, carol, dave] = app.accounts(["alice", "bob", "carol", "dave"]).await;
    carol.update_profile(json!({"locked": true})).ok().await;
    alice.follow(&bob).ok().await;
    alice.follow(&carol).ok().await;
    let list = create(&alice, json!({"title": "Friends"})).await;
    let post = |people: &[&Client]| alice.post(&path(&list, "/accounts")).json(&members(people));
    let shown = async || {
        let page = alice.get(&path(&list, "/accounts")).ok().await;
        contract::check("Account[]", &page);
        let names = page.as_array().unwrap().iter().map(|account| account["acct"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };

    post(&[&bob, &dave]).fails(404).await;
    assert!(shown().await.is_empty(), "all or none");
    assert_eq!(post(&[&bob, &carol, &alice, &bob]).ok().await, json!({}));
    assert_eq!(shown().await, ["carol", "bob", "alice"], "a follow request suffices, and so does the own account");
    post(&[&bob]).fails(422).await;
    bob.post(&path(&list, "/accounts")).json(&members(&[&alice])).fails(404).await;
    let of_bob = alice.get(&format!("/api/v1/accounts/{}/lists", bob.id())).ok().await;
    assert_eq!(of_bob[0]["id"], json!(list));

    remove(&alice, &list, &[&bob, &dave]).await;
    assert_eq!(shown().await, ["carol", "alice"], "accounts that are not on it are ignored");
    carol.reject(&alice).ok().await;
    assert_eq!(shown().await, ["alice"]);
    add(&alice, &list, &[&bob]).await;
    alice.unfollow(&bob).ok().await;
    assert_eq!(shown().await, ["alice"]);
}

#[tokio::test]
async fn pages_of_members_are_linked_and_a_limit_of_zero_gives_all() {
    let app = TestApp::core().await;
    let [alice, bob, carol, dave] = app.accounts(["alice", "bob", "carol", "dave"]).await;
    for person in [&bob, &carol, &dave] {
        alice.follow(&person).ok().await;
    }
    let list = create(&alice, json!({"title": "Friends"})).await;
    add(&alice, &list, &[&bob, &carol, &dave]).await;
    let page = alice.get(&path(&list, "/accounts?limit=2")).send().await;
    assert_eq!(page.json().as_array().unwrap().len(), 2);
    let links = page.header("link");
    let url = format!("https://example.test{}?limit=2", path(&list, "/accounts"));
    assert!(links.contains(&format!("<{url}&max_id={}>; rel=\"next\"", carol.id())), "{links}");
    assert!(links.contains(&format!("<{url}&since_id={}>; rel=\"prev\"", dave.id())), "{links}");
    let rest = alice.get(&path(&list, &format!("/accounts?limit=2&max_id={}", carol.id()))).ok().await;
    assert_eq!(rest[0]["acct"], "bob");
    let all = alice.get(&path(&list, "/accounts?limit=0")).send().await;
    assert_eq!((all.json().as_array().unwrap().len(), all.header("link")), (3, ""));
    app.run(&["user", "suspend", "carol"]).await.ok();
    assert_eq!(alice.get(&path(&list, "/accounts?limit=0")).ok().await.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn list_timeline_has_statuses_of_members() {
    let app = TestApp::core().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    alice.follow(&bob).ok().await;
    alice.follow(&carol).ok().await;
    bob.publish("before").await;
    let list = create(&alice, json!({"title": "Friends"})).await;
    add(&alice, &list, &[&bob]).await;
    assert_eq!(listed(&alice, &list).await, ["before"], "backfilled");
    bob.publish("bob").await;
    carol.publish("carol").await;
    alice.publish("own").await;
    assert_eq!(listed(&alice, &list).await, ["before", "bob"]);
    add(&alice, &list, &[&alice]).await;
    assert_eq!(listed(&alice, &list).await, ["before", "bob", "own"]);
    alice.publish("own again").await;
    assert_eq!(listed(&alice, &list).await, ["before", "bob", "own", "own again"]);
    remove(&alice, &list, &[&alice]).await;
    assert_eq!(listed(&alice, &list).await, ["before", "bob"]);
    assert_eq!(home(&alice).await.len(), 5, "home is as it was");
    alice.mute(&bob).ok().await;
    assert!(listed(&alice, &list).await.is_empty());
    alice.unmute(&bob).ok().await;
    assert_eq!(listed(&alice, &list).await, ["before", "bob"]);
    alice.unfollow(&bob).ok().await;
    assert!(listed(&alice, &list).await.is_empty());
}

#[tokio::test]
async fn requested_member_starts_when_accepted() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    bob.update_profile(json!({"locked": true})).ok().await;
    alice.follow(&bob).ok().await;
    let list = create(&alice, json!({"title": "Friends"})).await;
    add(&alice, &list, &[&bob]).await;
    let public = json!({"status": "waiting", "visibility": "public"});
    bob.publish(&public).await;
    assert!(listed(&alice, &list).await.is_empty());
    bob.authorize(&alice).ok().await;
    assert_eq!(listed(&alice, &list).await, ["waiting"]);
}

#[tokio::test]
async fn replies_are_shown_by_the_policy_and_again_when_it_changes() {
    let app = TestApp::core().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    alice.follow(&bob).ok().await;
    alice.follow(&carol).ok().await;
    let list = create(&alice, json!({"title": "Friends"})).await;
    add(&alice, &list, &[&bob]).await;
    let question = carol.publish("question").await.into_id();
    app.tick();
    bob.reply(&question, "answer").await;
    bob.publish("plain").await;
    assert_eq!(listed(&alice, &list).await, ["plain"]);
    for (policy, shown) in
        [("followed", vec!["answer", "plain"]), ("none", vec!["plain"]), ("followed", vec!["answer", "plain"])]
    {
        alice.put(&path(&list, "")).json(&json!({"replies_policy": policy})).ok().await;
        assert_eq!(listed(&alice, &list).await, shown, "{policy}");
    }
}

#[tokio::test]
async fn exclusive_list_excludes_its_members_from_home() {
    let app = TestApp::core().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    alice.follow(&bob).ok().await;
    alice.follow(&carol).ok().await;
    let list = create(&alice, json!({"title": "Friends", "exclusive": true})).await;
    bob.publish("bob").await;
    carol.publish("carol").await;
    assert_eq!(home(&alice).await, ["bob", "carol"]);
    add(&alice, &list, &[&bob]).await;
    assert_eq!(home(&alice).await, ["carol"]);
    bob.publish("bob again").await;
    assert_eq!(home(&alice).await, ["carol"]);
    assert_eq!(listed(&alice, &list).await, ["bob", "bob again"]);
    let all = ["bob", "carol", "bob again"];
    alice.put(&path(&list, "")).json(&json!({"exclusive": false})).ok().await;
    assert_eq!(home(&alice).await, all);
    alice.put(&path(&list, "")).json(&json!({"exclusive": true})).ok().await;
    assert_eq!(home(&alice).await, ["carol"]);
    remove(&alice, &list, &[&bob]).await;
    assert_eq!(home(&alice).await, all);
    add(&alice, &list, &[&bob]).await;
    assert_eq!(home(&alice).await, ["carol"]);
    alice.delete(&path(&list, "")).ok().await;
    assert_eq!(home(&alice).await, all);

    let own = create(&alice, json!({"title": "Own", "exclusive": true})).await;
    alice.publish("mine").await;
    add(&alice, &own, &[&alice, &bob]).await;
    assert_eq!(home(&alice).await, ["carol", "mine"], "one's own stays");
    assert_eq!(listed(&alice, &own).await, ["bob", "bob again", "mine"]);
    alice.delete(&path(&own, "")).ok().await;
    app.run_jobs().await;
    let left = "SELECT COUNT(*) FROM feed_entries WHERE kind = 1";
    assert_eq!(app.db().fetch_raw::<(i64,)>(left).await.unwrap(), [(0,)]);
}

#[tokio::test]
async fn list_may_notify_of_each_new_status() {
    let app = TestApp::core().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    alice.follow(&bob).ok().await;
    alice.follow(&carol).ok().await;
    let first = create(&alice, json!({"title": "First", "notify": true})).await;
    let second = create(&alice, json!({"title": "Second", "notify": true})).await;
    let quiet = create(&alice, json!({"title": "Quiet"})).await;
    for list in [&first, &second] {
        add(&alice, list, &[&bob, &alice]).await;
    }
    add(&alice, &quiet, &[&carol]).await;
    // Statuses that fill a list for a new member do not notify.
    app.run_jobs().await;
    alice.publish("own").await;
    carol.publish("quiet").await;
    let told = bob.publish("told").await.into_id();
    app.tick();
    bob.publish_to("direct", "@alice hm").await;
    app.run_jobs().await;

    let page = alice.get("/api/v1/notifications?types[]=list_status").ok().await;
    contract::check("Notification[]", &page);
    assert_eq!(page.as_array().unwrap().len(), 1, "one per status, on any number of lists: {page}");
    assert_eq!(
        [&page[0]["type"], &page[0]["status"]["id"], &page[0]["account"]["acct"], &page[0]["list"]["id"]],
        [&json!("list_status"), &json!(told), &json!("bob"), &json!(first)]
    );
    contract::check("List", &page[0]["list"]);
    alice.delete(&path(&first, "")).ok().await;
    assert_eq!(alice.get("/api/v1/notifications?types[]=list_status").ok().await, json!([]));
}

#[tokio::test]
async fn feeds_of_lists_are_trimmed_dropped_and_rebuilt_with_home() {
    let app = TestApp::with(&[("ROOKERY_TIMELINES_HOME_LIMIT", "100")]).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    alice.follow(&bob).ok().await;
    let list = create(&alice, json!({"title": "Friends"})).await;
    add(&alice, &list, &[&bob]).await;
    app.noted().await;
    app.run_jobs().await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    for _ in 0..104 {
        let status = seed.status(&Status { author: bob.id().into(), ..Status::default() });
        seed.listed(list.parse().unwrap(), status);
    }
    seed.write(app.db()).await;
    let tend = async || {
        let mut tx = app.app.db.begin().await.unwrap();
        queue::enqueue(&app.app, &mut tx, &MaintainFeeds::begin()).await.unwrap();
        tx.commit().await.unwrap();
        app.run_jobs().await;
    };
    let entries = async || {
        let text = format!("SELECT COUNT(*) FROM feed_entries WHERE kind = 1 AND owner_id = {list}");
        app.number(&text).await
    };
    tend().await;
    assert_eq!(entries().await, 100, "trimmed");
    app.app.clock.advance(Duration::days(8));
    tend().await;
    assert_eq!(entries().await, 0, "dropped");
    assert!(listed(&alice, &list).await.is_empty(), "as home, it is built now");
    assert_eq!(listed(&alice, &list).await.len(), 20);
    assert_eq!(entries().await, 100);
}

#[tokio::test]
async fn fan_out_without_lists_costs_no_additional_statement() {
    let app = TestApp::core().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    bob.follow(&alice).ok().await;
    carol.follow(&alice).ok().await;
    app.run_jobs().await;
    let cost = async || {
        alice.publish("hello").await;
        app.cost(app.run_jobs()).await.0
    };
    let none = cost().await;
    for person in [&bob, &carol] {
        let list = create(person, json!({"title": "Friends"})).await;
        add(person, &list, &[&alice]).await;
    }
    app.run_jobs().await;
    assert!(cost().await <= none + 1, "one statement for all lists");
}
