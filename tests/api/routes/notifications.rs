//! <https://docs.joinmastodon.org/methods/notifications/>

use chrono::Duration;
use context::change::Change;
use context::extension::Notice;
use database::Engine;
use model::{NotificationType as Type, StatusId};
use serde_json::{Value, json};
use service::notification;

use crate::harness::{Client, TestApp};
use crate::platform::contract;

/// Sends notices as a use case does; returns the number of notifications that are emitted to the rest of the server.
pub async fn notify(app: &TestApp, notices: &[Notice]) -> usize {
    let mut events = app.app.live.subscribe();
    let mut tx = app.db().begin().await.unwrap();
    let made = notification::notify(&app.app, &mut tx, notices).await.unwrap();
    assert!(events.try_recv().is_err(), "nothing is emitted before the commit");
    tx.commit().await.unwrap();
    let told = std::iter::from_fn(|| events.try_recv().ok()).map(|event| match &*event {
        Change::Notified { made } => made.len(),
        _ => 1,
    });
    let told = told.sum();
    assert_eq!(made, told);
    told
}

/// A notice with a new activity.
pub fn notice(app: &TestApp, kind: Type, from: &Client, receiver: &Client, status: Option<StatusId>) -> Notice {
    app.tick();
    Notice { receiver: receiver.id(), from: from.id(), kind: kind.into(), activity: app.app.ids.next(), status }
}

/// A status of `author`.
pub async fn status(author: &Client, visibility: &str) -> StatusId {
    author.publish_to(visibility, "x").await.number().into()
}

pub fn now(app: &TestApp) -> String {
    time(app, Duration::zero())
}

/// A time, `later` than now, as an SQL expression of the engine.
fn time(app: &TestApp, later: Duration) -> String {
    let time = app.app.clock.now() + later;
    match app.db().engine() {
        Engine::Sqlite => time.timestamp_micros().to_string(),
        Engine::Postgres => format!("'{}'", time.to_api()),
    }
}

pub async fn index(client: &Client, query: &str) -> Vec<Value> {
    let page = client.get(&format!("/api/v1/notifications{query}")).ok().await;
    contract::check("Notification[]", &page);
    page.as_array().unwrap().clone()
}

pub fn ids(page: &[Value]) -> Vec<&str> {
    page.iter().map(|notification| notification["id"].as_str().unwrap()).collect()
}

