//! Limits of a call's data and of a plugin's storage: each is reported by name, and the call or plugin continues.

use plugins::admin;
use plugins::call::Mode;
use rookery_plugin_host::imports::core_write::NewNotification;
use rookery_plugin_host::imports::feeds::{CustomFeed, Entry, Feed};
use rookery_plugin_host::imports::kv::Item;
use rookery_plugin_host::imports::queue::Job;
use rookery_plugin_host::imports::sql::Call as Statement;
use rookery_plugin_host::imports::types::Viewer;
use serde_json::{Map, Value as Json, json};

use super::bench::{Bench, EVERYTHING, add, code, id, new_status};
use super::jobs::worker;
use super::shelf::events;

fn too_large() -> (u16, String) {
    (413, "host.too-large".to_owned())
}

/// [`EVERYTHING`] and jobs, with limits from the manifest.
async fn bench(limits: &str) -> Bench {
    let more = EVERYTHING.replace("settings = true", "settings = true\nqueue = true");
    Bench::of(&format!("{more}[[job]]\nkind = \"tidy\"\n[limits]\n{limits}\n"), &worker()).await
}

#[tokio::test]
async fn call_receives_at_most_its_limit_of_bytes() {
    let bench = bench("").await;
    let [alice] = bench.app.accounts(["alice"]).await;
    let status = alice.publish(&"long ".repeat(90)).await.number();
    let call = bench.system(Mode::Ambient);
    let (statement, params) = add(&"x".repeat(10_000));
    call.sql_query(statement, params).await.unwrap();
    let value = |key: &str| Item { key: key.to_owned(), value: vec![1; 10_000], expires: None };
    call.kv_set(vec![value("a"), value("b")]).await.unwrap();
    call.0.commit().await.unwrap();

    let call = bench.system(Mode::Read);
    let names = || Statement { statement: "names".to_owned(), params: Vec::new() };
    let key = |count: usize| vec!["a".to_owned(); count];
    call.allow(25_000);
    assert_eq!(call.sql_batch(vec![names(), names()]).await.unwrap().len(), 2);
    // The budget covers the whole batch: it ends within the third statement, and reads none of the others.
    let (cost, refused) = bench.app.cost(call.sql_batch((0..500).map(|_| names()).collect())).await;
    assert_eq!(code(refused), (429, "sql.bytes".to_owned()));
    assert!(cost <= 3, "{cost}");
    assert_eq!(call.kv_get(key(2)).await.unwrap().len(), 2);
    assert_eq!(code(call.kv_get(key(1_000)).await), too_large(), "the same value counts as often as it is asked for");
    assert_eq!(code(call.kv_get(vec!["a".to_owned(), "b".to_owned(), "a".to_owned()]).await), too_large());
    assert_eq!(call.kv_scan(String::new(), None, 10).await.unwrap().len(), 2);
    assert_eq!(code(call.core_statuses(Viewer::System, vec![status; 1_000]).await), too_large());
    assert_eq!(code(call.core_accounts(vec![id(&alice); 1_000]).await), too_large());
    assert_eq!(code(call.settings_get(vec![id(&alice); 1_000]).await), too_large());
    let tags = vec!["tag".repeat(20); 1_000];
    assert_eq!(code(call.core_normalise("hashtag".to_owned(), tags).await), too_large());

    call.allow(15_000);
    assert_eq!(code(call.kv_get(vec!["a".to_owned(), "b".to_owned()]).await), too_large());
    assert_eq!(code(call.kv_scan(String::new(), None, 10).await), too_large());
    assert_eq!(call.kv_scan(String::new(), None, 1).await.unwrap().len(), 1);
}

fn entries(status: i64, keys: std::ops::Range<i64>) -> Vec<Entry> {
    let feed = |key| Feed::Custom(CustomFeed { name: "tray".to_owned(), key });
    keys.map(|key| Entry { feed: feed(key), viewer: None, status, push: false }).collect()
}

