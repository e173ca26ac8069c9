//! Hooks and events, observed by a plugin that uses all of them (`tests/guests/probe`).

use std::fmt::Write as _;

use chrono::Duration;
use context::change::{self, Change};
use context::extension::Notice;
use plugin_package::manifest::Moment;
use plugins::hooks::dispatch;
use plugins::{admin, life};
use serde_json::{Value, json};
use service::notification;
use store::plugin_event;

use super::probes::{NO_WORDS, World, manifest, package, root};
use crate::harness::{Client, TestApp, id};

#[tokio::test]
async fn page_calls_each_decorator_once() {
    let world = World::new().await;
    let names = ["pa", "pb", "pc", "pd", "pe"];
    for name in names {
        world.add(name, &[NO_WORDS]).await;
    }
    let [alice, bob] = world.app.accounts(["alice", "bob"]).await;
    for number in 0..20 {
        let status = alice.publish(&format!("words {number}")).await;
        bob.reblog(&status).ok().await;
    }
    bob.follow(&alice).ok().await;
    world.app.run_jobs().await;
    let first = alice.publish("@bob look at this").await;
    bob.publish("and at that").await;
    world.app.run_jobs().await;
    for (path, least) in [
        ("/api/v1/timelines/home?limit=40".to_owned(), 40),
        ("/api/v1/notifications".to_owned(), 1),
        (format!("/api/v1/statuses/{}/context", id(&first)), 0),
        ("/api/v2/search?q=alice".to_owned(), 0),
    ] {
        let before = names.map(|name| world.calls(name, Moment::Decorate).0);
        let page = bob.get(&path).ok().await;
        let after = names.map(|name| world.calls(name, Moment::Decorate).0);
        let most = u64::from(least > 0);
        assert!(before.iter().zip(after).all(|(before, after)| after - before <= most.max(1)), "{path}");
        if least > 0 {
            assert_eq!(after, before.map(|calls| calls + 1), "{path}");
            assert!(page.as_array().unwrap().len() >= least, "{path}");
        }
    }
    let page = bob.get("/api/v1/timelines/home?limit=40").ok().await;
    for status in page.as_array().unwrap() {
        let proper = if status["reblog"].is_null() { status } else { &status["reblog"] };
        for name in names {
            let said = &status[format!("by_{name}")];
            assert_eq!(said["id"], proper["id"], "a reblog shows what its original does");
            assert_eq!(said["viewer"], json!(bob.id()));
            assert_eq!(&proper[format!("by_{name}")], said);
        }
        assert_ne!(status["content"], "mine", "undeclared members are not added");
        let text = status.to_string();
        assert_eq!(text.matches("\"content\":").count(), if status["reblog"].is_null() { 1 } else { 2 });
    }
}

#[tokio::test]
async fn failed_decorator_leaves_its_defaults() {
    let world = World::new().await;
    world.add("broken", &[NO_WORDS]).await;
    world.add("sparse", &[NO_WORDS]).await;
    let [alice] = world.app.accounts(["alice"]).await;
    let shown = alice.publish("words").await;
    assert_eq!(shown["by_broken"], "nothing");
    let even = id(&shown).parse::<i64>().unwrap() % 2 == 0;
    assert_eq!(shown["by_sparse"] == "nothing", !even, "the default without a value: {shown}");
    assert!(world.calls("broken", Moment::Decorate).1 > 0);
}

#[tokio::test]
async fn filters_run_in_printed_order() {
    let world = World::new().await;
    // Enabled in an order that is neither.
    world.add("pc", &[NO_WORDS]).await;
    world.add("pa", &[NO_WORDS]).await;
    world.add("pd", &[("kinds = [\"circle\"]\n", "priority = 5\n")]).await;
    world.add("pb", &[("kinds = [\"circle\"]\n", "priority = 500\n")]).await;
    let order = world.app.plugins().registry().hooks.order(Moment::StatusFilter).join(" ");
    assert_eq!(order, "pd pa pc pb");
    let [alice] = world.app.accounts(["alice"]).await;
    let shown = alice.publish("order").await;
    assert_eq!(shown["content"], format!("<p>order {order}</p>"));
}

