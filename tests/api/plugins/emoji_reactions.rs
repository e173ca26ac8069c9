//! The group `emoji_reactions`: `plugins/emoji_reactions`.

use axum::http::Method;
use database::Engine;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::groups::{execute, import_emojis, served, settings, settle};
use crate::harness::{Client, RequestBuilder, TestApp, id, ids};
use crate::platform::contract;
use crate::routes::trends::refresh;

pub(super) const GROUP: &str = "emoji_reactions";

pub(super) fn path(status: &Value, rest: &str) -> String {
    format!("/api/v1/statuses/{}/{rest}", id(status))
}

/// Path of an emoji, with every byte escaped.
fn with(status: &Value, verb: &str, emoji: &str) -> String {
    path(status, &format!("{verb}/{}", utf8_percent_encode(emoji, NON_ALPHANUMERIC)))
}

pub fn react(person: &Client, status: &Value, emoji: &str) -> RequestBuilder {
    person.put(&with(status, "emoji_reactions", emoji))
}

pub(super) fn unreact(person: &Client, status: &Value, emoji: &str) -> RequestBuilder {
    person.delete(&with(status, "emoji_reactions", emoji))
}

pub(super) async fn show(viewer: &Client, status: &Value) -> Value {
    viewer.status(&status).ok().await
}

/// Reactions on a status: `👍2 rook@far.test1*`, with a star for reactions of the viewer.
pub fn shown(status: &Value) -> String {
    contract::check("Status", status);
    let groups = status["emoji_reactions"].as_array().expect("a list");
    let mut count = 0;
    let words: Vec<String> = groups
        .iter()
        .map(|group| {
            contract::check("EmojiReaction", group);
            count += group["count"].as_u64().unwrap();
            assert_eq!(group["account_ids"].as_array().unwrap().len() as u64, group["count"].as_u64().unwrap());
            let domain = group["domain"].as_str().map(|domain| format!("@{domain}")).unwrap_or_default();
            let own = if group["me"] == true { "*" } else { "" };
            format!("{}{domain} {}{own}", group["name"].as_str().unwrap(), group["count"])
        })
        .collect();
    assert_eq!(status["emoji_reactions_count"], count);
    words.join(", ")
}

/// The plugin's table of reactions.
pub fn table(app: &TestApp) -> &'static str {
    match app.db().engine() {
        Engine::Sqlite => "p_emoji_reactions__reactions",
        Engine::Postgres => "p_emoji_reactions.reactions",
    }
}

pub async fn seen(viewer: &Client, status: &Value) -> String {
    shown(&show(viewer, status).await)
}

#[tokio::test]
async fn reactions_are_counted_by_emoji_in_the_order_of_first_use() {
    let app = served(GROUP).await;
    import_emojis(&app, &["rook"]).await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let status = alice.publish("hello").await;
    assert_eq!(shown(&status), "");

    let answer = bob.post(&path(&status, "emoji_reactions")).form(&[("emoji", "🎉")]).ok().await;
    assert_eq!(shown(&answer), "🎉 1*");
    assert_eq!(shown(&react(&carol, &status, ":rook:").ok().await), "🎉 1, rook 1*");
    assert_eq!(shown(&react(&bob, &status, "rook@example.test").ok().await), "🎉 1*, rook 2*");
    assert_eq!(shown(&carol.post(&with(&status, "react", "🎉")).ok().await), "🎉 2*, rook 2*");
    assert_eq!(seen(&alice, &status).await, "🎉 2, rook 2");
    let anonymous = show(&app.anonymous(), &status).await;
    assert_eq!(shown(&anonymous), "🎉 2, rook 2");
    assert_eq!(anonymous["emoji_reactions"][0].get("me"), None);
    let rook = &show(&bob, &status).await["emoji_reactions"][1];
    assert_eq!((&rook["domain"], &rook["width"], &rook["height"]), (&json!(null), &json!(20), &json!(10)));
    assert_eq!(rook["account_ids"], json!([carol.id().to_string(), bob.id().to_string()]));

    assert_eq!(shown(&unreact(&bob, &status, ":rook:").ok().await), "🎉 2*, rook 1");
    assert_eq!(
        shown(&bob.post(&path(&status, "emoji_unreaction")).form(&[("emoji", "🎉")]).ok().await),
        "rook 1, 🎉 1"
    );
    assert_eq!(shown(&carol.post(&with(&status, "unreact", "🎉")).ok().await), "rook 1*");
    assert_eq!(shown(&unreact(&bob, &status, "👍").ok().await), "rook 1", "never reacted with it");
    let wins = format!("{}?emoji=rook", with(&status, "emoji_reactions", "👍"));
    assert_eq!(shown(&carol.delete(&wins).ok().await), "", "the parameter wins over the path");
}