#[tokio::test]
async fn feeds_notifications_and_jobs_end_at_their_quotas() {
    let limits = "feed-entries = 10\nnotifications = 5\nnotifications-per-hour = 3\njobs = 4";
    let bench = bench(limits).await;
    let people = bench.app.accounts(["alice", "bob", "carol"]).await;
    let status = people[0].publish("kept").await.number();
    let call = bench.system(Mode::Read);

    assert_eq!(call.feeds_insert(entries(status, 0..8)).await.unwrap(), 8);
    assert_eq!(call.feeds_insert(entries(status, 0..2)).await.unwrap(), 0, "there already: they take no room");
    assert_eq!(code(call.feeds_insert(entries(status, 8..11)).await), (507, "feeds.quota".to_owned()));
    assert_eq!(call.feeds_insert(entries(status, 8..10)).await.unwrap(), 2);

    let to = |receiver: usize, activities: std::ops::Range<i64>| {
        let one = |activity| NewNotification {
            to: id(&people[receiver]),
            from: id(&people[0]),
            kind: "tray_filled".to_owned(),
            activity,
            status: None,
        };
        activities.map(one).collect::<Vec<_>>()
    };
    assert_eq!(call.core_write_notify(to(1, 0..9)).await.unwrap(), 3, "notifications per account and hour");
    assert_eq!(code(call.core_write_notify(to(1, 9..10)).await), (429, "limit.notifications".to_owned()));
    assert_eq!(code(call.core_write_notify(to(2, 10..13)).await), (507, "notifications.quota".to_owned()));

    let job = |unique: i64| Job {
        kind: "tidy".to_owned(),
        payload: "{}".to_owned(),
        unique: Some(unique.to_string()),
        not_before: None,
        max_attempts: 0,
    };
    assert_eq!(call.queue_enqueue((0..4).map(job).collect()).await.unwrap(), 4);
    assert_eq!(code(call.queue_enqueue(vec![job(4)]).await), (429, "limit.jobs".to_owned()));

    // A measurement that ran concurrently with the last insert may have missed it.
    bench.active.quotas.feed_entries.measure().await.unwrap();
    let known = admin::find(&bench.app.plugins(), "tray").await.unwrap();
    let outbox = admin::outbox(&bench.app.plugins(), &known.plugin).await.unwrap();
    let detail = json!(admin::entity::Detail::new(&bench.app.plugins(), &known, &outbox));
    let quota =
        |limit: &str| detail["quotas"].as_array().unwrap().iter().find(|row| row["limit"] == limit).unwrap().clone();
    assert_eq!(quota("feed-entries"), json!({"limit": "feed-entries", "used": 10, "most": 10, "refused": 1}));
    assert_eq!(quota("notifications")["refused"], 1);
    assert_eq!(quota("jobs"), json!({"limit": "jobs", "used": 4, "most": 4, "refused": null}));
    assert_eq!(detail["limits"]["feed_entries"], 10);
}

#[tokio::test]
async fn storage_counts_settings_and_waiting_jobs() {
    let bench = bench("db-size = \"1MiB\"").await;
    let call = bench.system(Mode::Read);
    let job = |unique: usize| Job {
        kind: "tidy".to_owned(),
        payload: format!("\"{}\"", "x".repeat(200_000)),
        unique: Some(unique.to_string()),
        not_before: None,
        max_attempts: 0,
    };
    let mut refused = None;
    for unique in 0..10 {
        refused = call.queue_enqueue(vec![job(unique)]).await.err();
        if refused.is_some() {
            break;
        }
    }
    assert_eq!(refused.map(|failure| (failure.status, failure.code)), Some((507, "queue.quota".to_owned())));
    let storage = &bench.active.quotas.storage;
    storage.measure().await.unwrap();
    assert!(storage.used() > 500_000, "{}", storage.used());
}

#[tokio::test]
async fn events_are_stored_up_to_their_quota() {
    let more = "[limits]\nevents = 5\n[[hook]]\non = \"events\"\nkinds = [\"status.created\"]\n";
    let bench = Bench::of(more, &events()).await;
    let [alice] = bench.app.accounts(["alice"]).await;
    bench.active.quotas.events.ready().await.unwrap();
    for number in 0..9 {
        alice.publish(&format!("number {number}")).await;
    }
    let kept: Vec<(i64,)> =
        bench.app.db().fetch_raw("SELECT CAST(COUNT(*) AS BIGINT) FROM plugin_events").await.unwrap();
    assert_eq!(kept, [(5,)], "the author noticed nothing");
    assert_eq!(bench.active.quotas.events.refused(), 4);
    bench.active.quotas.events.measure().await.unwrap();
    assert_eq!(bench.active.quotas.events.used(), 5);
}