#[tokio::test]
async fn trapping_filter_refuses_or_is_skipped_as_declared() {
    let world = World::new().await;
    world.add("strict", &[NO_WORDS]).await;
    world.add("lenient", &[("kinds = [\"circle\"]\n", "policy = \"skip\"\n")]).await;
    let [alice] = world.app.accounts(["alice"]).await;
    let shown = alice.publish("trap lenient").await;
    assert_eq!(shown["content"], "<p>trap lenient</p>");
    assert_eq!(world.calls("lenient", Moment::StatusFilter), (1, 1));

    let answer = alice.post("/api/v1/statuses").json(&json!({ "status": "trap strict" })).send().await;
    assert_eq!(answer.status, 503);
    let body = answer.json();
    assert_eq!(body["error"], "The strict extension could not answer");
    assert_eq!((&body["error_code"], &body["plugin"]), (&json!("plugin.trap"), &json!("strict")));
    assert!(body["request_id"].is_string(), "{body}");
    assert_eq!(world.calls("strict", Moment::StatusFilter), (2, 1));
    let page = alice.get(&format!("/api/v1/accounts/{}/statuses", alice.id())).ok().await;
    assert_eq!(page.as_array().unwrap().len(), 1, "nothing was saved");
}

#[tokio::test]
async fn filter_result_is_checked() {
    let world = World::probed().await;
    let [alice, bob] = world.app.accounts(["alice", "bob"]).await;
    let refused = alice.post("/api/v1/statuses").json(&json!({ "status": "refuse" })).send().await;
    assert_eq!(refused.status, 422);
    assert_eq!(refused.json(), json!({ "error": "no such words here", "error_code": "probe.refused" }));

    assert_eq!(alice.publish("private words").await["visibility_ex"], "private");
    let wide = json!({ "status": "public words", "visibility": "unlisted" });
    let answer = alice.post("/api/v1/statuses").json(&wide).send().await;
    assert_eq!(
        (answer.status, answer.json()["error_code"].clone()),
        (503.try_into().unwrap(), json!("plugin.failure"))
    );
    assert!(alice.post("/api/v1/statuses").json(&json!({ "status": "long" })).fails(422).await.contains("limit"));
    let shown = json!({ "status": format!("spy {}", bob.id()), "visibility": "private" });
    alice.post("/api/v1/statuses").json(&shown).fails(503).await;

    let kept = alice.publish(json!({ "status": "words", "mood": "calm" })).await;
    let rows: Vec<(String,)> = world.app.db().fetch_raw("SELECT CAST(value AS TEXT) FROM status_extras").await.unwrap();
    let kept_of: Vec<Value> = rows.iter().map(|(json,)| serde_json::from_str(json).unwrap()).collect();
    assert_eq!(kept_of, [json!({ "mood": "calm", "was": "words" })]);
    let edit = json!({ "status": "order", "mood": "wild" });
    let edited = alice.edit(&kept, &edit).ok().await;
    assert_eq!(edited["content"], "<p>order probe</p>");
    let rows: Vec<(String,)> = world.app.db().fetch_raw("SELECT CAST(value AS TEXT) FROM status_extras").await.unwrap();
    assert_eq!(rows.len(), 1);
    assert!(rows[0].0.contains("wild"));
}

#[tokio::test]
async fn language_that_a_filter_clears_is_the_default_of_the_author() {
    let world = World::probed().await;
    let [alice] = world.app.accounts(["alice"]).await;
    world.app.prefer(&alice, |preferences| preferences.default_language = Some("de".to_owned())).await;
    let language = async |text: &str| {
        let published = alice.publish(json!({ "status": text, "language": "fr" })).await;
        published["language"].clone()
    };
    assert_eq!(language("words").await, "fr");
    assert_eq!(language("wordless").await, "de");
    assert_eq!(language("klingon").await, "de", "of no use");
}

#[tokio::test]
async fn plugin_visibility_reaches_named_audience() {
    let world = World::probed().await;
    let [alice, bob, carol] = world.app.accounts(["alice", "bob", "carol"]).await;
    let circle = json!({ "status": "for few", "visibility": "circle", "circle_id": bob.id() });
    let status = alice.publish(&circle).await;
    assert_eq!(status["visibility_ex"], "limited");
    bob.status(&status).ok().await;
    carol.status(&status).fails(404).await;
    let nobody = json!({ "status": "for whom?", "visibility": "circle" });
    alice.post("/api/v1/statuses").json(&nobody).fails(422).await;

    admin::disable(&world.app.plugins(), &model::Staff::operator(), "probe").await.unwrap();
    life::reload(&world.app.plugins(), "probe").await.unwrap();
    assert_eq!(
        alice.post("/api/v1/statuses").json(&circle).fails(422).await,
        "visibility: circles are not switched on here"
    );
}

