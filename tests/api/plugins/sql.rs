//! SQL of plugins on a real database: statements, migrations, and the layers that confine them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use database::{Engine, Tx};
use plugin_package::Manifest;
use plugin_package::manifest::Resolved;
use plugin_package::sql::Files;
use plugins::sql::{Migrated, Progress, Quota, Statements, load, migrate};
use rookery_plugin_host::LoadError;
use rookery_plugin_host::imports::sql::{Rows, Value};

use crate::harness::TestApp;

pub const ID: i64 = 7;

pub const TABLES: &str = "CREATE TABLE notes (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL,
    title TEXT NOT NULL,
    done BOOLEAN NOT NULL DEFAULT FALSE,
    weight REAL,
    raw BLOB,
    extra JSON
);
CREATE UNIQUE INDEX notes_title ON notes (account_id, title);
CREATE TABLE marks (note_id INTEGER NOT NULL REFERENCES notes (id) ON DELETE CASCADE, mark TEXT NOT NULL, PRIMARY KEY (note_id, mark));";

pub const QUERIES: &str = "
-- name: add   returns: one
-- params: integer account, text title, boolean done, real weight, blob raw, json extra
INSERT INTO notes (account_id, title, done, weight, raw, extra) VALUES (:account, :title, :done, :weight, :raw, :extra)
ON CONFLICT (account_id, title) DO UPDATE SET done = excluded.done OR notes.done RETURNING id;

-- name: insert   returns: exec
-- params: integer account, text title
INSERT INTO notes (account_id, title) VALUES (:account, :title);

-- name: all   returns: many
-- params: integer account
SELECT id, title, done, weight, raw, extra ->> 'key' AS key FROM notes WHERE account_id = :account ORDER BY id;

-- name: among   returns: many
-- params: integers ids, texts titles
SELECT n.id FROM notes n WHERE n.id {in:ids} AND NOT n.title {in:titles} ORDER BY n.id;

-- name: given   returns: many
-- params: json items
WITH given AS (SELECT CAST(e.value ->> 'id' AS INTEGER) AS id FROM {each:items as e})
SELECT notes.title FROM notes JOIN given ON given.id = notes.id ORDER BY notes.id;

-- name: mark   returns: exec
-- params: integer note, texts marks
INSERT INTO marks (note_id, mark) SELECT :note, e.value FROM {each:marks as e} WHERE TRUE ON CONFLICT DO NOTHING;

-- name: summary   returns: many
SELECT n.account_id, count(*) AS notes, sum(n.id) AS total, {now} AS at
FROM notes n GROUP BY n.account_id HAVING count(*) > 0 ORDER BY n.account_id;

-- name: page   returns: page(status)
-- params: integer account
SELECT n.id AS id FROM notes n WHERE n.account_id = :account AND {page:n.id};

-- name: authors   returns: many
SELECT core_v1.accounts.username, a.created_at FROM core_v1.accounts a JOIN core_v1.accounts ON core_v1.accounts.id = a.id
WHERE core_v1.accounts.local ORDER BY a.id;

-- name: remove   returns: exec
-- params: integer id
DELETE FROM notes WHERE id = :id;
";

pub fn manifest(name: &str, rest: &str) -> Manifest {
    let text = format!(
        "[plugin]\nname = \"{name}\"\nversion = \"1.0.0\"\napi = \"0.1\"\ntitle = \"Test\"\nlicense = \"MIT\"\nwasm = \"x.wasm\"\n\
         [sql]\nmigrations = \"migrations\"\nstatements = \"sql/queries.sql\"\n{rest}"
    );
    toml::from_str(&text).unwrap()
}

pub fn files(list: &[(&str, &str)]) -> Files {
    let file = |(path, text): &(&str, &str)| ((*path).to_owned(), Arc::from(text.as_bytes()));
    list.iter().map(file).collect::<BTreeMap<_, _>>()
}