#[tokio::test]
async fn all_ways_to_react_take_any_emoji_in_the_path() {
    let app = served(GROUP).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    for emoji in ["👍", "❤️", "🏳️‍🌈", "👩🏽‍🚀", "#️⃣"] {
        let status = alice.publish("hello").await;
        for (method, verb) in
            [(Method::PUT, "emoji_reactions"), (Method::PATCH, "emoji_reactions"), (Method::POST, "react")]
        {
            let answer = bob.request(method, &with(&status, verb, emoji)).ok().await;
            assert_eq!(answer["emoji_reactions"][0]["me"], true, "{emoji}");
            assert_eq!(shown(&unreact(&bob, &status, emoji).ok().await), "", "{emoji}");
        }
    }
}

#[tokio::test]
async fn reaction_to_reblog_counts_for_original() {
    let app = served(GROUP).await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let status = alice.publish("hello").await;
    let reblog = bob.post(&path(&status, "reblog")).ok().await;
    react(&carol, &reblog, "👍").ok().await;
    assert_eq!(seen(&alice, &status).await, "👍 1");
    let reblog = show(&carol, &reblog).await;
    assert_eq!(shown(&reblog["reblog"]), "👍 1*");
    react(&carol, &status, "👍").fails(422).await;
    unreact(&carol, &reblog, "👍").ok().await;
    assert_eq!(seen(&alice, &status).await, "");
}

#[tokio::test]
async fn reactions_are_three_distinct_known_emojis_at_most() {
    let app = served(GROUP).await;
    import_emojis(&app, &["rook"]).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = alice.publish("hello").await;
    for emoji in ["no_such", "abc", "👍👍", "a/b", "no_such@example.test"] {
        react(&bob, &status, emoji).fails(422).await;
    }
    bob.post(&path(&status, "emoji_reactions")).fails(422).await;
    bob.post(&path(&status, "emoji_reactions")).form(&[("emoji", "::")]).fails(422).await;
    assert_eq!(shown(&react(&bob, &status, "rook@far.test").ok().await), "", "unused on that server: no effect");

    for emoji in ["👍", "🎉", "rook"] {
        react(&bob, &status, emoji).ok().await;
        react(&bob, &status, emoji).fails(422).await;
    }
    react(&bob, &status, "🚀").fails(422).await;
    unreact(&bob, &status, "🎉").ok().await;
    assert_eq!(shown(&react(&bob, &status, "🚀").ok().await), "👍 1*, rook 1*, 🚀 1*");

    execute(&app, "UPDATE custom_emojis SET disabled = TRUE").await;
    react(&alice, &status, "rook").fails(422).await;
    assert_eq!(seen(&bob, &status).await, "👍 1*, 🚀 1*", "a disabled emoji is not shown");
    let list = bob.get(&path(&status, "emoji_reactioned_by")).ok().await;
    assert_eq!(ids(&list).len(), 2, "nor listed");
    execute(&app, "UPDATE custom_emojis SET disabled = FALSE").await;
    assert_eq!(seen(&bob, &status).await, "👍 1*, rook 1*, 🚀 1*");
}

#[tokio::test]
async fn concurrent_reactions_are_counted() {
    let app = served(GROUP).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = alice.publish("hello").await;
    let emojis = ["👍", "🎉", "🚀", "🐧", "🌲", "🐦"];
    let answers = futures_util::future::join_all(emojis.map(|emoji| react(&bob, &status, emoji).send())).await;
    let made = answers.iter().filter(|answer| answer.status.as_u16() == 200).count();
    assert_eq!((made, &show(&bob, &status).await["emoji_reactions_count"]), (3, &json!(3)));
}