#[tokio::test]
async fn events_are_delivered_once_and_in_order() {
    let world = World::probed().await;
    let [alice, bob] = world.app.accounts(["alice", "bob"]).await;
    let status = alice.publish("one").await;
    let status = id(&status);
    alice.edit(&status, "two").ok().await;
    for verb in ["favourite", "favourite", "bookmark", "reblog", "unreblog", "unbookmark", "unfavourite"] {
        bob.post(&format!("/api/v1/statuses/{status}/{verb}")).ok().await;
    }
    let alices = alice.id();
    for verb in ["follow", "mute", "unfollow", "block"] {
        bob.post(&format!("/api/v1/accounts/{alices}/{verb}")).ok().await;
    }
    alice.update_profile(json!({ "display_name": "Alice" })).ok().await;
    bob.reblog(&status).send().await;
    alice.delete_status(&status).ok().await;
    world.app.run_jobs().await;
    let heard = world.heard("probe").await;
    let kinds = |wanted: &[&str]| -> Vec<String> {
        let mine = heard.iter().filter(|(kind, _)| wanted.iter().any(|part| kind.starts_with(part)));
        mine.map(|(kind, _)| kind.clone()).collect()
    };
    assert_eq!(
        kinds(&["favourite", "bookmark"]),
        ["favourite.created", "bookmark.created", "bookmark.deleted", "favourite.deleted"]
    );
    assert_eq!(
        kinds(&["follow", "account.blocked", "account.muted"]),
        ["follow.created", "account.muted", "follow.deleted", "account.blocked"]
    );
    assert_eq!(
        kinds(&["account.created", "account.updated"]),
        ["account.created", "account.created", "account.updated"]
    );
    let pair = json!({ "account": bob.id(), "status": status });
    let favourite = heard.iter().find(|(kind, _)| kind == "favourite.created").unwrap();
    assert_eq!(serde_json::from_str::<Value>(&favourite.1).unwrap(), pair);
    // If a record is gone at the time of delivery, only its deletion is sent.
    assert_eq!(kinds(&["status.deleted"]).len(), 2, "{heard:?}");
    assert!(kinds(&["status.created", "status.updated"]).is_empty(), "{heard:?}");
    assert_eq!(world.waiting("probe").await, (0, 0));
}

#[tokio::test]
async fn events_without_subscribers_are_not_stored() {
    let world = World::new().await;
    let quiet = [
        NO_WORDS,
        (
            "kinds = [\"status.created\", \"status.updated\", \"status.deleted\", \"account.created\", \"account.updated\", \"account.suspended\", \"account.purged\", \"account.blocked\", \"account.muted\", \"follow.created\", \"follow.deleted\", \"favourite.created\", \"favourite.deleted\", \"bookmark.created\", \"bookmark.deleted\"]",
            "kinds = [\"list.deleted\"]",
        ),
        ("on = \"fanout\"", "on = \"fanout\"\nwhen = { visibility = [\"direct\"] }"),
    ];
    world.add("quiet", &quiet).await;
    let [alice] = world.app.accounts(["alice"]).await;
    alice.publish("words").await;
    assert_eq!(world.waiting("quiet").await, (0, 0));
    let direct = json!({ "status": "words", "visibility": "direct" });
    alice.publish(&direct).await;
    assert_eq!(world.waiting("quiet").await, (1, 0), "the predicate is the plugin's own");
}