pub fn types(page: &[Value]) -> Vec<&str> {
    page.iter().map(|notification| notification["type"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn malformed_account_id_matches_no_notification() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    for id in ["nonsense", "99999999999999999999", "0"] {
        let page = alice.get(&format!("/api/v1/notifications?account_id={id}")).ok().await;
        assert_eq!(page, serde_json::json!([]), "{id}");
    }
}

#[tokio::test]
async fn every_type_shows_its_account_and_status() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let own = status(&alice, "public").await;
    let theirs = status(&bob, "public").await;
    let notices = [
        notice(&app, Type::Follow, &bob, &alice, None),
        notice(&app, Type::FollowRequest, &bob, &alice, None),
        notice(&app, Type::Favourite, &bob, &alice, Some(own)),
        notice(&app, Type::Reblog, &bob, &alice, Some(own)),
        notice(&app, Type::Mention, &bob, &alice, Some(theirs)),
        notice(&app, Type::Status, &bob, &alice, Some(theirs)),
        notice(&app, Type::Update, &bob, &alice, Some(theirs)),
        notice(&app, Type::Poll, &alice, &alice, Some(own)),
        notice(&app, Type::AdminSignUp, &bob, &alice, None),
    ];

    assert_eq!(notify(&app, &notices).await, notices.len());

    let page = index(&alice, "").await;
    let expected =
        ["admin.sign_up", "poll", "update", "status", "mention", "reblog", "favourite", "follow_request", "follow"];
    assert_eq!(types(&page), expected);
    assert_eq!(page[1]["account"]["acct"], "alice");
    assert_eq!(page[2]["status"]["id"], theirs.to_string());
    assert_eq!(page[2]["account"]["acct"], "bob");
    assert_eq!(page[5]["status"]["id"], own.to_string());
    assert_eq!(page[8].get("status"), None);
    assert_eq!(index(&bob, "").await, Vec::<Value>::new());
}

#[tokio::test]
async fn favourites_and_follows_group_by_the_hour_of_the_first() {
    let app = TestApp::new().await;
    let [alice, bob, carol, dave] = app.accounts(["alice", "bob", "carol", "dave"]).await;
    let own = status(&alice, "public").await;
    let hour = app.app.clock.now().timestamp() / 3600;

    notify(
        &app,
        &[notice(&app, Type::Favourite, &bob, &alice, Some(own)), notice(&app, Type::Follow, &bob, &alice, None)],
    )
    .await;
    app.app.clock.advance(Duration::hours(11));
    notify(&app, &[notice(&app, Type::Favourite, &carol, &alice, Some(own))]).await;
    notify(&app, &[notice(&app, Type::Reblog, &carol, &alice, Some(own))]).await;
    app.app.clock.advance(Duration::hours(1));
    notify(&app, &[notice(&app, Type::Favourite, &dave, &alice, Some(own))]).await;
    notify(&app, &[notice(&app, Type::Mention, &dave, &alice, Some(own))]).await;

    let page = index(&alice, "").await;
    let keys: Vec<&str> = page.iter().map(|notification| notification["group_key"].as_str().unwrap()).collect();
    let first = format!("favourite-{own}-{hour}");
    assert_eq!(keys[0], format!("ungrouped-{}", ids(&page)[0]));
    assert_eq!(keys[1], format!("favourite-{own}-{}", hour + 12));
    assert_eq!(keys[2], format!("reblog-{own}-{}", hour + 11));
    assert_eq!(keys[3], first);
    assert_eq!(keys[4], format!("follow-{hour}"));
    assert_eq!(keys[5], first);
}

#[tokio::test]
async fn notification_of_self_or_twice_is_dropped() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let own = status(&alice, "public").await;
    let favourite = notice(&app, Type::Favourite, &bob, &alice, Some(own));

    assert_eq!(notify(&app, &[notice(&app, Type::Favourite, &alice, &alice, Some(own))]).await, 0);
    assert_eq!(notify(&app, &[favourite.clone(), favourite.clone()]).await, 1);
    assert_eq!(notify(&app, &[favourite]).await, 0);

    assert_eq!(index(&alice, "").await.len(), 1);
}

#[tokio::test]
async fn newer_update_notification_replaces_older() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let theirs = status(&bob, "public").await;
    let update = Notice { activity: theirs.into(), ..notice(&app, Type::Update, &bob, &alice, Some(theirs)) };
    let both = [update.clone(), Notice { receiver: carol.id(), ..update.clone() }];
    notify(&app, &both).await;
    let before = index(&alice, "").await;
    app.tick();

    assert_eq!(notify(&app, &both).await, 2);

    let after = index(&alice, "").await;
    assert_eq!(after.len(), 1);
    assert_ne!(ids(&before), ids(&after));
    assert_eq!(index(&carol, "").await.len(), 1);
}

#[tokio::test]
async fn blocks_mutes_and_muted_threads_do_not_notify() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let own = status(&alice, "public").await;
    let heard = async || {
        let batch =
            [notice(&app, Type::Favourite, &bob, &alice, Some(own)), notice(&app, Type::Follow, &bob, &alice, None)];
        notify(&app, &batch).await
    };
    assert_eq!(heard().await, 2);

    for (one, other) in [(&alice, &bob), (&bob, &alice)] {
        one.block(other).ok().await;
        assert_eq!(heard().await, 0);
        one.unblock(other).ok().await;
    }

    alice.mute(&bob).json(&json!({ "notifications": false })).ok().await;
    assert_eq!(heard().await, 2);
    alice.mute(&bob).ok().await;
    assert_eq!(heard().await, 0);
    alice.mute(&bob).json(&json!({ "duration": 3600 })).ok().await;
    assert_eq!(heard().await, 0);
    app.app.clock.advance(Duration::hours(2));
    assert_eq!(heard().await, 2);

    alice.mute_conversation(&own).ok().await;
    assert_eq!(heard().await, 1);
}