#[tokio::test]
async fn many_reactions_do_not_shorten_page() {
    let app = served(GROUP).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let (loud, quiet) = (alice.publish("loud").await, alice.publish("quiet").await);
    for number in 0..200 {
        let text = format!(
            "INSERT INTO {} (account_id, status_id, name, domain, created_at) VALUES ({}, {}, 'x{number}', '', 0)",
            table(&app),
            alice.id(),
            id(&loud)
        );
        app.execute(&text).await;
    }
    react(&bob, &quiet, "🎉").ok().await;
    let page = bob.get(&format!("/api/v1/accounts/{}/statuses", alice.id())).ok().await;
    assert_eq!(page[0]["emoji_reactions_count"], 1);
    assert_eq!(page[1]["emoji_reactions"].as_array().unwrap().len(), 128);
}

#[tokio::test]
async fn remote_emoji_reaction_can_be_joined() {
    let app = served(GROUP).await;
    import_emojis(&app, &["rook"]).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = alice.publish("hello").await;
    execute(
        &app,
        "INSERT INTO custom_emojis (id, shortcode, domain, remote_url, visible_in_picker, disabled, sensitive, aliases, created_at, updated_at)
         SELECT 77, shortcode, 'far.test', 'https://far.test/rook.png', TRUE, FALSE, FALSE, '[]', created_at, updated_at FROM custom_emojis",
    )
    .await;
    react(&bob, &status, "rook").ok().await;
    assert_eq!(seen(&bob, &status).await, "rook 1*");
    execute(&app, &format!("UPDATE {} SET domain = 'far.test', emoji_id = 77", table(&app))).await;

    assert_eq!(shown(&react(&alice, &status, ":rook@far.test:").ok().await), "rook@far.test 2*");
    assert_eq!(
        shown(&react(&alice, &status, "rook").ok().await),
        "rook@far.test 2*, rook 1*",
        "two groups, one shortcode"
    );
    assert_eq!(shown(&unreact(&alice, &status, "rook").ok().await), "rook@far.test 2*", "a bare shortcode is local");
    assert_eq!(shown(&unreact(&alice, &status, "rook@far.test").ok().await), "rook@far.test 1");
    execute(&app, "UPDATE custom_emojis SET disabled = TRUE WHERE id = 77").await;
    react(&alice, &status, "rook@far.test").fails(422).await;
}

#[tokio::test]
async fn authors_decide_who_reacts_and_who_sees_it() {
    let app = served(GROUP).await;
    let [author, follower, followed, stranger] = app.accounts(["author", "follower", "followed", "stranger"]).await;
    follower.follow(&author).ok().await;
    author.follow(&followed).ok().await;
    let people = [&follower, &followed, &stranger, &author];
    for (policy, allowed) in [
        ("allow", [true, true, true, true]),
        ("outside_only", [true, true, false, true]),
        ("followers_only", [true, false, false, true]),
        ("following_only", [false, true, false, true]),
        ("mutuals_only", [false, false, false, true]),
        ("block", [false, false, false, false]),
    ] {
        settings(&author, GROUP, &json!({"emoji_reaction_policy": policy})).await;
        let status = author.publish(policy).await;
        assert_eq!(status["account"]["other_settings"]["emoji_reaction_policy"], policy);
        for (person, allowed) in people.iter().zip(allowed) {
            let answer = react(person, &status, "👍").send().await;
            assert_eq!(answer.status == 200, allowed, "{policy} {}: {}", person.name, answer.text());
            assert!(allowed || answer.status == 422);
        }
        let total = allowed.iter().filter(|allowed| **allowed).count();
        for (person, allowed) in people.iter().zip(allowed) {
            let shown = seen(person, &status).await;
            assert_eq!(shown, if allowed { format!("👍 {total}*") } else { String::new() }, "{policy} {}", person.name);
        }
        assert_eq!(!seen(&app.anonymous(), &status).await.is_empty(), policy == "allow");
        let list = app.anonymous().get(&path(&status, "emoji_reactioned_by")).ok().await;
        assert_eq!(list.as_array().unwrap().is_empty(), policy != "allow");
    }
    settings(&author, GROUP, &json!({"emoji_reaction_policy": "block", "slip_local_emoji_reaction": true})).await;
    let status = author.publish("among neighbours").await;
    react(&stranger, &status, "👍").ok().await;
    assert_eq!(seen(&follower, &status).await, "👍 1");
}