#[tokio::test]
async fn failed_event_is_retried_in_order_then_dead() {
    let world = World::probed().await;
    let [alice, bob] = world.app.accounts(["alice", "bob"]).await;
    world.app.run_jobs().await;
    let before = world.heard("probe").await.len();
    alice.publish("later").await;
    alice.publish("after it").await;
    bob.publish("beside it").await;
    world.app.run_jobs().await;
    let texts = async || -> Vec<String> {
        world.heard("probe").await.into_iter().skip(before).map(|(_, detail)| detail).collect()
    };
    assert_eq!(texts().await, ["beside it"], "events of others do not wait");
    for _ in 0..20 {
        world.app.app.clock.advance(Duration::seconds(2));
        world.app.run_jobs().await;
    }
    assert_eq!(texts().await, ["later", "after it", "beside it"]);

    alice.publish("poison").await;
    alice.publish("good").await;
    // Eight attempts count; on a busy machine some are refused by the circuit breaker and do not.
    for _ in 0..40 {
        world.app.run_jobs().await;
        world.app.app.clock.advance(Duration::minutes(6));
        if texts().await.len() > 3 {
            break;
        }
    }
    assert_eq!(texts().await, ["later", "after it", "beside it", "good"]);
    assert_eq!(world.waiting("probe").await, (0, 1));
    let parked = plugin_event::list_parked(world.app.db(), world.active("probe").id, 10).await.unwrap();
    assert_eq!((parked.len(), parked[0].kind.as_str(), parked[0].attempts), (1, "status.created", 8));
    assert!(parked[0].last_error.as_ref().unwrap().contains("Trap"));
    let shown = world.app.run(&["plugin", "inspect", "probe"]).await.ok();
    let parked = shown.lines().find(|line| line.contains("Trap")).unwrap();
    assert!(parked.contains("events  status.created"), "{shown}");
    assert!(parked.contains("Trap: wasm `unreachable` instruction executed: panicked at "), "{shown}");
    assert!(parked.ends_with(": as asked"), "{shown}");
    let said = world.app.run(&["--json", "plugin", "retry", "probe"]).await.json();
    assert_eq!(said[0]["events"], 1);
    assert_eq!(world.waiting("probe").await, (1, 0));
}

#[tokio::test]
async fn interrupted_and_repeated_deliveries_count_once() {
    let world = World::probed().await;
    let [alice, bob] = world.app.accounts(["alice", "bob"]).await;
    world.app.run_jobs().await;
    let before = world.heard("probe").await.len();
    for number in 0..60_u64 {
        (if number % 2 == 0 { &alice } else { &bob }).publish(&format!("words {number}")).await;
        let cut_off = std::time::Duration::from_micros(number * 400);
        // Dropped midway, as by a kill: uncommitted changes are lost.
        let _ = tokio::time::timeout(cut_off, dispatch::drain(&world.app.plugins())).await;
    }
    let app = &world.app.plugins();
    let _ = tokio::join!(dispatch::drain(app), dispatch::drain(app), dispatch::drain(app));
    world.app.app.clock.advance(Duration::minutes(10));
    world.app.run_jobs().await;
    let mut words: Vec<String> = world.heard("probe").await.into_iter().skip(before).map(|(_, text)| text).collect();
    words.sort();
    let mut expected: Vec<String> = (0..60).map(|number| format!("words {number}")).collect();
    expected.sort();
    assert_eq!(words, expected);
    assert_eq!(world.waiting("probe").await, (0, 0));
}

#[tokio::test]
async fn statuses_are_placed_in_feeds_chosen_by_plugin() {
    let world = World::probed().await;
    let [alice, stranger] = world.app.accounts(["alice", "stranger"]).await;
    stranger.get("/api/v1/timelines/home").ok().await;
    world.app.run_jobs().await;
    let status = alice.publish(&format!("for {}", stranger.id())).await;
    alice.publish("for nobody").await;
    assert_eq!(stranger.get("/api/v1/timelines/home").ok().await, json!([]), "the author did not wait for it");
    let calls = world.calls("probe", Moment::Fanout).0;
    world.app.run_jobs().await;
    let put_off: Vec<(Option<String>,)> =
        world.app.db().fetch_raw("SELECT last_error FROM plugin_events").await.unwrap();
    assert!(put_off.is_empty(), "{put_off:?}");
    let home = stranger.get("/api/v1/timelines/home").ok().await;
    assert_eq!(home.as_array().unwrap().iter().map(id).collect::<Vec<_>>(), [id(&status)]);
    assert_eq!(world.calls("probe", Moment::Fanout).0, calls + 1, "both were asked about together");
}

