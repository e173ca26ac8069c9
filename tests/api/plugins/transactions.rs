//! Transactions of plugins: their scope and their time limits. A host function that reaches a limit fails with the
//! documented code.

use std::time::{Duration, Instant};

use context::change::Change;
use database::Engine;
use plugins::call::Mode;
use rookery_plugin_host::imports::core_write::NewStatus;
use rookery_plugin_host::imports::feeds::{CustomFeed, Entry, Feed};
use rookery_plugin_host::imports::kv::Item;
use rookery_plugin_host::imports::sql::Value;
use rookery_plugin_host::imports::streaming::Message;
use serde_json::json;

use super::bench::{Bench, EVERYTHING, add, code, id, new_status};
use super::shelf::{Shelf, component};

/// One status in 50,000 feeds: more than fits in the shortest time that a transaction may have.
fn entries(status: i64) -> Vec<Entry> {
    let entry = |key| Entry {
        feed: Feed::Custom(CustomFeed { name: "tray".to_owned(), key }),
        viewer: None,
        status,
        push: false,
    };
    (1..=50_000).map(entry).collect()
}

#[tokio::test]
async fn feed_insert_beyond_the_transactions_time_names_the_limit() {
    let keys = [("ROOKERY_PLUGINS_TRANSACTION_TIMEOUT_MS", "50"), ("ROOKERY_PLUGINS_CONTENDED_TRANSACTION_MS", "10")];
    let bench = Bench::on(Shelf::with(&keys).await, EVERYTHING, &component("capabilities")).await;
    let [alice] = bench.app.accounts(["alice"]).await;
    let status = alice.publish("words").await;
    let status: i64 = status["id"].as_str().unwrap().parse().unwrap();
    let limit = (429, "limit.transaction-time".to_owned());
    for mode in [Mode::Read, Mode::Ambient] {
        let call = bench.system(mode);
        assert_eq!(code(call.feeds_insert(entries(status)).await), limit, "{mode:?}");
        let again = call.feeds_insert(entries(status)).await;
        assert_eq!(code(again), limit, "{mode:?}: nothing else is said of what follows");
        if mode == Mode::Ambient {
            let ended = call.0.commit().await.unwrap_err();
            assert!(matches!(&ended, context::Error::Refused(refusal) if refusal.status == 429), "{ended:?}");
        }
    }
}

#[tokio::test]
async fn feed_insert_beside_writers_names_the_limit() {
    let shelf = Shelf::with(&[("ROOKERY_PLUGINS_CONTENDED_TRANSACTION_MS", "10")]).await;
    let bench = Bench::on(shelf, EVERYTHING, &component("capabilities")).await;
    let db = bench.app.db().clone();
    if db.engine() == Engine::Postgres {
        return; // Transactions do not wait for each other.
    }
    let [alice] = bench.app.accounts(["alice"]).await;
    let status = alice.publish("words").await;
    let status: i64 = status["id"].as_str().unwrap().parse().unwrap();
    let call = bench.system(Mode::Ambient);
    call.sql_query("add".to_owned(), vec![Value::Text("first".to_owned())]).await.unwrap();
    let waiting = tokio::spawn({
        let db = db.clone();
        async move { db.begin().await.map(drop) }
    });
    while db.writer_held_while_others_wait().is_none() && !waiting.is_finished() {
        tokio::task::yield_now().await;
    }
    assert_eq!(code(call.feeds_insert(entries(status)).await), (429, "limit.transaction-time".to_owned()));
    waiting.await.unwrap().unwrap();
}

#[tokio::test]
async fn transaction_spans_call_and_notifies_after_commit() {
    let bench = Bench::new(EVERYTHING).await;
    let [alice] = bench.app.accounts(["alice"]).await;
    let mut events = bench.app.app.live.subscribe();
    let call = bench.by(&alice, "write", Mode::Ambient).await;
    let (statement, params) = add("first");
    call.sql_query(statement, params).await.unwrap();
    let tray = || Message { topic: "tray:7".to_owned(), event: "filled".to_owned(), payload: "{}".to_owned() };
    call.streaming_publish(vec![tray()]).await.unwrap();
    call.kv_set(vec![Item { key: "a".to_owned(), value: vec![1], expires: None }]).await.unwrap();
    call.settings_set(id(&alice), "{\"size\": 7}".to_owned()).await.unwrap();
    assert_eq!(call.kv_get(vec!["a".to_owned()]).await.unwrap(), [Some(vec![1])], "it sees its own changes");
    assert_eq!(call.settings_get(vec![id(&alice)]).await.unwrap(), ["{\"size\":7,\"loud\":false}"]);
    assert_eq!(call.sql_query("names".to_owned(), vec![]).await.unwrap().values, [Value::Text("first".to_owned())]);
    assert!(bench.names().await.is_empty(), "others do not yet");
    assert!(events.try_recv().is_err(), "and no event was sent");
    call.0.commit().await.unwrap();
    assert_eq!(bench.names().await, ["first"]);
    let told = events.try_recv().unwrap();
    assert!(matches!(&*told, Change::TopicMessage { topic, .. } if topic == "tray/tray:7"));

    let dropped = bench.by(&alice, "write", Mode::Ambient).await;
    let (statement, params) = add("second");
    dropped.sql_query(statement, params).await.unwrap();
    dropped.streaming_publish(vec![tray()]).await.unwrap();
    let made = dropped.core_write_create_statuses(vec![new_status(id(&alice), "never", "")]).await.unwrap();
    assert!(made[0].is_ok(), "{made:?}");
    drop(dropped);
    assert_eq!(bench.names().await, ["first"]);
    assert!(events.try_recv().is_err());
    assert_eq!(alice.get(&format!("/api/v1/accounts/{}/statuses", alice.id())).ok().await, json!([]));
    alice.publish("the writer is free").await;
}