#[tokio::test]
async fn blocked_domain_notifies_only_when_followed() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    app.set_account(&bob, "domain = 'remote.test'").await;
    app.execute(&format!("DELETE FROM users WHERE account_id = {}", bob.id())).await;
    let heard = async || notify(&app, &[notice(&app, Type::FollowRequest, &bob, &alice, None)]).await;
    assert_eq!(heard().await, 1);

    alice.post("/api/v1/domain_blocks").json(&json!({ "domain": "remote.test" })).ok().await;
    assert_eq!(heard().await, 0);
    // Blocking ended every follow, so this follow was created in between.
    let follow = format!(
        "INSERT INTO follows (id, account_id, target_account_id, created_at, show_reblogs, notify)
         VALUES (1, {}, {}, {}, TRUE, FALSE)",
        alice.id(),
        bob.id(),
        now(&app)
    );
    app.execute(&follow).await;
    assert_eq!(heard().await, 1);

    assert_eq!(notify(&app, &[notice(&app, Type::Follow, &alice, &bob, None)]).await, 0, "bob is remote now");
}

#[tokio::test]
async fn notification_needs_access_to_its_status() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let heard = async || notify(&app, &[notice(&app, Type::Follow, &bob, &alice, None)]).await;
    for (table, key, column) in [("accounts", "id", "suspended_at"), ("accounts", "id", "memorial")] {
        let value = if column == "memorial" { "TRUE".to_owned() } else { now(&app) };
        app.execute(&format!("UPDATE {table} SET {column} = {value} WHERE {key} = {}", alice.id())).await;
        assert_eq!(heard().await, 0, "{column}");
        let value = if column == "memorial" { "FALSE" } else { "NULL" };
        app.execute(&format!("UPDATE {table} SET {column} = {value} WHERE {key} = {}", alice.id())).await;
    }
    app.unapprove(&alice).await;
    assert_eq!(heard().await, 0);
    app.set_user(&alice, "approved = TRUE, confirmed_at = NULL").await;
    assert_eq!(heard().await, 0);
    app.suspend(&bob).await;
    app.execute(&format!("UPDATE users SET confirmed_at = {} WHERE account_id = {}", now(&app), alice.id())).await;
    assert_eq!(heard().await, 0);
}

#[tokio::test]
async fn mention_among_blocked_accounts_does_not_notify() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let theirs = status(&bob, "public").await;
    for (id, person) in [(1, &alice), (2, &carol)] {
        let text = format!(
            "INSERT INTO mentions (id, status_id, account_id, silent) VALUES ({id}, {theirs}, {}, FALSE)",
            person.id()
        );
        app.execute(&text).await;
    }
    alice.block(&carol).ok().await;
    let both = async || {
        let told = [&alice, &carol].map(|person| notice(&app, Type::Mention, &bob, person, Some(theirs)));
        notify(&app, &told).await
    };

    assert_eq!(both().await, 1, "carol blocks nobody");
    app.execute(&format!("UPDATE statuses SET in_reply_to_account_id = {} WHERE id = {theirs}", carol.id())).await;
    app.execute(&format!("DELETE FROM mentions WHERE account_id = {}", carol.id())).await;
    assert_eq!(both().await, 1, "an answer to carol");
    alice.unblock(&carol).ok().await;
    assert_eq!(both().await, 2);
}

#[tokio::test]
async fn moderators_notify_accounts_that_block_them() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let theirs = status(&bob, "public").await;
    alice.block(&bob).ok().await;
    let heard = async || notify(&app, &[notice(&app, Type::Mention, &bob, &alice, Some(theirs))]).await;
    assert_eq!(heard().await, 0);

    app.make(&bob, "Moderator").await;
    assert_eq!(heard().await, 1);
    app.make(&alice, "Admin").await;
    assert_eq!(heard().await, 0, "alice stands above bob");
}