#[tokio::test]
async fn strictest_notification_judge_wins() {
    let world = World::probed().await;
    let [alice, bob] = world.app.accounts(["alice", "bob"]).await;
    let status = alice.publish("words").await;
    let mut events = world.app.app.live.subscribe();
    for verb in ["favourite", "reblog"] {
        bob.post(&format!("/api/v1/statuses/{}/{verb}", id(&status))).ok().await;
    }
    bob.follow(&alice).ok().await;
    assert_eq!(world.calls("probe", Moment::NotificationFilter).0, 0, "no hook is called during a write");
    world.app.run_jobs().await;
    assert_eq!(world.calls("probe", Moment::NotificationFilter).0, 1, "of all pending ones together");
    let page = alice.get("/api/v1/notifications").ok().await;
    let types: Vec<&str> = page.as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["follow", "reblog"]);
    let mut told = 0;
    while let Ok(event) = events.try_recv() {
        told += u32::from(matches!(*event, Change::Notified { .. }));
    }
    assert_eq!(told, 1, "the reblog did not notify");
}

#[tokio::test]
async fn commands_beside_server_cause_events() {
    let world = World::probed().await;
    world.app.run(&["user", "create", "zoe"]).await.ok();
    assert_eq!(world.heard("probe").await, []);
    world.app.make_jobs_due().await;
    world.app.run_jobs().await;
    assert_eq!(world.heard("probe").await, [("account.created".to_owned(), "zoe".to_owned())]);
}

#[tokio::test]
async fn notification_undone_before_judging_is_dropped() {
    let world = World::probed().await;
    let [alice, bob] = world.app.accounts(["alice", "bob"]).await;
    let status = alice.publish("words").await;
    for verb in ["reblog", "unreblog"] {
        bob.post(&format!("/api/v1/statuses/{}/{verb}", id(&status))).ok().await;
    }
    for verb in ["follow", "unfollow", "follow"] {
        bob.post(&format!("/api/v1/accounts/{}/{verb}", alice.id())).ok().await;
    }
    assert_eq!(alice.get("/api/v1/notifications").ok().await, json!([]));
    world.app.run_jobs().await;
    let page = alice.get("/api/v1/notifications").ok().await;
    let types: Vec<&Value> = page.as_array().unwrap().iter().map(|item| &item["type"]).collect();
    assert_eq!(types, ["follow"]);
    let waiting: Vec<(i64,)> = world.app.db().fetch_raw("SELECT COUNT(*) FROM notices").await.unwrap();
    assert_eq!(waiting, [(0,)]);
}

#[tokio::test]
async fn notification_types_of_plugin_come_and_go() {
    let world = World::probed().await;
    let [alice, bob, carol] = world.app.accounts(["alice", "bob", "carol"]).await;
    let status = alice.publish("words").await;
    let told = async |kind: &str| {
        let app = &world.app.plugins();
        let notice = |from: &Client| Notice {
            receiver: alice.id(),
            from: from.id(),
            kind: kind.into(),
            activity: app.ids.next(),
            status: Some(id(&status).parse().unwrap()),
        };
        let mut tx = app.db.begin().await.unwrap();
        notification::notify(app, &mut tx, &[notice(&bob), notice(&carol)]).await.unwrap();
        tx.commit().await.unwrap();
    };
    told("probed").await;
    told("nobody_declares_this").await;
    bob.follow(&alice).ok().await;
    world.app.run_jobs().await;
    let types = async |query: &str| -> Vec<String> {
        let page = alice.get(&format!("/api/v1/notifications{query}")).ok().await;
        page.as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(types("").await, ["follow", "probed", "probed"]);
    assert_eq!(types("?types[]=probed").await, ["probed", "probed"]);
    assert_eq!(types("?exclude_types[]=probed").await, ["follow"]);
    let page = alice.get("/api/v1/notifications?types[]=probed").ok().await;
    assert_eq!(page[0]["group_key"], page[1]["group_key"]);
    assert_eq!(page[0]["status"]["id"], status["id"]);
    let one = format!("/api/v1/notifications/{}", id(&page[0]));
    alice.get(&one).ok().await;

    admin::disable(&world.app.plugins(), &model::Staff::operator(), "probe").await.unwrap();
    life::reload(&world.app.plugins(), "probe").await.unwrap();
    assert_eq!(types("").await, ["follow"]);
    assert!(types("?types[]=probed").await.is_empty());
    alice.get(&one).fails(404).await;
}

#[tokio::test]
async fn reserved_members_include_every_member_of_entities() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = alice.publish("words").await;
    bob.favourite(&status).ok().await;
    let notification = alice.get("/api/v1/notifications").ok().await[0].clone();
    let group = alice.get("/api/v2/notifications").ok().await["notification_groups"][0].clone();
    let mute = format!("/api/v1/accounts/{}/mute", bob.id());
    alice.post(&mute).ok().await;
    let muted = alice.get("/api/v1/mutes").ok().await[0].clone();
    let own = alice.get("/api/v1/accounts/verify_credentials").ok().await;
    let gone = alice.delete_status(&status).ok().await;
    for (kind, entity) in [
        ("status", &*status),
        ("status", &gone),
        ("account", &muted),
        ("account", &own),
        ("notification", &notification),
        ("notification_group", &group),
    ] {
        let known = entity::members(kind).unwrap();
        for member in entity.as_object().unwrap().keys() {
            assert!(known.contains(&member.as_str()), "{kind}.{member}");
        }
    }
}