pub async fn register(app: &TestApp, id: i64, name: &str) {
    let now = match app.db().engine() {
        Engine::Sqlite => "0",
        Engine::Postgres => "now()",
    };
    let text = format!(
        "INSERT INTO plugins (id, name, enabled, approved, granted, limits, config, config_version, secrets, created_at, updated_at)
         VALUES ({id}, '{name}', TRUE, '[]', '{{}}', '{{}}', '{{}}', 0, '{{}}', {now}, {now})"
    );
    app.execute(&text).await;
}

pub async fn apply(app: &TestApp, tx: &mut Tx, manifest: &Manifest, files: &Files) -> Result<Migrated, LoadError> {
    let (now, time) = (app.app.clock.now(), Duration::from_secs(60));
    migrate(tx, ID, manifest, files, now, time, &mut Progress::begin()).await
}

/// The package of this file, migrated and loaded.
pub async fn notes(app: &TestApp) -> Statements {
    let manifest = manifest("notes", "[permissions]\ncore-views = [\"accounts\"]");
    let files = files(&[("migrations/0001_base.sql", TABLES), ("sql/queries.sql", QUERIES)]);
    register(app, ID, "notes").await;
    let mut tx = app.db().begin().await.unwrap();
    let done = apply(app, &mut tx, &manifest, &files).await.unwrap();
    assert_eq!(done, Migrated { applied: vec![1], version: 1, ..Migrated::default() });
    let statements =
        load(&app.plugins(), quota(app), &manifest, &Resolved::default(), &files, &mut tx).await.unwrap().unwrap();
    tx.commit().await.unwrap();
    statements
}

pub fn int(value: i64) -> Value {
    Value::Integer(value)
}

pub fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

pub fn ids(rows: &Rows) -> Vec<i64> {
    let id = |value: &Value| match value {
        Value::Integer(id) => *id,
        other => panic!("{other:?} is no id"),
    };
    rows.values.iter().map(id).collect()
}

#[tokio::test]
async fn sql_text_works_on_both_engines() {
    let app = TestApp::new().await;
    app.accounts(["alice"]).await;
    let sql = notes(&app).await;
    let mut tx = app.db().begin().await.unwrap();
    let values = vec![
        int(1),
        text("first"),
        Value::Boolean(true),
        Value::Real(1.5),
        Value::Blob(vec![0, 1]),
        text("{\"key\": \"v\"}"),
    ];
    let added = sql.run(&mut tx, "add", values).await.unwrap();
    assert_eq!(added.columns, ["id"]);
    assert_eq!(ids(&added), [1]);
    for title in ["second", "third", "fourth"] {
        let values = vec![int(1), text(title), int(0), Value::Null, Value::Null, Value::Null];
        sql.run(&mut tx, "add", values).await.unwrap();
    }
    let again = sql
        .run(&mut tx, "add", vec![int(1), text("second"), Value::Boolean(true), Value::Null, Value::Null, Value::Null])
        .await;
    assert_eq!(ids(&again.unwrap()), [2], "the row that was there");
    tx.commit().await.unwrap();

    let all = sql.read(&app.plugins(), "all", vec![int(1)]).await.unwrap();
    assert_eq!(all.columns, ["id", "title", "done", "weight", "raw", "key"]);
    assert_eq!(all.values[..6], [int(1), text("first"), int(1), Value::Real(1.5), Value::Blob(vec![0, 1]), text("v")]);
    assert_eq!(all.values[6..12], [int(2), text("second"), int(1), Value::Null, Value::Null, Value::Null]);

    let among = sql.read(&app.plugins(), "among", vec![text("[1, \"2\", 9]"), text("[\"first\"]")]).await.unwrap();
    assert_eq!(ids(&among), [2]);
    let given = sql.read(&app.plugins(), "given", vec![text("[{\"id\": 1}, {\"id\": 3}]")]).await.unwrap();
    assert_eq!(given.values, [text("first"), text("third")]);
    let summary = sql.read(&app.plugins(), "summary", vec![]).await.unwrap();
    assert_eq!(summary.values, [int(1), int(4), int(10), int(1_768_478_401_000)]);
    let authors = sql.read(&app.plugins(), "authors", vec![]).await.unwrap();
    assert_eq!(authors.values, [text("alice"), int(1_768_478_401_000)]);
    let empty = sql.read(&app.plugins(), "all", vec![int(2)]).await.unwrap();
    assert_eq!((empty.columns.len(), empty.values.len()), (6, 0), "columns are known without rows");
}