#[tokio::test]
async fn notifications_by_limited_accounts_are_hidden_until_requested() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let own = status(&alice, "public").await;
    app.limit(&bob).await;

    assert_eq!(
        notify(&app, &[notice(&app, Type::Favourite, &bob, &alice, Some(own))]).await,
        0,
        "no account is disturbed"
    );

    assert!(index(&alice, "").await.is_empty());
    assert_eq!(alice.get("/api/v1/notifications/unread_count").ok().await["count"], 0);
    let held = index(&alice, "?include_filtered=true").await;
    assert_eq!(held[0]["filtered"], true);
    assert_eq!(held[0]["group_key"], format!("ungrouped-{}", ids(&held)[0]));
    assert_eq!(index(&alice, &format!("?account_id={}", bob.id())).await, held);

    alice.follow(&bob).ok().await;
    assert_eq!(notify(&app, &[notice(&app, Type::Favourite, &bob, &alice, Some(own))]).await, 1);
    assert_eq!(index(&alice, "").await[0].get("filtered"), None);
}

#[tokio::test]
async fn undone_action_removes_its_notification() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let own = status(&alice, "public").await;
    let favourite = notice(&app, Type::Favourite, &bob, &alice, Some(own));
    let reblog = Notice { kind: Type::Reblog.into(), ..favourite.clone() };
    notify(&app, &[favourite.clone(), reblog, notice(&app, Type::Follow, &carol, &alice, None)]).await;

    let mut tx = app.db().begin().await.unwrap();
    notification::retract(&mut tx, Type::Favourite, favourite.activity).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(types(&index(&alice, "").await), ["follow", "reblog"]);

    let mut tx = app.db().begin().await.unwrap();
    notification::retract_from(&mut tx, alice.id(), carol.id()).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(types(&index(&alice, "").await), ["reblog"]);
    alice.delete_status(&own).ok().await;
    assert!(index(&alice, "").await.is_empty(), "notifications are deleted with their status");
}

#[tokio::test]
async fn notification_of_hidden_status_is_excluded() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let theirs = status(&bob, "private").await;
    alice.follow(&bob).ok().await;
    let batch =
        [notice(&app, Type::Status, &bob, &alice, Some(theirs)), notice(&app, Type::Follow, &carol, &alice, None)];
    notify(&app, &batch).await;
    let page = index(&alice, "").await;
    let [follow, post] = [ids(&page)[0], ids(&page)[1]];

    alice.unfollow(&bob).ok().await;
    assert_eq!(types(&index(&alice, "").await), ["follow"]);
    alice.get(&format!("/api/v1/notifications/{post}")).fails(404).await;

    app.suspend(&carol).await;
    assert!(index(&alice, "").await.is_empty());
    alice.get(&format!("/api/v1/notifications/{follow}")).fails(404).await;
}

/// Alice is notified of five follows, each by a different account, and of two favourites by the first of these.
pub async fn seven(app: &TestApp) -> (Client, Client) {
    let alice = app.account("alice").await;
    let own = status(&alice, "public").await;
    let [bob, carol, dave, erin, frank] = app.accounts(["bob", "carol", "dave", "erin", "frank"]).await;
    for person in [&bob, &carol, &dave, &erin, &frank] {
        notify(app, &[notice(app, Type::Follow, person, &alice, None)]).await;
    }
    for _ in 0..2 {
        notify(app, &[notice(app, Type::Favourite, &bob, &alice, Some(own))]).await;
    }
    (alice, bob)
}

#[tokio::test]
async fn pages_link_to_their_neighbours_both_ways() {
    let app = TestApp::new().await;
    let (alice, _) = seven(&app).await;
    let all = index(&alice, "").await;

    let first = alice.get("/api/v1/notifications?limit=3&exclude_types[]=poll").send().await;
    let link = first.header("link").to_owned();
    assert_eq!(first.json().as_array().unwrap()[..], all[..3]);
    let url = "https://example.test/api/v1/notifications?limit=3&exclude_types%5B%5D=poll";
    let expected =
        format!("<{url}&max_id={}>; rel=\"next\", <{url}&min_id={}>; rel=\"prev\"", ids(&all)[2], ids(&all)[0]);
    assert_eq!(link, expected);

    assert_eq!(index(&alice, &format!("?limit=3&max_id={}", ids(&all)[2])).await[..], all[3..6]);
    assert_eq!(index(&alice, &format!("?limit=3&min_id={}", ids(&all)[5])).await[..], all[2..5]);
    assert_eq!(index(&alice, &format!("?limit=3&since_id={}", ids(&all)[5])).await[..], all[..3]);
    let last = alice.get(&format!("/api/v1/notifications?max_id={}", ids(&all)[5])).send().await;
    assert!(last.header("link").contains("rel=\"next\""), "also on the last page");
    let beyond = alice.get(&format!("/api/v1/notifications?max_id={}", ids(&all)[6])).send().await;
    assert_eq!((beyond.text(), beyond.header("link").to_owned()), ("[]".to_owned(), String::new()));
    assert!(index(&alice, "?limit=0").await.is_empty());
    assert!(index(&alice, "?limit=all").await.is_empty());
    alice.get("/api/v1/notifications?max_id=x").fails(400).await;
}