#[tokio::test]
async fn blocks_silences_and_hidden_statuses_are_respected() {
    let app = served(GROUP).await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let status = alice.publish("hello").await;
    let private = alice.publish_to("private", "secret").await;
    react(&bob, &private, "👍").fails(404).await;
    bob.get(&path(&private, "emoji_reactioned_by")).fails(404).await;
    unreact(&bob, &private, "👍").fails(404).await;
    bob.put("/api/v1/statuses/1/emoji_reactions/x").fails(404).await;

    bob.block(&alice).ok().await;
    react(&bob, &status, "👍").fails(403).await;
    bob.unblock(&alice).ok().await;
    react(&bob, &status, "👍").ok().await;
    let reblog = carol.post(&path(&status, "reblog")).ok().await;
    alice.block(&bob).ok().await;
    let taken_back = unreact(&bob, &reblog, "👍").ok().await;
    assert_eq!(taken_back["reblog"]["id"], status["id"], "own reactions can always be removed");
    assert_eq!(shown(&taken_back["reblog"]), "");
    unreact(&bob, &status, "👍").fails(404).await;
    assert_eq!(seen(&carol, &status).await, "");

    app.limit(&carol).await;
    react(&carol, &status, "👍").fails(422).await;
    alice.follow(&carol).ok().await;
    assert_eq!(shown(&react(&carol, &status, "👍").ok().await), "👍 1*", "the author follows them");
}

#[tokio::test]
async fn reactions_of_blocked_accounts_are_not_counted() {
    let app = served(GROUP).await;
    let [alice, bob, carol, dave, erin] = app.accounts(["alice", "bob", "carol", "dave", "erin"]).await;
    let status = alice.publish("hello").await;
    for person in [&bob, &carol, &dave] {
        react(person, &status, "👍").ok().await;
    }
    react(&bob, &status, "🎉").ok().await;
    assert_eq!(seen(&erin, &status).await, "👍 3, 🎉 1");
    erin.block(&bob).ok().await;
    assert_eq!(seen(&erin, &status).await, "👍 2", "and no empty group is left");
    erin.mute(&carol).ok().await;
    assert_eq!(seen(&erin, &status).await, "👍 1");
    dave.block(&erin).ok().await;
    assert_eq!(seen(&erin, &status).await, "");
    let list = erin.get(&path(&status, "emoji_reactioned_by")).ok().await;
    assert_eq!(list, json!([]));
    assert_eq!(seen(&app.anonymous(), &status).await, "👍 3, 🎉 1");
    app.suspend(&bob).await;
    assert_eq!(seen(&alice, &status).await, "👍 2");
}

#[tokio::test]
async fn reacted_by_is_paged_newest_first() {
    let app = served(GROUP).await;
    import_emojis(&app, &["rook"]).await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let status = alice.publish("hello").await;
    react(&bob, &status, "👍").ok().await;
    react(&carol, &status, "rook").ok().await;
    react(&alice, &status, "👍").ok().await;
    let all = app.anonymous().get(&path(&status, "emoji_reactioned_by")).send().await;
    let items = all.json();
    let names: Vec<(&str, &str)> = items
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            contract::check("Account", &item["account"]);
            (item["account"]["acct"].as_str().unwrap(), item["name"].as_str().unwrap())
        })
        .collect();
    assert_eq!(names, [("alice", "👍"), ("carol", "rook"), ("bob", "👍")]);
    assert_eq!((&items[1]["domain"], items[0].get("domain")), (&json!(null), None));
    assert!(items[1]["url"].is_string() && items[0].get("url").is_none());

    let first = bob.get(&path(&status, "emoji_reactioned_by?limit=2")).send().await;
    assert_eq!(ids(&first.json()), ids(&items)[..2]);
    assert!(first.header("link").contains(&format!("max_id={}", ids(&items)[1])), "{}", first.header("link"));
    assert!(first.header("link").contains(&format!("since_id={}", ids(&items)[0])), "{}", first.header("link"));
    let rest = bob.get(&path(&status, &format!("emoji_reactioned_by?max_id={}", ids(&items)[1]))).ok().await;
    assert_eq!(ids(&rest), ids(&items)[2..]);
    alice.with_scopes("read:statuses").await.get(&path(&status, "emoji_reactioned_by")).fails(403).await;
}

