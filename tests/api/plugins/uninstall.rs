//! Removal of a plugin, with or without its data.

use std::sync::Arc;

use plugins::call::Mode;
use plugins::{admin, life};
use rookery_plugin_host::imports::feeds::{CustomFeed, Entry, Feed};
use rookery_plugin_host::imports::kv::Item;
use serde_json::json;
use store::job::NewKeyedJob;

use super::bench::{Bench, EVERYTHING, add};
use super::jobs::waiting;

/// Stores one item of every kind of plugin data.
async fn keep_some(bench: &Bench) -> i64 {
    let [alice] = bench.app.accounts(["alice"]).await;
    let status = alice.publish("kept in a feed").await.number();
    let call = bench.system(Mode::Ambient);
    for name in ["first", "second"] {
        let (statement, params) = add(name);
        call.sql_query(statement, params).await.unwrap();
    }
    call.kv_set(vec![Item { key: "a".to_owned(), value: vec![0, 255], expires: None }]).await.unwrap();
    let feed = Feed::Custom(CustomFeed { name: "tray".to_owned(), key: 1 });
    call.feeds_insert(vec![Entry { feed, viewer: None, status, push: false }]).await.unwrap();
    let mut tx = call.0.ambient().await.unwrap();
    let row = NewKeyedJob { id: 1, key: Some("done:a".to_owned()), payload: json!({}), run_at: 0 };
    let (lane, now) = (model::job::Lane::Plugin, bench.app.app.clock.now());
    store::job::insert_many(&mut tx, lane, "plugin.tray", vec![row], now).await.unwrap();
    drop(tx);
    call.0.commit().await.unwrap();
    status
}

async fn kinds(bench: &Bench, table: &str) -> Vec<i64> {
    let rows: Vec<(i64,)> =
        bench.app.db().fetch_raw(&format!("SELECT CAST(kind AS BIGINT) FROM {table}")).await.unwrap();
    rows.into_iter().map(|(kind,)| kind).collect()
}

#[tokio::test]
async fn purge_exports_data_and_leaves_nothing() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::new(EVERYTHING).await;
    let status = keep_some(&bench).await;
    let app = &bench.app.plugins();
    let before = kinds(&bench, "feed_entries WHERE kind >= 100").await;
    let folder = app.config.storage.data_dir.join("plugin-dumps");
    std::fs::write(&folder, "in the way").unwrap();
    let refused = plugins::install::uninstall(app, &model::Staff::operator(), "tray", true).await.unwrap_err();
    assert!(refused.to_string().starts_with("nothing was deleted, since "), "{refused}");
    assert_eq!(bench.names().await, ["first", "second"]);

    std::fs::remove_file(&folder).unwrap();
    let path = plugins::install::uninstall(app, &model::Staff::operator(), "tray", true).await.unwrap().unwrap();
    assert_eq!(path, folder.join("tray-20260115T120002000Z.jsonl"));
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        "{\"table\":\"trays\",\"row\":{\"id\":1,\"name\":\"first\"}}\n\
         {\"table\":\"trays\",\"row\":{\"id\":2,\"name\":\"second\"}}\n\
         {\"table\":\"plugin_kv\",\"row\":{\"key\":\"a\",\"value\":\"AP8=\",\"expires_at\":null}}\n"
    );
    assert!(!kinds(&bench, "feed_entries WHERE kind >= 100").await.is_empty(), "a job deletes them");
    bench.app.run_jobs().await;
    assert!(waiting(&bench).await.is_empty() && kinds(&bench, "feed_entries WHERE kind >= 100").await.is_empty());

    admin::enable(app, &model::Staff::operator(), "tray").await.unwrap();
    assert!(life::reload(app, "tray").await.is_ok());
    let again = Bench { active: Arc::clone(app.registry().find("tray").unwrap()), app: bench.app };
    assert!(again.names().await.is_empty());
    let feed = || Feed::Custom(CustomFeed { name: "tray".to_owned(), key: 1 });
    let call = again.system(Mode::Read);
    call.feeds_insert(vec![Entry { feed: feed(), viewer: None, status, push: false }]).await.unwrap();
    let after = kinds(&again, "plugin_feeds").await;
    assert!(after[0] > before[0], "{after:?} was another plugin's before: {before:?}");
}

#[tokio::test]
async fn uninstalled_plugin_keeps_its_tables() {
    let bench = Bench::new(EVERYTHING).await;
    keep_some(&bench).await;
    let app = &bench.app.plugins();
    admin::set_limits(
        app,
        &model::Staff::operator(),
        "tray",
        serde_json::Map::from_iter([("rows".to_owned(), json!(5))]),
    )
    .await
    .unwrap();
    assert_eq!(plugins::install::uninstall(app, &model::Staff::operator(), "tray", false).await.unwrap(), None);
    let plugin = admin::find(app, "tray").await.unwrap().plugin;
    assert!(!plugin.enabled && plugin.granted.0.is_empty() && plugin.approved.0.is_empty() && plugin.sha256.is_none());
    assert_eq!(plugin.limits.0, json!({}));
    assert!(app.registry().find("tray").is_none());
    admin::enable(app, &model::Staff::operator(), "tray").await.unwrap();
    life::reload(app, "tray").await.unwrap();
    assert_eq!(bench.names().await, ["first", "second"]);
}