#[tokio::test]
async fn filters_pick_types_and_senders() {
    let app = TestApp::new().await;
    let (alice, bob) = seven(&app).await;
    let all = index(&alice, "").await;

    assert_eq!(index(&alice, "?types[]=favourite").await[..], all[..2]);
    assert_eq!(index(&alice, "?types[]=favourite&types[]=favourite&types[]=nonsense").await[..], all[..2]);
    assert_eq!(index(&alice, "?types[]=favourite&types[]=follow&limit=4").await[..], all[..4]);
    assert_eq!(
        index(&alice, &format!("?types[]=favourite&types[]=follow&limit=4&min_id={}", ids(&all)[5])).await[..],
        all[1..5]
    );
    assert!(index(&alice, "?types[]=nonsense").await.is_empty());
    assert_eq!(index(&alice, "?types[]=").await, all);
    assert_eq!(index(&alice, "?exclude_types[]=favourite&exclude_types[]=nonsense").await[..], all[2..]);
    assert!(index(&alice, "?types[]=follow&exclude_types[]=follow").await.is_empty());
    let from_bob = index(&alice, &format!("?account_id={}", bob.id())).await;
    assert_eq!(types(&from_bob), ["favourite", "favourite", "follow"]);
    assert_eq!(index(&alice, &format!("?account_id={}&types[]=follow", bob.id())).await[..], from_bob[2..]);
    assert!(index(&alice, "?account_id=1").await.is_empty());
}

#[tokio::test]
async fn notifications_above_the_marker_are_unread() {
    let app = TestApp::new().await;
    let (alice, bob) = seven(&app).await;
    let all = index(&alice, "").await;
    let count = async |query: &str| {
        let answer = alice.get(&format!("/api/v1/notifications/unread_count{query}")).ok().await;
        contract::check("UnreadCount", &answer);
        answer["count"].as_i64().unwrap()
    };
    assert_eq!(count("").await, 7);
    assert_eq!(count("?limit=3").await, 3);
    assert_eq!(count("?types[]=follow").await, 5);
    assert_eq!(count("?exclude_types[]=follow").await, 2);
    assert_eq!(count("?types[]=nonsense").await, 0);
    assert_eq!(count(&format!("?account_id={}", bob.id())).await, 3);

    let marker = json!({ "notifications": { "last_read_id": ids(&all)[4] } });
    alice.post("/api/v1/markers").json(&marker).ok().await;
    assert_eq!(count("").await, 4);
    assert_eq!(count("?types[]=follow").await, 2);
}

#[tokio::test]
async fn notification_is_shown_and_dismissed_by_owner_only() {
    let app = TestApp::new().await;
    let (alice, bob) = seven(&app).await;
    let all = index(&alice, "").await;
    let path = format!("/api/v1/notifications/{}", ids(&all)[0]);
    let shown = alice.get(&path).ok().await;
    contract::check("Notification", &shown);
    assert_eq!(shown, all[0]);

    bob.get(&path).fails(404).await;
    bob.post(&format!("{path}/dismiss")).fails(404).await;
    bob.post("/api/v1/notifications/clear").ok().await;
    assert_eq!(index(&alice, "").await.len(), 7);

    assert_eq!(alice.post(&format!("{path}/dismiss")).ok().await, json!({}));
    alice.post(&format!("{path}/dismiss")).fails(404).await;
    assert_eq!(index(&alice, "").await[..], all[1..]);
    assert_eq!(alice.post("/api/v1/notifications/clear").ok().await, json!({}));
    assert!(index(&alice, "").await.is_empty());
    alice.get("/api/v1/notifications/nonsense").fails(404).await;
    alice.post("/api/v1/notifications/99999999999999999999/dismiss").fails(404).await;
}

