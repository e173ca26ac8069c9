//! SQL of plugins on a real database: statements, migrations, and the layers that hold them.

use std::collections::BTreeMap;
use std::sync::Arc;

use rookery::plugins::Manifest;
use rookery::plugins::manifest::Resolved;
use rookery::plugins::sql::{Files, Migrated, Quota, Statements, migrate};
use rookery::store::{Engine, Tx};
use rookery_plugin_host::Fault;
use rookery_plugin_host::imports::sql::{Rows, Value};

use crate::harness::TestApp;

const ID: i64 = 7;

const TABLES: &str = "CREATE TABLE notes (
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

const QUERIES: &str = "
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
        "INSERT INTO plugins (id, name, enabled, approved, granted, limits, config, config_version, secrets, position, created_at, updated_at)
         VALUES ({id}, '{name}', TRUE, '[]', '{{}}', '{{}}', '{{}}', 0, '{{}}', 0, {now}, {now})"
    );
    app.db().execute_raw(&text).await.unwrap();
}

async fn apply(app: &TestApp, tx: &mut Tx, manifest: &Manifest, files: &Files) -> Result<Migrated, Fault> {
    migrate(tx, ID, manifest, files, app.app.clock.now()).await
}

/// The package of this file, migrated and loaded.
async fn notes(app: &TestApp) -> Statements {
    let manifest = manifest("notes", "[permissions]\ncore-views = [\"accounts\"]");
    let files = files(&[("migrations/0001_base.sql", TABLES), ("sql/queries.sql", QUERIES)]);
    register(app, ID, "notes").await;
    let mut tx = app.db().begin().await.unwrap();
    let done = apply(app, &mut tx, &manifest, &files).await.unwrap();
    assert_eq!(done, Migrated { applied: vec![1], version: 1, contract: false });
    let statements =
        Statements::load(&app.app, quota(app), &manifest, &Resolved::default(), &files, &mut tx).await.unwrap().unwrap();
    tx.commit().await.unwrap();
    statements
}

fn int(value: i64) -> Value {
    Value::Integer(value)
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

fn ids(rows: &Rows) -> Vec<i64> {
    let id = |value: &Value| match value {
        Value::Integer(id) => *id,
        other => panic!("{other:?} is no id"),
    };
    rows.values.iter().map(id).collect()
}

#[tokio::test]
async fn one_text_works_on_both_engines() {
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

    let all = sql.read(&app.app, "all", vec![int(1)]).await.unwrap();
    assert_eq!(all.columns, ["id", "title", "done", "weight", "raw", "key"]);
    assert_eq!(all.values[..6], [int(1), text("first"), int(1), Value::Real(1.5), Value::Blob(vec![0, 1]), text("v")]);
    assert_eq!(all.values[6..12], [int(2), text("second"), int(1), Value::Null, Value::Null, Value::Null]);

    let among = sql.read(&app.app, "among", vec![text("[1, \"2\", 9]"), text("[\"first\"]")]).await.unwrap();
    assert_eq!(ids(&among), [2]);
    let given = sql.read(&app.app, "given", vec![text("[{\"id\": 1}, {\"id\": 3}]")]).await.unwrap();
    assert_eq!(given.values, [text("first"), text("third")]);
    let summary = sql.read(&app.app, "summary", vec![]).await.unwrap();
    assert_eq!(summary.values, [int(1), int(4), int(10), int(1_768_478_401_000)]);
    let authors = sql.read(&app.app, "authors", vec![]).await.unwrap();
    assert_eq!(authors.values, [text("alice"), int(1_768_478_401_000)]);
    let empty = sql.read(&app.app, "all", vec![int(2)]).await.unwrap();
    assert_eq!((empty.columns.len(), empty.values.len()), (6, 0), "columns are known without rows");
}

fn quota(app: &TestApp) -> Quota {
    Quota::new(app.db().clone(), ID, "notes".to_owned(), 1 << 30)
}