#[tokio::test]
async fn disabled_plugin_is_not_called() {
    let plain = World::new().await;
    let [alice] = plain.app.accounts(["alice"]).await;
    let status = alice.publish("words").await;
    let path = format!("/api/v1/statuses/{}", id(&status));
    let seen = async || {
        let mut all = String::new();
        for path in [path.as_str(), "/api/v1/instance", "/api/v2/instance", "/nodeinfo/2.0"] {
            let _ = writeln!(all, "{}", alice.get(path).send().await.text());
        }
        all
    };
    let without = seen().await;
    plain.add("probe", &[]).await;
    let with = seen().await;
    for part in ["by_probe", "can_probe", "probe_feature", "\"probe\":3", "\"probe\":{\"depth\":1}", "told_probe"] {
        assert!(with.contains(part) && !without.contains(part), "{part}: {with}");
    }
    assert!(!with.contains("\"Mine\""), "plugins change no existing member");
    admin::disable(&plain.app.plugins(), &model::Staff::operator(), "probe").await.unwrap();
    life::reload(&plain.app.plugins(), "probe").await.unwrap();
    assert_eq!(seen().await, without, "byte for byte");
}

#[test]
fn every_kind_of_the_contract_can_be_recorded() {
    let contract = std::fs::read_to_string(root().join("plugin-sdk/wit/0.1/plugin.wit")).unwrap();
    for kind in change::ChangeKind::ALL.iter().filter(|kind| kind.is_for_extensions()) {
        assert!(contract.contains(&format!("`{kind}`")), "{kind}");
    }
}

#[tokio::test]
async fn decorator_cannot_overwrite_server_members() {
    let world = World::new().await;
    for (name, field, loads) in
        [("pa", "account.acct", false), ("pb", "content", false), ("pc", "server_features.pc", true)]
    {
        let fields = format!("fields = [\"{field}\"]");
        let by = format!("by_{name}");
        let changes = [
            NO_WORDS,
            (&*format!("fields = [\"{by}\"]"), &*fields),
            (&*format!("defaults = {{ {by} = \"nothing\" }}\n"), ""),
        ];
        package(world.folder.path(), name, &changes);
        admin::enable(&world.app.plugins(), &model::Staff::operator(), name).await.unwrap();
        let loaded = life::reload(&world.app.plugins(), name).await;
        assert_eq!(loaded.is_ok(), loads, "{field}: {loaded:?}");
        if let Err(fault) = loaded {
            assert!(fault.message.contains(&format!("the member {field} of status")), "{fault}");
        }
    }
}

#[tokio::test]
async fn names_of_plugins_cannot_overlap_as_name_spaces() {
    let world = World::new().await;
    let overlapping = manifest("probe", &[]).replace("name = \"probe\"", "name = \"pro__be\"");
    package(world.folder.path(), "probe", &[]);
    std::fs::write(world.folder.path().join("probe/plugin.toml"), overlapping).unwrap();
    assert!(
        admin::enable(&world.app.plugins(), &model::Staff::operator(), "pro__be").await.is_err(),
        "it would be the namespace of another plugin's tables"
    );
}