#[tokio::test]
async fn types_that_a_client_does_not_list_come_in_words() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    bob.update_profile(json!({ "display_name": "Bob <b>" })).ok().await;
    let own = status(&alice, "public").await;
    notify(&app, &[notice(&app, Type::Favourite, &bob, &alice, Some(own))]).await;
    notify(&app, &[notice(&app, Type::Follow, &bob, &alice, None)]).await;

    let plain = index(&alice, "").await;
    assert!(plain.iter().all(|one| one.get("fallback").is_none()), "only on request");
    let listed = index(&alice, "?supported_types[]=follow").await;
    assert_eq!(listed[0].get("fallback"), None, "the client knows this type");
    let words = &listed[1]["fallback"];
    assert_eq!(words["title"], "Bob &lt;b&gt; marked your post as a favourite");
    assert!(words["summary"].is_string(), "{words}");
    assert!(index(&alice, "?supported_types[]=").await.iter().all(|one| one["fallback"].is_object()));

    app.set_locale("de").await;
    let one = format!("/api/v1/notifications/{}", ids(&listed)[1]);
    let title = async |path: &str, at: &str| alice.get(path).ok().await.pointer(at).cloned();
    let of_one = title(&format!("{one}?supported_types[]=follow"), "/fallback/title").await.unwrap();
    assert_ne!(of_one, words["title"], "in the language of the account");
    assert_eq!(title(&one, "/fallback").await, None);

    let group = "/api/v2/notifications?supported_types[]=follow";
    assert_eq!(title(group, "/notification_groups/0/fallback").await, None);
    assert_eq!(title(group, "/notification_groups/1/fallback/title").await, Some(of_one.clone()));
    let page = alice.get(group).ok().await;
    contract::check("GroupedNotificationsResults", &page);
    let key = page["notification_groups"][1]["group_key"].as_str().unwrap().to_owned();
    let shown = format!("/api/v2/notifications/{key}?supported_types[]=follow");
    assert_eq!(title(&shown, "/notification_groups/0/fallback/title").await, Some(of_one));
    assert_eq!(title("/api/v2/notifications", "/notification_groups/1/fallback").await, None);
}

#[tokio::test]
async fn reading_and_removing_need_their_scopes() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let reader = alice.with_scopes("read:notifications").await;
    let writer = alice.with_scopes("write:notifications").await;
    for path in ["/api/v1/notifications", "/api/v1/notifications/unread_count"] {
        reader.get(path).ok().await;
        writer.get(path).fails(403).await;
        app.anonymous().get(path).fails(401).await;
        app.application("read").await.get(path).fails(422).await;
    }
    writer.post("/api/v1/notifications/clear").ok().await;
    reader.post("/api/v1/notifications/clear").fails(403).await;
    reader.get("/api/v1/notifications/1").fails(404).await;
    writer.get("/api/v1/notifications/1").fails(403).await;
    reader.post("/api/v1/notifications/1/dismiss").fails(403).await;
}

#[tokio::test]
async fn notification_pages_cost_same_at_any_length() {
    let app = TestApp::new().await;
    let (alice, bob) = seven(&app).await;
    let theirs = status(&bob, "public").await;
    notify(&app, &[notice(&app, Type::Mention, &bob, &alice, Some(theirs))]).await;
    let cost = async |query: &str| app.cost(index(&alice, query)).await.0;
    app.known(&alice).await;
    cost("").await;

    assert_eq!(cost("?limit=2").await, cost("").await);
    let reread = app.reread_cost();
    assert_eq!(
        cost("").await,
        reread + 1 + reread + 1,
        "the token, the page, its statuses, the viewer's marks on them"
    );
}