#[tokio::test]
async fn own_reactions_are_a_timeline() {
    let app = served(GROUP).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let (old, new) = (alice.publish("old").await, alice.publish("new").await);
    react(&bob, &new, "👍").ok().await;
    react(&bob, &old, "👍").ok().await;
    react(&bob, &new, "🎉").ok().await;
    let list = bob.get("/api/v1/emoji_reactions").send().await;
    contract::check("Status[]", &list.json());
    assert_eq!(ids(&list.json()), [id(&new), id(&old), id(&new)], "once for each reaction, newest first");
    let page = bob.get("/api/v1/emoji_reactions?limit=1").send().await;
    let link = page.header("link");
    assert!(link.contains("max_id=") && link.contains("min_id="), "{link}");
    let next = link.split("max_id=").nth(1).unwrap().split(['&', '>']).next().unwrap().to_owned();
    let rest = bob.get(&format!("/api/v1/emoji_reactions?max_id={next}")).ok().await;
    assert_eq!(ids(&rest), [id(&old), id(&new)]);
    assert_eq!(alice.get("/api/v1/emoji_reactions").ok().await, json!([]));
    app.anonymous().get("/api/v1/emoji_reactions").fails(401).await;
    bob.with_scopes("read:statuses").await.get("/api/v1/emoji_reactions").fails(403).await;
}

async fn notifications(person: &Client) -> Vec<Value> {
    let all = person.get("/api/v1/notifications").ok().await;
    contract::check("Notification[]", &all);
    all.as_array().unwrap().clone()
}

#[tokio::test]
async fn reaction_notifications_follow_preferences_of_author() {
    let app = served(GROUP).await;
    import_emojis(&app, &["rook"]).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = alice.publish("hello").await;
    react(&alice, &status, "👍").ok().await;
    assert!(notifications(&alice).await.is_empty(), "not of one's own");

    react(&bob, &status, "rook").ok().await;
    let heard = notifications(&alice).await;
    assert_eq!((heard.len(), &heard[0]["type"]), (1, &json!("emoji_reaction")));
    assert_eq!((id(&heard[0]["account"]), id(&heard[0]["status"])), (bob.id().to_string().as_str(), id(&status)));
    let reaction = &heard[0]["emoji_reaction"];
    assert_eq!((&reaction["name"], &reaction["count"], &reaction["me"]), (&json!("rook"), &json!(1), &json!(false)));
    assert!(reaction["url"].is_string());
    assert!(heard[0]["group_key"].as_str().unwrap().starts_with("emoji_reaction-"));
    // In words for a client that does not know the type.
    let path = "/api/v1/notifications?supported_types[]=favourite";
    let words = alice.get(path).ok().await;
    contract::check("Notification[]", &words);
    assert_eq!(words[0]["fallback"]["title"], "bob reacted to your post");
    app.set_locale("de").await;
    assert_eq!(alice.get(path).ok().await[0]["fallback"]["title"], "bob hat auf deinen Beitrag reagiert");
    let known = alice.get(&format!("{path}&supported_types[]=emoji_reaction")).ok().await;
    assert_eq!(known[0].get("fallback"), None);
    react(&bob, &status, "🎉").ok().await;
    let groups = alice.get("/api/v2/notifications").ok().await;
    contract::check("GroupedNotificationsResults", &groups);
    let group = &groups["notification_groups"][0];
    assert_eq!((&group["type"], &group["notifications_count"]), (&json!("emoji_reaction"), &json!(2)));
    let emojis = group["emoji_reaction_groups"].as_array().unwrap();
    let names: Vec<&Value> = emojis.iter().map(|emoji| &emoji["emoji_reaction"]["name"]).collect();
    assert_eq!(names, ["🎉", "rook"]);
    assert_eq!(emojis[0]["sample_account_ids"], json!([bob.id()]));
    unreact(&bob, &status, "🎉").ok().await;
    unreact(&bob, &status, "rook").ok().await;
    assert!(notifications(&alice).await.is_empty(), "taken back");

    settings(&alice, GROUP, &json!({"emoji_reaction_streaming_notify_impl2": true})).await;
    react(&bob, &status, "🎉").ok().await;
    let heard = notifications(&alice).await;
    let mut types: Vec<&str> = heard.iter().map(|one| one["type"].as_str().unwrap()).collect();
    types.sort_unstable();
    assert_eq!(types, ["emoji_reaction", "reaction"]);
    let reactions = show(&alice, &status).await["reactions"].clone();
    assert_eq!(reactions, json!([{"name": "👍", "count": 1}, {"name": "🎉", "count": 1}]));
    assert_eq!(show(&bob, &status).await.get("reactions"), None, "only for accounts that enabled it");
    assert_eq!(alice.publish("new").await["reactions"], json!([]));

    settings(&alice, GROUP, &json!({"enable_emoji_reaction": false})).await;
    react(&bob, &status, "🚀").ok().await;
    assert_eq!(notifications(&alice).await.len(), 2, "no third one");
}

