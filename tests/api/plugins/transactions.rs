//! Time limits of the transactions of plugins: a host function that reaches one fails with the documented code.

use database::Engine;
use plugins::call::Mode;
use rookery_plugin_host::imports::feeds::{CustomFeed, Entry, Feed};
use rookery_plugin_host::imports::sql::Value;
use rookery_plugin_host::imports::types::Failure;

use super::bench::{Bench, EVERYTHING};
use super::shelf::{Shelf, component};

fn code<T: std::fmt::Debug>(answer: Result<T, Failure>) -> (u16, String) {
    let failure = answer.unwrap_err();
    (failure.status, failure.code)
}

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