#[tokio::test]
async fn failed_step_rolls_back_alone() {
    let bench = Bench::new(EVERYTHING).await;
    let [alice] = bench.app.accounts(["alice"]).await;
    let call = bench.by(&alice, "write", Mode::Ambient).await;
    let (statement, params) = add("first");
    call.sql_query(statement.clone(), params.clone()).await.unwrap();
    assert_eq!(code(call.sql_query(statement, params).await), (409, "sql.unique".to_owned()));
    let twice = vec![Value::Text("second".to_owned()), Value::Text("first".to_owned())];
    assert_eq!(code(call.sql_many("add".to_owned(), 1, twice).await), (409, "sql.unique".to_owned()));
    let unattachable = NewStatus { media: vec![1], ..new_status(id(&alice), "with media", "") };
    let made =
        call.core_write_create_statuses(vec![unattachable, new_status(id(&alice), "without", "")]).await.unwrap();
    assert_eq!(made[0].as_ref().map_err(|failure| failure.status), Err(422));
    assert!(made[1].is_ok(), "{made:?}");
    assert_eq!(code(call.core_write_bookmark(id(&alice), vec![1]).await), (404, "core.not-found".to_owned()));
    call.0.commit().await.unwrap();
    assert_eq!(bench.names().await, ["first"]);
    let statuses = alice.get(&format!("/api/v1/accounts/{}/statuses", alice.id())).ok().await;
    assert_eq!(statuses.as_array().unwrap().len(), 1);
    assert_eq!(statuses[0]["content"], "<p>without</p>");
}

#[tokio::test]
async fn transaction_open_too_long_is_rolled_back() {
    let keys =
        [("ROOKERY_PLUGINS_TRANSACTION_TIMEOUT_MS", "10000"), ("ROOKERY_PLUGINS_CONTENDED_TRANSACTION_MS", "20000")];
    let shelf = Shelf::with(&keys).await;
    let bench = Bench::on(shelf, EVERYTHING, &component("capabilities")).await;
    let [alice] = bench.app.accounts(["alice"]).await;
    let call = bench.system(Mode::Ambient);
    let (statement, params) = add("slow");
    call.sql_query(statement, params).await.unwrap();
    // A waiting caller gets the writer although it was never released.
    tokio::join!(alice.publish("waited"), bench.app.time_passes(Duration::from_secs(11)));
    let (statement, params) = add("more");
    assert_eq!(code(call.sql_query(statement, params).await), (429, "limit.transaction-time".to_owned()));
    assert!(call.0.commit().await.is_err());
    assert!(bench.names().await.is_empty());
}

#[tokio::test]
async fn contended_transaction_is_rolled_back_sooner() {
    let shelf = Shelf::with(&[("ROOKERY_PLUGINS_CONTENDED_TRANSACTION_MS", "10000")]).await;
    let bench = Bench::on(shelf, EVERYTHING, &component("capabilities")).await;
    let [alice] = bench.app.accounts(["alice"]).await;
    let call = bench.system(Mode::Ambient);
    let (statement, params) = add("slow");
    call.sql_query(statement, params).await.unwrap();
    bench.app.time_passes(Duration::from_secs(11)).await;
    let (statement, params) = add("nobody waits");
    call.sql_query(statement, params).await.unwrap();
    alice.publish("waited").await;
    let (statement, params) = add("more");
    let more = call.sql_query(statement, params).await;
    if bench.app.db().engine() == Engine::Sqlite {
        assert_eq!(code(more), (429, "limit.transaction-time".to_owned()));
        assert!(bench.names().await.is_empty());
    } else {
        more.unwrap();
        call.0.commit().await.unwrap();
        assert_eq!(bench.names().await.len(), 3, "no caller waits for it here");
    }
}

#[tokio::test]
async fn single_call_cannot_exceed_transaction_time_limit() {
    let shelf = Shelf::with(&[("ROOKERY_PLUGINS_TRANSACTION_TIMEOUT_MS", "200")]).await;
    let bench = Bench::on(shelf, EVERYTHING, &component("capabilities")).await;
    let [alice] = bench.app.accounts(["alice"]).await;
    let rows = || (0..90_000).map(|number| Value::Text(format!("tray {number}"))).collect::<Vec<_>>();
    let late = (429, "limit.transaction-time".to_owned());
    for mode in [Mode::Ambient, Mode::Read] {
        let call = bench.system(mode);
        let begun = Instant::now();
        assert_eq!(code(call.sql_many("add".to_owned(), 1, rows()).await), late, "{mode:?}");
        assert!(begun.elapsed() < Duration::from_secs(60), "{mode:?}: {:?}", begun.elapsed());
        alice.publish("the writer is free").await;
        assert_eq!(call.0.commit().await.is_err(), mode == Mode::Ambient, "it is reported at the end as well");
        assert!(bench.names().await.is_empty());
    }
    let call = bench.system(Mode::Read);
    assert_eq!(code(call.sql_many("add".to_owned(), 1, rows()).await), late);
    let begun = Instant::now();
    while let Err(refused) = call.sql_query(add("after").0, add("after").1).await {
        assert!(refused.code == late.1 && begun.elapsed() < Duration::from_secs(60), "{refused:?}");
    }
    assert_eq!(bench.names().await, ["after"], "later calls have their own time");
}