#[tokio::test]
async fn notifications_of_other_types_cost_no_call() {
    let app = served(GROUP).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = alice.publish("hello").await;
    bob.post(&path(&status, "favourite")).ok().await;
    let calls = |kind: &str| {
        let registry = app.plugins().registry();
        registry.hooks.decorators(kind).map(|hook| hook.calls().0).sum::<u64>()
    };
    for (path, kind) in [("/api/v1/notifications", "notification"), ("/api/v2/notifications", "notification_group")] {
        let before = calls(kind);
        alice.get(path).ok().await;
        assert_eq!(calls(kind), before, "{path}");
        react(&bob, &status, "👍").ok().await;
        alice.get(path).ok().await;
        assert!(calls(kind) > before, "{path}");
        unreact(&bob, &status, "👍").ok().await;
    }
}

#[tokio::test]
async fn reactions_are_deleted_with_status_or_account() {
    let app = served(GROUP).await;
    import_emojis(&app, &["rook"]).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let (kept, deleted) = (alice.publish("kept").await, alice.publish("deleted").await);
    react(&bob, &kept, "👍").ok().await;
    react(&bob, &deleted, "👍").ok().await;
    alice.delete_status(&deleted).ok().await;
    settle(&app).await;
    assert_eq!(ids(&bob.get("/api/v1/emoji_reactions").ok().await), [id(&kept)]);
    let left: Vec<(i64,)> = app.db().fetch_raw(&format!("SELECT COUNT(*) FROM {}", table(&app))).await.unwrap();
    assert_eq!(left[0].0, 1);
}

#[tokio::test]
async fn each_route_requires_its_scope() {
    let app = served(GROUP).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = alice.publish("hello").await;
    let writes = [
        (Method::POST, path(&status, "emoji_reactions")),
        (Method::PUT, with(&status, "emoji_reactions", "👍")),
        (Method::PATCH, with(&status, "emoji_reactions", "👍")),
        (Method::DELETE, with(&status, "emoji_reactions", "👍")),
        (Method::POST, path(&status, "emoji_unreaction")),
        (Method::POST, with(&status, "react", "👍")),
        (Method::POST, with(&status, "unreact", "👍")),
    ];
    let reader = bob.with_scopes("read write:statuses").await;
    let writer = bob.with_scopes("write:favourites").await;
    for (method, path) in writes {
        app.anonymous().request(method.clone(), &path).fails(401).await;
        reader.request(method.clone(), &path).fails(403).await;
        let answer = writer.request(method, &path).send().await;
        assert!(answer.status == 200 || answer.status == 422, "{path}: {}", answer.text());
    }
}

#[tokio::test]
async fn reactions_are_deleted_with_their_emoji() {
    let app = served(GROUP).await;
    import_emojis(&app, &["rook", "wren"]).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = alice.publish("hello").await;
    for emoji in ["rook", "wren"] {
        react(&bob, &status, emoji).ok().await;
    }

    app.run(&["emoji", "remove", "rook"]).await.ok();
    app.app.reload().await.unwrap();
    app.make_jobs_due().await;
    settle(&app).await;

    assert_eq!(seen(&bob, &status).await, "wren 1*");
    let kept: Vec<(i64,)> = app.db().fetch_raw(&format!("SELECT COUNT(*) FROM {}", table(&app))).await.unwrap();
    assert_eq!(kept, [(1,)], "the row is gone as well");
}

#[tokio::test]
async fn reactions_count_for_trends() {
    let app = served(GROUP).await;
    app.set("trendable_by_default", true).await;
    let [alice, bob, carol, dave] = app.accounts(["alice", "bob", "carol", "dave"]).await;
    alice.update_profile(json!({"discoverable": true})).ok().await;
    let status = alice.publish("liked").await;
    for person in [&bob, &carol, &dave] {
        person.post(&path(&status, "favourite")).ok().await;
        react(person, &status, "👍").ok().await;
        react(person, &status, "🎉").ok().await;
    }
    refresh(&app).await;
    let trends = app.anonymous().get("/api/v1/trends/statuses").ok().await;
    assert_eq!(ids(&trends), [id(&status)], "three favourites and 0.8 for each of three people");
}