pub fn quota(app: &TestApp) -> Quota {
    Quota::new(app.db().clone(), ID, "notes".to_owned(), 1 << 30)
}

#[tokio::test]
async fn pages_are_read_in_both_directions() {
    let app = TestApp::new().await;
    let sql = notes(&app).await;
    let mut tx = app.db().begin().await.unwrap();
    let titles = ["a", "b", "c", "d", "e"].map(text);
    let rows = titles.into_iter().flat_map(|title| [int(1), title]).collect();
    assert_eq!(sql.run_many(&mut tx, "insert", 2, rows).await.unwrap(), 5);
    tx.commit().await.unwrap();
    assert_eq!(
        sql.find("page").unwrap().params.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["account", "max_id", "since_id", "min_id", "limit"]
    );
    let null = || Value::Null;
    for (max, since, min, limit, expected) in [
        (null(), null(), null(), null(), vec![5, 4, 3, 2, 1]),
        (null(), null(), null(), int(2), vec![5, 4]),
        (int(4), null(), null(), int(2), vec![3, 2]),
        (null(), int(1), null(), int(2), vec![5, 4]),
        (null(), null(), int(1), int(2), vec![3, 2]),
        (int(3), null(), int(1), int(9), vec![2]),
        (null(), null(), int(5), int(2), vec![]),
    ] {
        let page = sql.read(&app.plugins(), "page", vec![int(1), max, since, min, limit]).await.unwrap();
        assert_eq!(ids(&page), expected);
        assert!(!page.truncated);
    }
}