#[tokio::test]
async fn purge_deletes_feeds_and_notifications_by_job() {
    let bench = bench("").await;
    let people = bench.app.accounts(["alice", "bob"]).await;
    let status = people[0].publish("kept").await.number();
    let call = bench.system(Mode::Read);
    call.feeds_insert(entries(status, 0..5_000)).await.unwrap();
    let one = |activity| NewNotification {
        to: id(&people[1]),
        from: id(&people[0]),
        kind: "tray_filled".to_owned(),
        activity,
        status: None,
    };
    assert_eq!(call.core_write_notify((0..100).map(one).collect()).await.unwrap(), 100);
    people[1].follow(&people[0]).ok().await;
    let count = async |what: &str| {
        let rows: Vec<(i64,)> =
            bench.app.db().fetch_raw(&format!("SELECT CAST(COUNT(*) AS BIGINT) FROM {what}")).await.unwrap();
        rows[0].0
    };
    plugins::install::uninstall(&bench.app.plugins(), &model::Staff::operator(), "tray", true).await.unwrap();
    assert_eq!(count("feed_entries WHERE kind >= 100").await, 5_000, "a job deletes them later");
    bench.app.run_jobs().await;
    assert_eq!(count("feed_entries WHERE kind >= 100").await, 0);
    assert_eq!(count("notifications WHERE type = 'tray_filled'").await, 0);
    assert_eq!(count("notifications WHERE type = 'follow'").await, 1, "the server's own stay");
}

#[tokio::test]
async fn plugin_acts_only_as_its_caller_without_permission() {
    let bench = Bench::new(
        "[permissions]\ncore = [\"read\", \"read-as-any\"]\ncore-write = [\"create\", \"delete\", \"bookmark\"]",
    )
    .await;
    let [alice, bob] = bench.app.accounts(["alice", "bob"]).await;
    let status = alice.publish("hers").await.number();
    let call = bench.by(&bob, "read write", Mode::Read).await;
    let denied = (403, "host.denied".to_owned());
    assert_eq!(code(call.core_write_create_statuses(vec![new_status(id(&alice), "as alice", "")]).await), denied);
    assert_eq!(code(call.core_write_delete_statuses(vec![status]).await), denied);
    assert_eq!(code(call.core_write_bookmark(id(&alice), vec![status]).await), denied);
    let own = call.core_write_create_statuses(vec![new_status(id(&bob), "as myself", "")]).await.unwrap();
    assert_eq!(call.core_write_delete_statuses(vec![*own[0].as_ref().unwrap()]).await.unwrap(), 1);
    assert_eq!(call.core_write_bookmark(id(&bob), vec![status]).await.unwrap(), [true]);
    let job = bench.system(Mode::Read);
    assert_eq!(
        code(job.core_write_create_statuses(vec![new_status(id(&bob), "by a job", "")]).await),
        denied,
        "a job has no caller"
    );
}

#[tokio::test]
async fn settings_that_changed_meanwhile_are_not_lost() {
    let bench = bench("").await;
    let [alice] = bench.app.accounts(["alice"]).await;
    let account = model::AccountId::from(id(&alice));
    let members = |text: &str| serde_json::from_str::<Map<String, Json>>(text).unwrap();
    let prepared =
        plugins::settings::prepare(&bench.active, Map::new(), &members(r#"{"size": 7}"#)).expect("the schema takes it");
    assert!(plugins::settings::prepare(&bench.active, Map::new(), &members(r#"{"size": 99}"#)).is_err());
    bench.system(Mode::Read).settings_set(account.into(), r#"{"loud": true}"#.to_owned()).await.unwrap();
    let mut tx = bench.app.db().begin().await.unwrap();
    assert!(
        !plugins::settings::apply(&mut tx, &bench.active, account, prepared).await.unwrap(),
        "prepared from an old value"
    );
    drop(tx);
    bench.system(Mode::Read).settings_set(account.into(), r#"{"size": 7}"#.to_owned()).await.unwrap();
    let stored = bench.system(Mode::Read).settings_get(vec![account.into()]).await.unwrap();
    assert_eq!(members(&stored[0]), members(r#"{"size": 7, "loud": true}"#));
}