#[tokio::test]
async fn failures_have_codes_and_leave_the_transaction() {
    let app = TestApp::new().await;
    let sql = notes(&app).await;
    let code = |failure: &rookery_plugin_host::imports::types::Failure| (failure.status, failure.code.clone());
    let mut tx = app.db().begin().await.unwrap();
    sql.run(&mut tx, "insert", vec![int(1), text("same")]).await.unwrap();
    let again = sql.run(&mut tx, "insert", vec![int(1), text("same")]).await.unwrap_err();
    assert_eq!(code(&again), (409, "sql.unique".to_owned()));
    assert_eq!(again.detail.as_deref(), Some(r#"{"table":"notes"}"#));
    let orphan = sql.run(&mut tx, "mark", vec![int(99), text("[\"x\"]")]).await;
    let missing = sql.run(&mut tx, "insert", vec![int(1), Value::Null]).await.unwrap_err();
    assert_eq!(code(&missing), (422, "sql.constraint".to_owned()));
    assert_eq!(code(&orphan.unwrap_err()), (409, "sql.foreign-key".to_owned()));
    for (name, params, expected) in [
        ("nothing", vec![], (404, "sql.unknown")),
        ("insert", vec![int(1)], (422, "sql.params")),
        ("insert", vec![int(1), int(1)], (422, "sql.params")),
        ("insert", vec![int(1), text("a\0b")], (422, "sql.zero-byte")),
        ("among", vec![text("[1,"), text("[]")], (422, "sql.params")),
        ("given", vec![text("{")], (422, "sql.params")),
    ] {
        let failed = sql.run(&mut tx, name, params).await.unwrap_err();
        assert_eq!(code(&failed), (expected.0, expected.1.to_owned()), "{name}");
    }
    assert_eq!(sql.run_many(&mut tx, "insert", 2, vec![int(1)]).await.unwrap_err().code, "sql.params");
    // The server's own statements continue in the same transaction, as the server.
    store::plugin_kv::set(&mut tx, ID, &[]).await.unwrap();
    store::plugin_kv::add(&mut tx, ID, "n", 1, app.app.clock.now()).await.unwrap();
    sql.run(&mut tx, "insert", vec![int(1), text("other")]).await.unwrap();
    tx.commit().await.unwrap();
    let summary = sql.read(&app.plugins(), "summary", vec![]).await.unwrap();
    assert_eq!(summary.values[1], int(2));
    assert_eq!(sql.read(&app.plugins(), "insert", vec![int(1), text("x")]).await.unwrap_err().code, "sql.read-only");
}

#[tokio::test]
async fn uncommitted_changes_are_absent() {
    let app = TestApp::new().await;
    let sql = notes(&app).await;
    for _ in 0..3 {
        let mut tx = app.db().begin().await.unwrap();
        sql.run(&mut tx, "insert", vec![int(1), text("gone")]).await.unwrap();
        drop(tx);
    }
    let mut tx = app.db().begin().await.unwrap();
    sql.run(&mut tx, "insert", vec![int(1), text("gone")]).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(sql.read(&app.plugins(), "summary", vec![]).await.unwrap().values[1], int(1));
    if app.db().engine() == Engine::Postgres {
        let locks: Vec<(i64,)> = app
            .db()
            .fetch_raw("SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'p_notes'")
            .await
            .unwrap();
        assert_eq!(locks, [(0,)]);
    }
}

#[tokio::test]
async fn small_values_are_kept_until_they_end() {
    use store::plugin_kv::{self, Item};
    let app = TestApp::new().await;
    register(&app, ID, "notes").await;
    let now = app.app.clock.now();
    let item = |key: &str, value: &str, seconds: Option<i64>| Item {
        key: key.to_owned(),
        value: value.as_bytes().to_vec(),
        expires_at: seconds.map(|seconds| now + chrono::Duration::seconds(seconds)),
    };
    let mut tx = app.db().begin().await.unwrap();
    plugin_kv::set(&mut tx, ID, &[item("a:1", "x", None), item("a:2", "y", Some(10)), item("b", "z", None)])
        .await
        .unwrap();
    plugin_kv::set(&mut tx, ID, &[item("a:1", "w", None)]).await.unwrap();
    assert_eq!(plugin_kv::add(&mut tx, ID, "count", 2, now).await.unwrap(), Some(2));
    assert_eq!(plugin_kv::add(&mut tx, ID, "count", -5, now).await.unwrap(), Some(-3));
    assert_eq!(plugin_kv::add(&mut tx, ID, "b", 1, now).await.unwrap(), None, "no number");
    assert_eq!(plugin_kv::add(&mut tx, ID, "count", i64::MIN, now).await.unwrap(), None, "too small");
    tx.commit().await.unwrap();
    let keys = ["a:2", "nothing", "a:1"].map(str::to_owned);
    let found = plugin_kv::get(app.db(), ID, &keys, now, 2).await.unwrap().unwrap();
    assert_eq!(found, [("a:1".to_owned(), b"w".to_vec()), ("a:2".to_owned(), b"y".to_vec())].into());
    assert_eq!(plugin_kv::get(app.db(), ID, &keys, now, 1).await.unwrap(), None, "more bytes than asked for");
    assert_eq!(plugin_kv::get(app.db(), ID + 1, &keys, now, 0).await.unwrap().unwrap(), [].into(), "another plugin's");
    let later = now + chrono::Duration::seconds(11);
    let scanned = plugin_kv::list(app.db(), ID, ("a:", "", 10), later, 4).await.unwrap();
    assert_eq!(scanned, Some(vec![item("a:1", "w", None)]));
    assert_eq!(
        plugin_kv::list(app.db(), ID, ("a:", "", 10), later, 3).await.unwrap(),
        None,
        "more bytes than asked for"
    );
    assert_eq!(plugin_kv::list(app.db(), ID, ("a:", "a:1", 10), now, 4).await.unwrap().unwrap().len(), 1);
    let mut tx = app.db().begin().await.unwrap();
    assert_eq!(plugin_kv::delete_expired(&mut tx, later).await.unwrap(), 1);
    assert_eq!(plugin_kv::delete(&mut tx, ID, &["b".to_owned(), "c".to_owned()]).await.unwrap(), 1);
}
